import { Command, Option } from "commander";
import { alignTemperature } from "../alignment/alignTemperature.ts";
import { type AlignmentAnswer, type AlignmentReason, roundTemperatures } from "../alignment/answer.ts";
import { ALIGNMENT_BASES } from "../alignment/options.ts";
import type { Entity } from "../alignment/entity.ts";
import { Fault, isFault } from "../errors.ts";
import type { AlignmentBasis } from "../kernel/alignment.ts";
import { alignmentWriter, answerColumnNames } from "./alignmentWriter.ts";
import { openCsv } from "./entityCsv.ts";
import {
  bytesOf,
  checkedUtf8,
  checkOutput,
  type EntityChunk,
  type EntitySource,
  findInput,
  writeWhole,
} from "./entityFiles.ts";
import { openJson, openNdjson } from "./entityJson.ts";
import { ENTITY_FORMATS, type EntityFormat, inputFormat, nameOf, outputFormat, STANDARD } from "./fileFormats.ts";
import { progressBar } from "./progress.ts";

interface Flags {
  readonly format?: EntityFormat;
  readonly to?: EntityFormat;
  readonly basis: AlignmentBasis;
  readonly detail?: boolean;
  readonly json?: boolean;
}

/** What has been done. */
interface Report {
  entityCount: number;
  /** Projected years. */
  rowCount: number;
  /** Of them without a temperature, by reason. */
  readonly without: Record<AlignmentReason, number>;
}

/** `isotherm align`: temperatures for files of entities, of any length. */
export function alignCommand(): Command {
  return new Command("align")
    .description("implied temperature rise of companies, from their emissions now and as projected")
    .argument("<in>", "the companies: a .csv, .json, .ndjson or .jsonl file; - is standard input")
    .argument(
      "[out]",
      "the results: a file with one of these extensions, replaced if it exists; - is standard output",
      STANDARD,
    )
    .addOption(new Option("--format <name>", "format of IN (default: from its extension)").choices(ENTITY_FORMATS))
    .addOption(
      new Option("--to <name>", "format of OUT (default: from its extension; on standard output that of IN)").choices(
        ENTITY_FORMATS,
      ),
    )
    .addOption(
      new Option("--basis <name>", "compare emissions per revenue, emissions, or all emissions since the baseline")
        .choices(ALIGNMENT_BASES)
        .default("intensity"),
    )
    .option("--detail", "with how each number came about")
    .option("--json", "the report as JSON")
    .addHelpText("after", HELP)
    .action(run);
}

const HELP = `
CSV has one row a company and projected year, the company and its baseline repeated in each; rows of one company follow
one another. Columns, in any order (* must be there; an empty cell is a value not given):

  identifier, name*, asset_type* (equity), country, industry_classification_system, industry, sector,
  baseline_year*, baseline_scope1, baseline_scope2, baseline_scope3, baseline_revenue, baseline_ebitda,
  year*, scope1, scope2, scope3

The answer has every column of the file, its own ones too, then ${answerColumnNames(false).join(", ")}.
JSON is the list that the HTTP service takes, NDJSON one company a line. docs/align-files.md has it all.

OUT appears only when it is complete. Standard output may end early; the exit code is then not 0.

Examples:
  isotherm align examples/portfolio.csv temperatures.csv --basis cumulative
  isotherm align examples/portfolio.ndjson --to csv --detail > temperatures.csv`;

async function run(input: string, output: string, flags: Flags): Promise<void> {
  const startMs = performance.now();
  const isToFile = output !== STANDARD;
  const given = await findInput(input);
  const format = inputFormat(input, flags.format);
  const to = outputFormat(output, { to: flags.to, accepted: ENTITY_FORMATS, fallback: format });
  await checkOutput(output, given);
  const report: Report = { entityCount: 0, rowCount: 0, without: { no_usable_scope: 0, zero_baseline: 0 } };
  const sizeBytes = given?.size;
  const bar = progressBar("bytes");
  let readBytes = 0;
  const onBytes = (countBytes: number): void => {
    readBytes += countBytes;
    if (sizeBytes !== undefined) bar.update(readBytes, sizeBytes);
  };
  try {
    await writeWhole(output, answers({ input, format, to, flags, report, onBytes }));
  } catch (error) {
    if (!isFault(error)) throw error;
    const { code, message, details, items } = error;
    throw new Fault(code, `${nameOf(input)}: ${message}`, { details, items, cause: error });
  } finally {
    bar.stop();
  }
  const seconds = (performance.now() - startMs) / 1000;
  const text = flags.json === true ? wireOf(report, seconds) : describe(report, seconds);
  (isToFile ? process.stdout : process.stderr).write(text);
}

/** The answers to a file, as text, some at a time. */
async function* answers(of: {
  readonly input: string;
  readonly format: EntityFormat;
  readonly to: EntityFormat;
  readonly flags: Flags;
  readonly report: Report;
  readonly onBytes: (countBytes: number) => void;
}): AsyncGenerator<string> {
  const { input, format, to, flags, report, onBytes } = of;
  const hasDetail = flags.detail === true;
  const pieces = checkedUtf8(bytesOf(input, onBytes));
  const source: EntitySource =
    format === "csv"
      ? await openCsv(pieces, to === "csv" ? answerColumnNames(hasDetail) : [])
      : format === "json"
        ? openJson(pieces)
        : openNdjson(pieces);
  const writer = alignmentWriter(to, { columnNames: source.columnNames, hasDetail });
  let head = writer.head;
  for await (const chunk of source.chunks) {
    const results = await align(chunk, flags);
    if (results.length === 0) continue;
    count(report, results);
    // Together with the first results, so that a file that is refused at once leaves nothing on standard output.
    yield head + writer.write({ entities: chunk.entities as readonly Entity[], results, rows: chunk.rows });
    head = "";
  }
  if (report.entityCount === 0) throw new Fault("invalid_request", "there is no entity in it.");
  yield writer.tail;
}

/** @throws Fault with everything that is wrong in the chunk, and where in the file */
async function align(
  { entities, faults, placeOf }: EntityChunk,
  { basis, detail = false }: Flags,
): Promise<AlignmentAnswer["results"]> {
  try {
    const answer =
      entities.length === 0
        ? { results: [] }
        : await alignTemperature(entities as readonly Entity[], { basis, detail });
    faults.throwIfAny();
    return roundTemperatures(answer).results;
  } catch (error) {
    if (!isFault(error) || error.items.every(({ pointer = "" }) => pointer === "")) throw error;
    const code = faults.count === 0 ? error.code : "invalid_request";
    for (const { pointer = "", detail: what } of error.items) faults.add(placeOf(pointer), what);
    faults.throwIfAny(code);
    throw error;
  }
}

function count(report: Report, results: AlignmentAnswer["results"]): void {
  for (const { data } of results) {
    report.entityCount++;
    report.rowCount += data.length;
    for (const { reason } of data) if (reason !== undefined) report.without[reason]++;
  }
}

function wireOf({ entityCount, rowCount, without }: Report, seconds: number): string {
  const report = { entities: entityCount, temperatures: rowCount - sum(without), without, seconds };
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

function describe({ entityCount, rowCount, without }: Report, seconds: number): string {
  const reasons = Object.entries(without).filter(([, count]) => count > 0);
  const lacking = reasons.map(([reason, count]) => `${count} ${reason}`).join(", ");
  return (
    `${rowCount - sum(without)} temperatures of ${entityCount} ${entityCount === 1 ? "entity" : "entities"} in ${seconds.toFixed(1)} s` +
    `${lacking === "" ? "" : `; without one: ${lacking}`}\n`
  );
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
