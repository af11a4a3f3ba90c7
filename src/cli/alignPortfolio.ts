/** `isotherm align --portfolio`: the temperature of a portfolio from a file of holdings and a file of companies. */
import type {
  Entity,
  Holding,
  PortfolioAnswer,
  PortfolioMethod,
  PortfolioOptions,
  PortfolioScope,
} from "../contract/wireTypes.ts";
import { Fault, isFault } from "../errors.ts";
import type { IndustryMap } from "../reference/industryMap.ts";
import { entityEcho } from "../alignment/alignTemperature.ts";
import { encodeJson, parseJson } from "../text/json/json.ts";
import { alignPortfolio, roundPortfolio } from "../holdings/alignPortfolio.ts";
import { decodeUtf8 } from "../text/utf8Text.ts";
import { openEntityCsv } from "./entityCsv.ts";
import { openEntityJson, openEntityNdjson } from "./entityJson.ts";
import { type EntitySource, FaultCollector } from "./entitySource.ts";
import {
  checkOutput,
  type EntityFormat,
  inputFormat,
  outputFormat,
  readBytes,
  statInput,
  STDIO,
  withMappedIndustry,
  writeOutput,
} from "./fileIo.ts";
import {
  companyReferences,
  type HoldingSource,
  readCompanies,
  readHoldingCsv,
  resolveCompanies,
} from "./holdingCsv.ts";
import { indentedJson } from "./terminal.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { PORTFOLIO_METHODS, PORTFOLIO_SCOPES } from "../contract/names.ts";
import { parseNumber } from "../validation/parameters.ts";
import { quote } from "../validation/schemaErrors.ts";

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
      `${file} must contain an array of holdings, or an object with holdings and options.`,
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

/** Options of `isotherm align` that only apply with `--portfolio`. */
export interface HoldingsFlags {
  readonly portfolio?: string;
  readonly methods?: readonly PortfolioMethod[];
  readonly scopes?: readonly PortfolioScope[];
  readonly year?: number | "overall";
  readonly goal?: number;
  readonly groupBy?: readonly string[];
  readonly defaultScore?: number;
  readonly missingLow?: number;
  readonly missingHigh?: number;
}

/** Names of the options in `HoldingsFlags`, and the members of a request that they set. */
const MEMBERS = {
  methods: "methods",
  scopes: "scopes",
  year: "year",
  goal: "goal",
  groupBy: "group_by",
  defaultScore: "default_score",
  missingLow: "missing_low",
  missingHigh: "missing_high",
} as const satisfies Record<Exclude<keyof HoldingsFlags, "portfolio">, keyof PortfolioOptions>;
/** Options of `isotherm align` that a portfolio has no use for. */
const OTHER_FLAGS = { to: "--to", include: "--include", detail: "--detail" } as const;

/** Adds the options of portfolios to `isotherm align`. */
export function addPortfolioOptions(command: Command): Command {
  return command
    .option("--portfolio <file>", "holdings, a .csv or .json file: computes the temperature of this portfolio instead")
    .option("--methods <list>", `with --portfolio: any of ${PORTFOLIO_METHODS.join(", ")} (default: WATS)`, (text) =>
      readNames(text, PORTFOLIO_METHODS),
    )
    .option("--scopes <list>", `with --portfolio: any of ${PORTFOLIO_SCOPES.join(", ")} (default: s1s2s3)`, (text) =>
      readNames(text, PORTFOLIO_SCOPES),
    )
    .option("--year <year>", "with --portfolio: projected year of the scores (default: overall)", readYear)
    .option("--goal <degrees>", "with --portfolio: adds the contributions above this temperature", readNumber)
    .option("--group-by <list>", "with --portfolio: columns of the holdings to group by", (text) =>
      text.split(",").map((key) => key.trim()),
    )
    .option("--default-score <degrees>", "with --portfolio: counts as the score of holdings without one", readNumber)
    .option("--missing-low <degrees>", "with --portfolio: missing score in the lower bound (default: 1.3)", readNumber)
    .addOption(
      new Option(
        "--missing-high <degrees>",
        "with --portfolio: missing score in the upper bound (default: 3.2)",
      ).argParser(readNumber),
    );
}

/**
 * Returns the options of a request that the command line sets.
 *
 * @throws Fault `configuration_invalid` naming options that do not apply with, or without, `--portfolio`
 */
export function portfolioOptionsOf(
  flags: HoldingsFlags & { readonly [Name in keyof typeof OTHER_FLAGS]?: unknown },
): PortfolioOptions {
  const given = (Object.keys(MEMBERS) as (keyof typeof MEMBERS)[]).filter((name) => flags[name] !== undefined);
  if (flags.portfolio === undefined) {
    const [first] = given;
    if (first === undefined) return {};
    throw new Fault("configuration_invalid", `--${MEMBERS[first].replaceAll("_", "-")} requires --portfolio.`);
  }
  for (const [name, option] of Object.entries(OTHER_FLAGS) as [keyof typeof OTHER_FLAGS, string][]) {
    if (flags[name] !== undefined) {
      throw new Fault("configuration_invalid", `${option} does not apply with --portfolio, whose result is JSON.`);
    }
  }
  return Object.fromEntries(given.map((name) => [MEMBERS[name], flags[name]]));
}

/** @throws InvalidArgumentError */
function readNames<Name extends string>(text: string, known: readonly Name[]): readonly Name[] {
  return text.split(",").map((part) => {
    const name = known.find((candidate) => candidate === part.trim());
    if (name !== undefined) return name;
    throw new InvalidArgumentError(`${quote(part)} must be one of ${known.join(", ")}.`);
  });
}

/** @throws InvalidArgumentError */
function readNumber(text: string): number {
  const value = parseNumber(text);
  if (typeof value === "number") return value;
  throw new InvalidArgumentError(`it must be a number (got ${quote(text)}).`);
}

/** @throws InvalidArgumentError */
function readYear(text: string): number | "overall" {
  if (text === "overall") return text;
  const year = parseNumber(text);
  if (typeof year === "number" && Number.isInteger(year)) return year;
  throw new InvalidArgumentError(`it must be a year or overall (got ${quote(text)}).`);
}
