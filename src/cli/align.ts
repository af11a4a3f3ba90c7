import { Command, InvalidArgumentError, Option } from "commander";
import { alignTemperature, entityEcho } from "../alignment/alignTemperature.ts";
import { roundTemperatures } from "../alignment/answer.ts";
import { DEFAULT_BENCHMARK } from "../alignment/benchmarkNgfsPhase5.ts";
import { Fault, isFault } from "../errors.ts";
import { parseNumber } from "../validation/parameters.ts";
import { quote } from "../validation/schemaErrors.ts";
import type { IndustryMap } from "../reference/industryMap.ts";
import { alignmentWriter, resultCells } from "./alignmentWriter.ts";
import {
  checkOutput,
  displayName,
  ENTITY_FORMATS,
  type EntityFormat,
  inputFormat,
  openIndustryMap,
  outputFormat,
  readBytes,
  statInput,
  STDIO,
  withMappedIndustry,
  writeOutput,
} from "./fileIo.ts";
import { openEntityCsv } from "./entityCsv.ts";
import { openEntityJson, openEntityNdjson } from "./entityJson.ts";
import type { EntityChunk, EntitySource } from "./entitySource.ts";
import { addPortfolioOptions, type HoldingsFlags, portfolioOptionsOf, runPortfolio } from "./alignPortfolio.ts";
import { indentedJson } from "./terminal.ts";
import { progressBar } from "./progress.ts";
import type {
  AlignmentAnswer,
  AlignmentBasis,
  AlignmentInclude,
  AlignmentReason,
  BudgetScenario,
  Entity,
} from "../contract/wireTypes.ts";
import { ALIGNMENT_BASES, ALIGNMENT_INCLUDES, ALIGNMENT_METHOD, BUDGET_SCENARIOS } from "../contract/names.ts";
import { decodeUtf8 } from "../text/utf8Text.ts";

interface AlignFlags {
  readonly format?: EntityFormat;
  readonly to?: EntityFormat;
  readonly basis: AlignmentBasis;
  readonly include?: readonly AlignmentInclude[];
  readonly budgetScenario?: BudgetScenario;
  readonly convergence?: number;
  readonly industryMap?: string;
  readonly detail?: boolean;
  readonly json?: boolean;
}

/** Counts for the final report. */
interface AlignSummary {
  entityCount: number;
  projectedYearCount: number;
  /** Number of projected years without a temperature, by reason. */
  readonly without: Record<AlignmentReason, number>;
}

/** `isotherm align`: implied temperature rise for files of entities of any length. */
export function alignCommand(): Command {
  const command = new Command("align")
    .argument("[in]", "companies: a .csv, .json, .ndjson or .jsonl file, or - for standard input")
    .argument(
      "[out]",
      "results: a file with one of these extensions (replaced if it exists), or - for standard output",
      STDIO,
    )
    .addOption(new Option("--format <name>", "format of IN (default: from the extension)").choices(ENTITY_FORMATS))
    .addOption(
      new Option(
        "--to <name>",
        "format of OUT (default: from the extension; on standard output, the format of IN)",
      ).choices(ENTITY_FORMATS),
    )
    .addOption(
      new Option(
        "--basis <name>",
        "what to compare with the pathways: emissions per revenue, emissions, or cumulative emissions since the baseline",
      )
        .choices(ALIGNMENT_BASES)
        .default("intensity"),
    )
    .option("--include <list>", `results to add, separated by commas: ${ALIGNMENT_INCLUDES.join(", ")}`, readInclude)
    .addOption(
      new Option(
        "--budget-scenario <name>",
        "scenario of the budget (default: net_zero_2050); adds the budget",
      ).choices(BUDGET_SCENARIOS),
    )
    .option(
      "--convergence <fraction>",
      "fraction of the gap to the industry's emissions intensity that closes by 2050, above 0 and at most 1",
      readConvergence,
    )
    .option(
      "--industry-map <file>",
      "CSV file with the industries of codes: columns code, industry, and optionally system",
    )
    .option("--detail", "include how each temperature was computed, and all results that --include can add")
    .option("--json", "print the summary as JSON")
    .addHelpText("after", ALIGN_HELP);
  return addPortfolioOptions(command).action(run);
}

/** Aligns the companies of a file, or a portfolio of them. */
async function run(
  input: string | undefined,
  output: string,
  flags: AlignFlags & HoldingsFlags,
  command: Command,
): Promise<void> {
  const options = portfolioOptionsOf(flags);
  const { portfolio, basis, budgetScenario, convergence, format, json = false } = flags;
  if (portfolio === undefined) {
    if (input === undefined) command.error("error: missing required argument: <in>, a file of companies");
    await runAlign(input, output, flags);
    return;
  }
  await runPortfolio({
    holdings: portfolio,
    companies: input,
    companyFormat: format,
    output,
    options: {
      ...options,
      ...(command.getOptionValueSource("basis") === "default" ? {} : { basis }),
      ...(budgetScenario === undefined ? {} : { budget_scenario: budgetScenario }),
      ...(convergence === undefined ? {} : { convergence }),
    },
    industryMap: flags.industryMap === undefined ? undefined : await openIndustryMap(flags.industryMap),
    isJsonSummary: json,
  });
}

const ALIGN_HELP = `
CSV has one row per company and projected year, with the company and its baseline repeated in each row. The rows of a
company must be consecutive. Columns, in any order (* required; an empty cell means that the value is not given):

  identifier, name*, asset_type* (equity), country, industry_classification_system, industry, sector,
  baseline_year*, baseline_scope1, baseline_scope2, baseline_scope3, baseline_revenue, baseline_ebitda,
  currency, price_year, year*, scope1, scope2, scope3, revenue, label, probability

The result has all columns of the file, including unknown ones, followed by
${resultCells({ include: [], hasDetail: false, hasLabels: false }).names.join(", ")}.
JSON is the list that the HTTP service accepts; NDJSON has one company per line. See docs/align-files.md.

With --portfolio, OUT is the temperature of the portfolio as JSON. A .csv file of holdings has one row per line, with the
columns id* and value*, and the company figures that a method needs. A row has scores (temperature_s1s2s3, ...), or refers to
the identifier or name of a company in IN: in its column company, else by its issuer or id. A .json file is a list of holdings
or the body of a request to the HTTP service; IN is then omitted. See docs/portfolio-files.md.

OUT is created only when it is complete. Standard output may be incomplete if the exit code is not 0.

Examples:
  isotherm align examples/portfolio.csv temperatures.csv --basis cumulative --include overall,climate_range
  isotherm align examples/portfolio.ndjson --to csv --detail > temperatures.csv
  isotherm align examples/portfolio.csv result.json --portfolio examples/holdings.csv --methods WATS,ECOTS --group-by sector`;

/** @throws InvalidArgumentError */
function readInclude(text: string): readonly AlignmentInclude[] {
  return text.split(",").map((name) => {
    const member = ALIGNMENT_INCLUDES.find((known) => known === name.trim());
    if (member !== undefined) return member;
    throw new InvalidArgumentError(`${quote(name)} must be one of ${ALIGNMENT_INCLUDES.join(", ")}.`);
  });
}

/** @throws InvalidArgumentError */
function readConvergence(text: string): number {
  const value = parseNumber(text);
  if (typeof value === "number" && value > 0 && value <= 1) return value;
  throw new InvalidArgumentError(`it must be a number greater than 0 and at most 1 (got ${quote(text)}).`);
}

async function runAlign(input: string, output: string, flags: AlignFlags): Promise<void> {
  const startMs = performance.now();
  const isToFile = output !== STDIO;
  const inputStats = await statInput(input);
  const format = inputFormat(input, flags.format);
  const to = outputFormat(output, { to: flags.to, accepted: ENTITY_FORMATS, fallback: format });
  await checkOutput(output, inputStats);
  const industryMap = flags.industryMap === undefined ? undefined : await openIndustryMap(flags.industryMap);
  const summary: AlignSummary = {
    entityCount: 0,
    projectedYearCount: 0,
    without: { no_usable_scope: 0, zero_baseline: 0 },
  };
  const totalBytes = inputStats?.size;
  const bar = progressBar("bytes");
  let bytesRead = 0;
  const onBytes = (sizeBytes: number): void => {
    bytesRead += sizeBytes;
    if (totalBytes !== undefined) bar.update(bytesRead, totalBytes);
  };
  try {
    await writeOutput(output, alignFile({ input, format, to, flags, industryMap, summary, onBytes }));
  } catch (error) {
    if (!isFault(error)) throw error;
    const { code, message, details, items } = error;
    throw new Fault(code, `${displayName(input)}: ${message}`, { details, items, cause: error });
  } finally {
    bar.stop();
  }
  const seconds = (performance.now() - startMs) / 1000;
  const text = flags.json === true ? alignSummaryJson(summary, seconds) : alignSummaryText(summary, seconds);
  (isToFile ? process.stdout : process.stderr).write(text);
}

/** Yields the results of a file as text, chunk by chunk. */
async function* alignFile(options: {
  readonly input: string;
  readonly format: EntityFormat;
  readonly to: EntityFormat;
  readonly flags: AlignFlags;
  readonly industryMap: IndustryMap | undefined;
  readonly summary: AlignSummary;
  readonly onBytes: (sizeBytes: number) => void;
}): AsyncGenerator<string> {
  const { input, format, to, flags, industryMap, summary, onBytes } = options;
  const columns = { include: includeOf(flags), hasDetail: flags.detail === true };
  const text = decodeUtf8(readBytes(input, onBytes));
  const source: EntitySource =
    format === "csv"
      ? await openEntityCsv(text, to === "csv" ? resultCells({ ...columns, hasLabels: true }).names : [])
      : format === "json"
        ? openEntityJson(text)
        : openEntityNdjson(text);
  const { columnNames } = source;
  const writer = alignmentWriter(to, {
    columnNames,
    columns: { ...columns, hasLabels: columnNames?.includes("label") ?? true },
    versions: { method: ALIGNMENT_METHOD, benchmark: DEFAULT_BENCHMARK.id },
  });
  let head = writer.head;
  for await (const chunk of source.chunks) {
    const results = await alignChunk(chunk, flags, industryMap);
    if (results.length === 0) continue;
    addToSummary(summary, results);
    // The header is written with the first results, so that a file rejected immediately produces no output.
    yield head + writer.write({ entities: chunk.entities as readonly Entity[], results, rows: chunk.rows });
    head = "";
  }
  if (summary.entityCount === 0) throw new Fault("invalid_request", "the file contains no entities.");
  yield writer.tail;
}

/** Returns the results to add. Naming a scenario of the budget adds the budget, whose columns then follow the others. */
function includeOf({ include = [], budgetScenario }: AlignFlags): readonly AlignmentInclude[] {
  return [...new Set([...include, ...(budgetScenario === undefined ? [] : (["budget"] as const))])];
}

/** @throws Fault listing every error in the chunk with its location in the file */
async function alignChunk(
  { entities, faults, locationOf }: EntityChunk,
  flags: AlignFlags,
  industryMap: IndustryMap | undefined,
): Promise<AlignmentAnswer["results"]> {
  const { basis, budgetScenario, convergence, detail = false } = flags;
  const options = { basis, budgetScenario, convergence, detail, include: includeOf(flags) };
  try {
    const read = (
      industryMap === undefined ? entities : entities.map((entity) => withMappedIndustry(industryMap, entity))
    ) as readonly Entity[];
    const answer = read.length === 0 ? undefined : await alignTemperature(read, options);
    faults.throwIfAny();
    if (answer === undefined) return [];
    const { results } = roundTemperatures(answer);
    if (industryMap === undefined) return results;
    // Results repeat the texts of the file, not those of the map.
    return results.map((result, i) => ({ ...result, entity_info: entityEcho(entities[i] as Entity) }));
  } catch (error) {
    if (!isFault(error) || error.items.every(({ pointer = "" }) => pointer === "")) throw error;
    const code = faults.count === 0 ? error.code : "invalid_request";
    for (const { pointer = "", detail } of error.items) faults.add(locationOf(pointer), detail);
    faults.throwIfAny(code);
    throw error;
  }
}

function addToSummary(summary: AlignSummary, results: AlignmentAnswer["results"]): void {
  for (const { data } of results) {
    summary.entityCount++;
    summary.projectedYearCount += data.length;
    for (const { reason } of data) if (reason !== undefined) summary.without[reason]++;
  }
}

function alignSummaryJson({ entityCount, projectedYearCount, without }: AlignSummary, seconds: number): string {
  const summary = { entities: entityCount, temperatures: projectedYearCount - sum(without), without, seconds };
  return indentedJson(summary);
}

function alignSummaryText({ entityCount, projectedYearCount, without }: AlignSummary, seconds: number): string {
  const reasons = Object.entries(without).filter(([, count]) => count > 0);
  const missing = reasons.map(([reason, count]) => `${count} ${reason}`).join(", ");
  return (
    `${projectedYearCount - sum(without)} temperatures for ${entityCount} ${entityCount === 1 ? "entity" : "entities"} in ${seconds.toFixed(1)} s` +
    `${missing === "" ? "" : `; no temperature: ${missing}`}\n`
  );
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
