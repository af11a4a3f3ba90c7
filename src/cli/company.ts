import { Command, InvalidArgumentError, Option } from "commander";
import { totalClimateRisk } from "../company/report.ts";
import { readCompanyRequest } from "../company/request.ts";
import { BASE_YEAR, LAST_YEAR } from "../company/methodConstants.ts";
import { findScenario, nearestScenarios, suggestScenario } from "../company/scenarios.ts";
import { Fault, type FaultItem, isFault } from "../errors.ts";
import { encodeJson } from "../text/json/json.ts";
import type { IndustryMap } from "../reference/industryMap.ts";
import { quote, summarizeItems } from "../validation/schemaErrors.ts";
import { COMPANY_COLUMN_NAMES, type CompanyEntry, type CompanyFile, openCompanies } from "./companyFiles.ts";
import { describeCompany } from "./companyReport.ts";
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
  writeOutput,
} from "./fileIo.ts";
import { indentedJson } from "./terminal.ts";
import { progressBar } from "./progress.ts";
import type { CompanyAnswer, CompanyRequest } from "../contract/wireTypes.ts";
import { decodeUtf8 } from "../text/utf8Text.ts";

/** Formats of the results for a list of companies. A single company can also have a text report. */
const RESULT_FORMATS = ["json", "ndjson"] as const;
type ResultFormat = (typeof RESULT_FORMATS)[number];

interface CompanyFlags {
  readonly format?: EntityFormat;
  readonly to?: ResultFormat;
  readonly scenarios?: readonly string[];
  readonly years?: readonly number[];
  readonly json?: boolean;
  readonly industryMap?: string;
}

/** What is added to each company before validation. */
interface CompanyAdditions extends CompanyFlags {
  readonly map: IndustryMap | undefined;
}

/** Counts for the final summary of a list of companies. */
interface CompanySummary {
  companyCount: number;
  resultCount: number;
  rejectedCount: number;
}

/** The results are complete except for rejected companies. */
const EXIT_CODE_SOME_REJECTED = 2;
const HELP_LINE_LENGTH_MAX = 100;
/** Minimum size of the text chunks that are written. */
const OUTPUT_CHUNK_SIZE_CHARACTERS = 1 << 18;

/** `isotherm company`: climate risk of one company as a report, or of a list of companies as a file. */
export function companyCommand(): Command {
  return new Command("company")
    .argument(
      "<in>",
      "one company (a JSON object) or a list (a JSON array, .ndjson or .csv file), or - for standard input",
    )
    .argument(
      "[out]",
      "results: a .json, .ndjson or .jsonl file, for one company also .txt (replaced if it exists), or - for standard output",
      STDIO,
    )
    .addOption(new Option("--format <name>", "format of IN (default: from the extension)").choices(ENTITY_FORMATS))
    .addOption(
      new Option(
        "--to <name>",
        "format of OUT (default: from the extension; on standard output a report for one company; for a list json if IN is JSON, otherwise ndjson)",
      ).choices(RESULT_FORMATS),
    )
    .option("--scenarios <list>", "scenarios for companies that name none, separated by commas", readScenarios)
    .option(
      "--years <list>",
      `years from ${BASE_YEAR} to ${LAST_YEAR} for companies that name none, separated by commas`,
      readYears,
    )
    .option(
      "--industry-map <file>",
      "CSV file with the industries of codes: columns code, industry, and optionally system",
    )
    .option(
      "--json",
      "one company: print the result as JSON, as the HTTP service returns it; a list: print the summary as JSON",
    )
    .addHelpText("after", COMPANY_HELP)
    .action(runCompany);
}

const COMPANY_HELP = `
A company has name, country, industry, revenue, transition_scenarios and assessment_years; money in US dollars of 2025,
as numbers or text. total_assets, ebitda and total_debt are estimated if absent. Optional: scope1, scope2, scope3,
scope3_upstream, scope3_downstream (t CO2e per year), total_liabilities (banks, insurers), damage_function, iam, pd,
exposure, lgd, assumptions. CSV has a column for each, also for those of assumptions; lists are separated by semicolons:

${wrapped(COMPANY_COLUMN_NAMES)}

The result for one company is a text report, or JSON with --json, with --to, or in a .json, .ndjson or .jsonl file.
The results for a list are in the order of IN, one per line of NDJSON or one per element of "results" in JSON;
{"line", "error"} for a rejected company. The exit code is 2 if companies were rejected, 1 if nothing was written.

Examples:
  isotherm company examples/company.json
  isotherm company examples/company.json --json > answer.json
  isotherm company portfolio.csv answers.ndjson --scenarios NGFS_NET_ZERO_2050,IPCC_C3 --years 2030,2050`;

/** Formats names in lines of at most 100 characters. */
function wrapped(names: readonly string[]): string {
  const lines = [""];
  for (const [index, name] of names.entries()) {
    const item = index < names.length - 1 ? `${name},` : name;
    const line = `${lines.at(-1) ?? ""} ${item}`;
    if (line.length <= HELP_LINE_LENGTH_MAX) lines[lines.length - 1] = line;
    else lines.push(` ${item}`);
  }
  return lines.map((line) => ` ${line}`).join("\n");
}

async function runCompany(input: string, output: string, flags: CompanyFlags): Promise<void> {
  const startMs = performance.now();
  const inputStats = await statInput(input);
  const format = inputFormat(input, flags.format);
  await checkOutput(output, inputStats);
  const map = flags.industryMap === undefined ? undefined : await openIndustryMap(flags.industryMap);
  const additions: CompanyAdditions = { ...flags, map };
  const totalBytes = inputStats?.size;
  const bar = progressBar("bytes");
  let bytesRead = 0;
  const onBytes = (sizeBytes: number): void => {
    bytesRead += sizeBytes;
    if (totalBytes !== undefined) bar.update(bytesRead, totalBytes);
  };
  const summary: CompanySummary = { companyCount: 0, resultCount: 0, rejectedCount: 0 };
  let file: CompanyFile;
  try {
    file = await openCompanies(decodeUtf8(readBytes(input, onBytes)), format);
    await writeOutput(
      output,
      file.kind === "single"
        ? singleResult(file.input, output, additions)
        : listResults(file.entries, listFormat(output, format, flags), additions, summary),
    );
  } catch (error) {
    if (!isFault(error) || error.code === "configuration_invalid") throw error;
    const { code, message, details, items } = error;
    throw new Fault(code, `${displayName(input)}: ${message}`, { details, items, cause: error });
  } finally {
    bar.stop();
  }
  if (file.kind === "single") return;
  const seconds = (performance.now() - startMs) / 1000;
  (output === STDIO ? process.stderr : process.stdout).write(
    flags.json === true ? companySummaryJson(summary, seconds) : companySummaryText(summary, seconds),
  );
  if (summary.rejectedCount > 0) process.exitCode = EXIT_CODE_SOME_REJECTED;
}

function listFormat(output: string, format: EntityFormat, { to }: CompanyFlags): ResultFormat {
  return outputFormat(output, { to, accepted: RESULT_FORMATS, fallback: format === "json" ? "json" : "ndjson" });
}

/** Yields the result for one company: a text report, or JSON if an option or the extension of OUT requests it. */
async function* singleResult(
  input: unknown,
  output: string,
  { json, ...flags }: CompanyAdditions,
): AsyncGenerator<string> {
  const to = outputFormat(output, {
    // A single result on one line is valid as both JSON and NDJSON.
    to: flags.to ?? (json === true ? jsonFormatFor(output) : undefined),
    accepted: [...RESULT_FORMATS, "text"],
    fallback: "text",
  });
  const answer = assessWithAdditions(input, flags);
  yield to === "text" ? describeCompany(answer) : `${encodeJson(answer)}\n`;
}

function jsonFormatFor(output: string): ResultFormat {
  return /\.(ndjson|jsonl)$/i.test(output) ? "ndjson" : "json";
}

/** Yields the results for a list of companies as text, chunk by chunk. */
async function* listResults(
  entries: AsyncIterable<CompanyEntry>,
  to: ResultFormat,
  additions: CompanyAdditions,
  summary: CompanySummary,
): AsyncGenerator<string> {
  let text = to === "json" ? '{"results":[\n' : "";
  for await (const entry of entries) {
    if (to === "json" && summary.companyCount > 0) text += ",\n";
    summary.companyCount++;
    text += encodeJson(resultFor(entry, additions, summary));
    if (to === "ndjson") text += "\n";
    if (text.length < OUTPUT_CHUNK_SIZE_CHARACTERS) continue;
    yield text;
    text = "";
  }
  if (summary.companyCount === 0) throw new Fault("invalid_request", "the file contains no companies.");
  yield to === "json" ? `${text}\n]}\n` : text;
}

function resultFor(
  { line, input, fault }: CompanyEntry,
  additions: CompanyAdditions,
  summary: CompanySummary,
): CompanyAnswer | object {
  try {
    if (fault !== undefined) throw fault;
    const answer = assessWithAdditions(input, additions);
    summary.resultCount += answer.results.length;
    return answer;
  } catch (error) {
    if (!isFault(error)) throw error;
    summary.rejectedCount++;
    const { code, message, items } = error;
    return { line, error: { code, detail: message, ...(items.length === 0 ? {} : { errors: items }) } };
  }
}

type RequestAdditions = Omit<CompanyAdditions, "json">;

/**
 * Assesses a company with the scenarios and years of the command line, if it names none, and with the industry that the
 * map has for its code.
 *
 * @throws Fault as `totalClimateRisk` does, and if rows of the map contradict each other
 */
function assessWithAdditions(input: unknown, additions: RequestAdditions): CompanyAnswer {
  // Validation is left to the method.
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return totalClimateRisk(input as CompanyRequest);
  }
  const { scenarios, years, map } = additions;
  const request: CompanyRequest = {
    ...(scenarios === undefined ? {} : { transition_scenarios: [...scenarios] }),
    ...(years === undefined ? {} : { assessment_years: [...years] }),
    ...(input as CompanyRequest),
  };
  if (map === undefined || typeof request.industry !== "string") return totalClimateRisk(request);
  const { industry, industry_classification_system: system, ...rest } = request;
  const systemName = typeof system === "string" ? system : undefined;
  const mapped = map.find(industry, systemName);
  // A system of the caller's own is known to the map only.
  if (mapped !== undefined) return totalClimateRisk({ ...rest, industry: mapped.name });
  const contradictions = systemName === undefined ? map.contradictions(industry) : [];
  if (contradictions.length === 0) return totalClimateRisk(request);
  throw contradictionFault(request, contradictions);
}

/** Returns the error of a code with contradicting rows, with the errors in the other members of the request. */
function contradictionFault(request: CompanyRequest, contradictions: readonly string[]): Fault {
  const { industry } = request;
  const detail = `industry: ${quote(industry)} has several industries in the industry map: ${contradictions.join("; ")}. Send industry_classification_system with the system.`;
  const others = itemsOf(request).filter(({ pointer }) => pointer !== "/industry");
  const items = [{ pointer: "/industry", code: "industry_unknown", detail } satisfies FaultItem, ...others];
  return new Fault(others.length === 0 ? "industry_unknown" : "invalid_request", summarizeItems(items, "the request"), {
    items,
  });
}

function itemsOf(request: CompanyRequest): readonly FaultItem[] {
  try {
    readCompanyRequest(request);
    return [];
  } catch (error) {
    if (isFault(error)) return error.items;
    throw error;
  }
}

function companySummaryJson({ companyCount, resultCount, rejectedCount }: CompanySummary, seconds: number): string {
  const summary = { companies: companyCount, results: resultCount, refused: rejectedCount, seconds };
  return indentedJson(summary);
}

function companySummaryText({ companyCount, resultCount, rejectedCount }: CompanySummary, seconds: number): string {
  const companies = companyCount === 1 ? "1 company" : `${companyCount} companies`;
  const rejected = rejectedCount === 0 ? "" : `; ${rejectedCount} rejected, see their errors in the output`;
  return `${resultCount} results for ${companies} in ${seconds.toFixed(1)} s${rejected}\n`;
}

/** @throws InvalidArgumentError naming the unknown scenario and the nearest known ones */
function readScenarios(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  for (const name of names) {
    if (findScenario(name) !== undefined) continue;
    const meant = suggestScenario(name);
    const suggestion = meant === undefined ? "" : ` (did you mean ${meant}?)`;
    const message = `Unknown scenario ${quote(name)}${suggestion}; the nearest are ${nearestScenarios(name).join(", ")}.`;
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
