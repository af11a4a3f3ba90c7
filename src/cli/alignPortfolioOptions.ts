import { type Command, InvalidArgumentError, Option } from "commander";
import { PORTFOLIO_METHODS, PORTFOLIO_SCOPES } from "../contract/names.ts";
import type { PortfolioMethod, PortfolioOptions, PortfolioScope } from "../contract/wireTypes.ts";
import { Fault } from "../errors.ts";
import { parseNumber } from "../validation/parameters.ts";
import { quote } from "../validation/schemaErrors.ts";

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
