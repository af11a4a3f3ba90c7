/** `isotherm align --portfolio`: the temperature of a portfolio from a file of holdings and a file of companies. */
import type { Entity, Holding, PortfolioAnswer, PortfolioOptions } from "../contract/wireTypes.ts";
import { Fault, isFault } from "../errors.ts";
import type { IndustryMap } from "../reference/industryMap.ts";
import { entityEcho } from "../alignment/alignTemperature.ts";
import { encodeJson, parseJson } from "../text/json/json.ts";
import { alignPortfolio, roundPortfolio } from "../holdings/alignPortfolio.ts";
import { decodeUtf8 } from "../text/utf8Text.ts";
import { openEntityCsv } from "./entityCsv.ts";
import { openEntityJson, openEntityNdjson } from "./entityJson.ts";
import { type EntitySource, FaultCollector } from "./entitySource.ts";
import { type EntityFormat, inputFormat, outputFormat, STDIO } from "./fileFormats.ts";
import { checkOutput, readBytes, statInput, writeOutput } from "./fileIo.ts";
import { withMappedIndustry } from "./industryMapFile.ts";
import { companyReferences, readCompanies, resolveCompanies } from "./holdingCompanies.ts";
import { type HoldingSource, readHoldingCsv } from "./holdingCsv.ts";
import { indentedJson } from "./indentedJson.ts";

/** Maximum length of a JSON file of holdings. */
const DOCUMENT_SIZE_CHARACTERS_MAX = 64 << 20;

interface PortfolioRun {
  /** File of holdings. */
  readonly holdings: string;
  /** File of companies that the holdings refer to; undefined if there is none. */
  readonly companies: string | undefined;
  readonly companyFormat: EntityFormat | undefined;
  readonly output: string;
  readonly options: PortfolioOptions;
  readonly industryMap: IndustryMap | undefined;
  /** Whether the summary is printed as JSON. */
  readonly isJsonSummary: boolean;
}

/** Computes the temperature of a portfolio, writes it as JSON and prints a summary. */
export async function runPortfolio(run: PortfolioRun): Promise<void> {
  const { holdings: file, companies, output } = run;
  if (file === STDIO) throw new Fault("configuration_invalid", "--portfolio must be a file, not standard input.");
  const stats = await statInput(file);
  const format = inputFormat(file, undefined);
  if (format === "ndjson") throw new Fault("configuration_invalid", `${file}: holdings must be a .csv or .json file.`);
  const companyStats = companies === undefined ? undefined : await statInput(companies);
  outputFormat(output, { to: undefined, accepted: ["json"], fallback: "json" });
  for (const input of [stats, companyStats]) await checkOutput(output, input);
  const answer = roundPortfolio(format === "csv" ? await alignCsv(run) : await alignJson(run));
  await writeOutput(
    output,
    (async function* () {
      yield `${encodeJson(answer)}\n`;
    })(),
  );
  const summary = run.isJsonSummary ? indentedJson(summaryOf(answer)) : summaryText(answer);
  (output === STDIO ? process.stderr : process.stdout).write(summary);
}

/** Aligns holdings of a JSON file: a list of holdings, or the body of a request. */
async function alignJson({ holdings: file, companies, options, industryMap }: PortfolioRun): Promise<PortfolioAnswer> {
  if (companies !== undefined) {
    throw new Fault("configuration_invalid", `${file}: holdings in JSON contain their companies as entity; omit IN.`);
  }
  const input = await parseFile(file);
  const isList = Array.isArray(input);
  if (typeof input !== "object" || input === null) {
    throw new Fault(
      "invalid_request",
      `${file} must contain a list of holdings, or an object with holdings and options.`,
    );
  }
  const request = (isList ? { holdings: input } : input) as {
    holdings: readonly Holding[];
    options?: PortfolioOptions;
  };
  try {
    const { holdings, options: fileOptions, ...others } = request;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) {
      throw new Fault("invalid_request", `unknown member ${JSON.stringify(unknown)} (known: holdings, options).`);
    }
    return await alignLines(holdings, { ...fileOptions, ...options }, industryMap);
  } catch (error) {
    if (!isFault(error)) throw error;
    const items = error.items.map((item) =>
      isList && item.pointer !== undefined ? { ...item, pointer: item.pointer.replace(/^\/holdings/, "") } : item,
    );
    throw new Fault(error.code, `${file}: ${error.message}`, { items, cause: error });
  }
}

async function parseFile(file: string): Promise<unknown> {
  let text = "";
  for await (const chunk of decodeUtf8(readBytes(file, () => undefined))) {
    text += chunk;
    if (text.length > DOCUMENT_SIZE_CHARACTERS_MAX) {
      const message = `${file} must be at most ${DOCUMENT_SIZE_CHARACTERS_MAX} characters long.`;
      throw new Fault("invalid_request", message);
    }
  }
  return parseJson(text);
}

/** Aligns holdings of a CSV file, whose rows refer to companies of another file or have scores. */
async function alignCsv(run: PortfolioRun): Promise<PortfolioAnswer> {
  const { holdings: file, options, industryMap } = run;
  const source = await withFileName(file, () =>
    readHoldingCsv(decodeUtf8(readBytes(file, () => undefined)), options.group_by ?? []),
  );
  const lines = await withCompanies(source, run);
  return await withFileName(file, async () => {
    try {
      return await alignLines(lines, options, industryMap);
    } catch (error) {
      if (!isFault(error) || error.items.length === 0) throw error;
      const faults = new FaultCollector();
      for (const { pointer = "", detail } of error.items) faults.add(source.locationOf(pointer), detail);
      faults.throwIfAny(error.code);
      throw error;
    }
  });
}

/** Aligns a portfolio with the industries that a map has for its companies; results repeat the texts of the file. */
async function alignLines(
  lines: readonly Holding[],
  options: PortfolioOptions,
  industryMap: IndustryMap | undefined,
): Promise<PortfolioAnswer> {
  // Validation reports lines of the wrong type.
  if (industryMap === undefined || !Array.isArray(lines)) return alignPortfolio(lines, options);
  const entityOfHolding = new Map<string, Entity>();
  const mapped = (lines as readonly (Partial<Holding> | null)[]).map((line) => {
    const { id = "", issuer, entity } = line ?? {};
    if (entity === undefined || entity === null) return line;
    const name = issuer ?? id;
    if (!entityOfHolding.has(name)) entityOfHolding.set(name, entity);
    return { ...line, entity: withMappedIndustry(industryMap, entity) };
  });
  const answer = await alignPortfolio(mapped as unknown as readonly Holding[], options);
  const entities = answer.entities.map((scored) =>
    "error" in scored ? scored : { ...scored, entity_info: entityEcho(entityOfHolding.get(scored.id) as Entity) },
  );
  return { ...answer, entities };
}

async function withFileName<Result>(file: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!isFault(error)) throw error;
    const { code, message, details, items } = error;
    throw new Fault(code, `${file}: ${message}`, { details, items, cause: error });
  }
}

/** Adds to each holding the company that it refers to. */
async function withCompanies(source: HoldingSource, run: PortfolioRun): Promise<readonly Holding[]> {
  const { holdings, companies: file, companyFormat } = run;
  const references = companyReferences(source);
  if (file === undefined) {
    if (source.companies.some((company) => company !== undefined)) {
      const message = `${holdings} has a column company; give the file of the companies as IN.`;
      throw new Fault("configuration_invalid", message);
    }
    return resolveCompanies(source, references, undefined);
  }
  const index = await withFileName(file, async () =>
    readCompanies(await openCompanies(file, companyFormat), new Set(references)),
  );
  return await withFileName(holdings, async () => resolveCompanies(source, references, { index, file }));
}

async function openCompanies(file: string, format: EntityFormat | undefined): Promise<EntitySource> {
  const text = decodeUtf8(readBytes(file, () => undefined));
  const kind = inputFormat(file, format);
  if (kind === "csv") return await openEntityCsv(text, []);
  return kind === "json" ? openEntityJson(text) : openEntityNdjson(text);
}

function summaryOf({ results, entities }: PortfolioAnswer) {
  return {
    results: results.map(({ method, scope, temperature, range, coverage, uncovered }) => ({
      method,
      scope,
      temperature,
      ...(range === undefined ? {} : { range }),
      coverage,
      uncovered: uncovered.length,
    })),
    refused_entities: entities.filter((entity) => "error" in entity).length,
  };
}

function summaryText(answer: PortfolioAnswer): string {
  const { results, refused_entities: refusedCount } = summaryOf(answer);
  const lines = results.map(({ method, scope, temperature, range, coverage, uncovered }) => {
    const value =
      temperature === null || range === undefined
        ? "no temperature, because no holding with a score has a weight"
        : `${temperature.toFixed(2)} °C (${range.low.toFixed(2)} to ${range.high.toFixed(2)})`;
    const percent = (100 * coverage.value).toFixed(1);
    return `${method} ${scope}: ${value}; covers ${percent} % of the value, ${uncovered} holdings uncovered\n`;
  });
  if (refusedCount > 0) lines.push(`${refusedCount} companies cannot be scored, see their errors under entities\n`);
  return lines.join("");
}
