import { stat } from "node:fs/promises";
import { Command, Option } from "commander";
import type { CompanyAnswer } from "../company/answer.ts";
import { totalClimateRisk } from "../company/report.ts";
import type { CompanyRequest } from "../company/request.ts";
import { Fault, isFault } from "../errors.ts";
import { encodeJson } from "../host/json.ts";
import { readNumber } from "../parameters.ts";
import { COMPANY_COLUMN_NAMES, type CompanyEntry, type CompanyFile, openCompanies } from "./companyFiles.ts";
import { describeCompany } from "./companyReport.ts";
import {
  bytesOf,
  checkedUtf8,
  ENTITY_FORMATS,
  type EntityFormat,
  formatOf,
  nameOf,
  STANDARD,
  writeWhole,
  refuseLoss,
} from "./entityFiles.ts";
import { progressBar } from "./progress.ts";

const ANSWER_FORMATS = ["json", "ndjson"] as const;
type AnswerFormat = (typeof ANSWER_FORMATS)[number];

interface Flags {
  readonly format?: EntityFormat;
  readonly to?: AnswerFormat;
  readonly scenarios?: string;
  readonly years?: string;
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
    .argument("[out]", "where the answer goes; - is standard output", STANDARD)
    .addOption(new Option("--format <name>", "what IN is, where its name does not say").choices(ENTITY_FORMATS))
    .addOption(
      new Option("--to <name>", "what OUT shall be (default: of many as IN, of one a report)").choices(ANSWER_FORMATS),
    )
    .option("--scenarios <list>", "for companies that name none: scenarios, separated by commas")
    .option("--years <list>", "for companies that name none: years from 2025 to 2100, separated by commas")
    .option("--json", "of one: the answer as the HTTP service gives it; of many: the tally as JSON")
    .addHelpText("after", HELP)
    .action(run);
}

const HELP = `
A company has name, country, industry, revenue, total_assets, ebitda, total_debt, transition_scenarios and
assessment_years; money in US dollars of 2025, as numbers or as text. If known, also scope1, scope2, scope3 (t CO2e a
year), total_liabilities (banks, insurers), damage_function, iam. CSV has a column for each, lists divided by semicolons:

  ${COMPANY_COLUMN_NAMES.join(", ")}

One company is answered by a report to read, or by the answer itself: with --json, with --to, or into a file that its name
says is JSON. Of many, each is one line of NDJSON, or
one element of "results" in JSON: its answer, or {"line", "error"} where it was refused, in the order of IN.
The exit code is 2 where some were refused, 1 where nothing could be done.

Examples:
  isotherm company cement.json
  isotherm company cement.json --json > answer.json
  isotherm company portfolio.csv answers.ndjson --scenarios NGFS_NET_ZERO_2050,IPCC_C3 --years 2030,2050`;

async function run(input: string, output: string, flags: Flags): Promise<void> {
  const startMs = performance.now();
  const format = flags.format ?? formatOf(input);
  if (format === undefined) {
    const message = `What is in ${nameOf(input)}? Give --format ${ENTITY_FORMATS.join(", ")}.`;
    throw new Fault("configuration_invalid", message);
  }
  const given = input === STANDARD ? undefined : await stat(input);
  await refuseLoss(output, given);
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
    const to = answerFormat(output, format, flags);
    await writeWhole(
      output,
      file.kind === "one" ? report(file.input, output, flags) : answers(file.entries, to, flags, tally),
    );
  } catch (error) {
    if (!isFault(error)) throw error;
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

/** @throws Fault where the name of OUT promises what there is not */
function answerFormat(output: string, format: EntityFormat, { to }: Flags): AnswerFormat {
  const named = to ?? formatOf(output) ?? (format === "json" ? "json" : "ndjson");
  if (named !== "csv") return named;
  throw new Fault("configuration_invalid", "Answers are JSON or NDJSON, not CSV; give OUT another name, or --to.");
}

/** The answer for one company, to read, or as JSON where that is asked for or the name of OUT promises it. */
async function* report(input: unknown, output: string, flags: Flags): AsyncGenerator<string> {
  const answer = totalClimateRisk(withDefaults(input, flags));
  const isJson = flags.json === true || flags.to !== undefined || formatOf(output) !== undefined;
  yield isJson ? `${encodeJson(answer)}\n` : describeCompany(answer);
}

/** The answers for many, as text, some at a time. */
async function* answers(
  entries: AsyncIterable<CompanyEntry>,
  to: AnswerFormat,
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
    ...(scenarios === undefined ? {} : { transition_scenarios: scenarios.split(",") }),
    ...(years === undefined ? {} : { assessment_years: years.split(",").map((year) => readNumber(year.trim())) }),
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
