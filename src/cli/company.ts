import { Command, InvalidArgumentError, Option } from "commander";
import type { CompanyAnswer } from "../company/answer.ts";
import { totalClimateRisk } from "../company/report.ts";
import { BASE_YEAR, LAST_YEAR } from "../company/methodConstants.ts";
import type { CompanyRequest } from "../company/request.ts";
import { findScenario, nearestScenarios } from "../company/scenarios.ts";
import { Fault, isFault } from "../errors.ts";
import { encodeJson } from "../host/http/json.ts";
import { quote } from "../explain.ts";
import { COMPANY_COLUMN_NAMES, type CompanyEntry, type CompanyFile, openCompanies } from "./companyFiles.ts";
import { describeCompany } from "./companyReport.ts";
import { bytesOf, checkedUtf8, checkOutput, findInput, writeWhole } from "./entityFiles.ts";
import { ENTITY_FORMATS, type EntityFormat, inputFormat, nameOf, outputFormat, STANDARD } from "./fileFormats.ts";
import { progressBar } from "./progress.ts";

/** Formats of the results for many companies; one company may also have a report, as text. */
const RESULT_FORMATS = ["json", "ndjson"] as const;
type ResultFormat = (typeof RESULT_FORMATS)[number];

interface Flags {
  readonly format?: EntityFormat;
  readonly to?: ResultFormat;
  readonly scenarios?: readonly string[];
  readonly years?: readonly number[];
  readonly json?: boolean;
}

/** What has been done with a list of companies. */
interface Tally {
  companyCount: number;
  resultCount: number;
  refusedCount: number;
}

/** Companies are answered, but not all of them. */
const EXIT_CODE_SOME_REFUSED = 2;
/** As much text as is handed on at once. */
const PIECE_SIZE_CHARACTERS = 1 << 18;

/** `isotherm company`: what one company stands to lose, as a report; or many, as a file. */
export function companyCommand(): Command {
  return new Command("company")
    .description("transition and physical climate risk of a company, from seven figures")
    .argument("<in>", "one company (a JSON object), or many (a JSON list, .ndjson, .csv); - is standard input")
    .argument(
      "[out]",
      "the result: a .json, .ndjson or .jsonl file, of one company also .txt, replaced if it exists; - is standard output",
      STANDARD,
    )
    .addOption(new Option("--format <name>", "format of IN (default: from its extension)").choices(ENTITY_FORMATS))
    .addOption(
      new Option(
        "--to <name>",
        "format of OUT (default: from its extension; on standard output of one company a report, of many json for JSON, else ndjson)",
      ).choices(RESULT_FORMATS),
    )
    .option("--scenarios <list>", "for companies that name none: scenarios, separated by commas", readScenarios)
    .option(
      "--years <list>",
      `for companies that name none: years from ${BASE_YEAR} to ${LAST_YEAR}, separated by commas`,
      readYears,
    )
    .option("--json", "of one: the answer as the HTTP service gives it; of many: the tally as JSON")
    .addHelpText("after", HELP)
    .action(run);
}

const HELP = `
A company has name, country, industry, revenue, total_assets, ebitda, total_debt, transition_scenarios and
assessment_years; money in US dollars of 2025, as numbers or as text. If known, also scope1, scope2, scope3 (t CO2e a
year), total_liabilities (banks, insurers), damage_function, iam. CSV has a column for each, lists divided by semicolons:

  ${COMPANY_COLUMN_NAMES.join(", ")}

The result for one company is a report to read, or JSON with --json, with --to or in a .json, .ndjson or .jsonl file.
The result for each of many is one line of NDJSON, or one element of "results" in JSON, in the order of IN:
{"line", "error"} for a company that was refused. The exit code is 2 if companies were refused, 1 if nothing was written.

Examples:
  isotherm company examples/company.json
  isotherm company examples/company.json --json > answer.json
  isotherm company portfolio.csv answers.ndjson --scenarios NGFS_NET_ZERO_2050,IPCC_C3 --years 2030,2050`;

async function run(input: string, output: string, flags: Flags): Promise<void> {
  const startMs = performance.now();
  const given = await findInput(input);
  const format = inputFormat(input, flags.format);
  await checkOutput(output, given);
  const sizeBytes = given?.size;
  const bar = progressBar("bytes");
  let readBytes = 0;
  const onBytes = (countBytes: number): void => {
    readBytes += countBytes;
    if (sizeBytes !== undefined) bar.update(readBytes, sizeBytes);
  };
  const tally: Tally = { companyCount: 0, resultCount: 0, refusedCount: 0 };
  let file: CompanyFile;
  try {
    file = await openCompanies(checkedUtf8(bytesOf(input, onBytes)), format);
    await writeWhole(
      output,
      file.kind === "one"
        ? report(file.input, output, flags)
        : answers(file.entries, formatOfMany(output, format, flags), flags, tally),
    );
  } catch (error) {
    if (!isFault(error) || error.code === "configuration_invalid") throw error;
    const { code, message, details, items } = error;
    throw new Fault(code, `${nameOf(input)}: ${message}`, { details, items, cause: error });
  } finally {
    bar.stop();
  }
  if (file.kind === "one") return;
  const seconds = (performance.now() - startMs) / 1000;
  (output === STANDARD ? process.stderr : process.stdout).write(
    flags.json === true ? wireOf(tally, seconds) : describe(tally, seconds),
  );
  if (tally.refusedCount > 0) process.exitCode = EXIT_CODE_SOME_REFUSED;
}

function formatOfMany(output: string, format: EntityFormat, { to }: Flags): ResultFormat {
  return outputFormat(output, { to, accepted: RESULT_FORMATS, fallback: format === "json" ? "json" : "ndjson" });
}

/** The result for one company: a report to read, or JSON where an option or the extension of OUT asks for it. */
async function* report(input: unknown, output: string, { json, ...flags }: Flags): AsyncGenerator<string> {
  const to = outputFormat(output, {
    // One result is one line, which is JSON and NDJSON at once.
    to: flags.to ?? (json === true ? jsonFormatOf(output) : undefined),
    accepted: [...RESULT_FORMATS, "text"],
    fallback: "text",
  });
  const answer = totalClimateRisk(withDefaults(input, flags));
  yield to === "text" ? describeCompany(answer) : `${encodeJson(answer)}\n`;
}

function jsonFormatOf(output: string): ResultFormat {
  return /\.(ndjson|jsonl)$/i.test(output) ? "ndjson" : "json";
}

/** The answers for many, as text, some at a time. */
async function* answers(
  entries: AsyncIterable<CompanyEntry>,
  to: ResultFormat,
  flags: Flags,
  tally: Tally,
): AsyncGenerator<string> {
  let text = to === "json" ? '{"results":[\n' : "";
  for await (const entry of entries) {
    if (to === "json" && tally.companyCount > 0) text += ",\n";
    tally.companyCount++;
    text += encodeJson(answerTo(entry, flags, tally));
    if (to === "ndjson") text += "\n";
    if (text.length < PIECE_SIZE_CHARACTERS) continue;
    yield text;
    text = "";
  }
  if (tally.companyCount === 0) throw new Fault("invalid_request", "there is no company in it.");
  yield to === "json" ? `${text}\n]}\n` : text;
}

function answerTo({ line, input, fault }: CompanyEntry, flags: Flags, tally: Tally): CompanyAnswer | object {
  try {
    if (fault !== undefined) throw fault;
    const answer = totalClimateRisk(withDefaults(input, flags));
    tally.resultCount += answer.results.length;
    return answer;
  } catch (error) {
    if (!isFault(error)) throw error;
    tally.refusedCount++;
    const { code, message, items } = error;
    return { line, error: { code, detail: message, ...(items.length === 0 ? {} : { errors: items }) } };
  }
}

/** A company that names no scenarios or years gets those of the command line. The check of a request finds the rest. */
function withDefaults(input: unknown, { scenarios, years }: Flags): CompanyRequest {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input as CompanyRequest;
  return {
    ...(scenarios === undefined ? {} : { transition_scenarios: [...scenarios] }),
    ...(years === undefined ? {} : { assessment_years: [...years] }),
    ...(input as CompanyRequest),
  };
}

function wireOf({ companyCount, resultCount, refusedCount }: Tally, seconds: number): string {
  const tally = { companies: companyCount, results: resultCount, refused: refusedCount, seconds };
  return `${JSON.stringify(tally, undefined, 2)}\n`;
}

function describe({ companyCount, resultCount, refusedCount }: Tally, seconds: number): string {
  const companies = companyCount === 1 ? "1 company" : `${companyCount} companies`;
  const refused = refusedCount === 0 ? "" : `; ${refusedCount} refused, each with its error`;
  return `${resultCount} results of ${companies} in ${seconds.toFixed(1)} s${refused}\n`;
}

/** @throws InvalidArgumentError naming what is not a known scenario */
function readScenarios(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  for (const name of names) {
    if (findScenario(name) !== undefined) continue;
    const message = `There is no scenario ${quote(name)}; nearest are ${nearestScenarios(name).join(", ")}.`;
    throw new InvalidArgumentError(message);
  }
  return names;
}

function readYears(text: string): readonly number[] {
  return text.split(",").map((yearText) => {
    const year = /^[0-9]{4}$/.test(yearText.trim()) ? Number(yearText) : NaN;
    if (year >= BASE_YEAR && year <= LAST_YEAR) return year;
    throw new InvalidArgumentError(`${quote(yearText)} is not a whole year from ${BASE_YEAR} to ${LAST_YEAR}.`);
  });
}
