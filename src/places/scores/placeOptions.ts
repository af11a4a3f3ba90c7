import { PlaceFileOptionsSchema, PlaceOptionsSchema } from "../../contract/placeOptions.ts";
import type { PlaceFileOptions, PlaceOptions } from "../../contract/wireTypes.ts";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../../errors.ts";
import { findSchemaErrors, summarizeItems, type ValueSchema } from "../../validation/schemaErrors.ts";

/** Members of the options of files, with the reason why other options do not have them. */
const FILE_MEMBERS: Readonly<Record<string, string>> = {
  layout: "layout applies to files; scorePortfolio returns the results of each place together.",
  columns: "columns applies to files; rows have the members latitude, longitude and radius.",
  radius_column: "radius_column applies to files; rows have the member radius.",
};

/** Options of a call of the library. */
export interface ScorePortfolioOptions extends PlaceOptions {
  /** Stops the scores: the iterator throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const CALL_SCHEMA: ValueSchema = {
  ...PlaceOptionsSchema,
  properties: { ...PlaceOptionsSchema.properties, signal: { type: "signal" } },
};

/**
 * Validates the options of a call of the library. Whether an atlas has what they select is checked by `planScores`.
 * @throws Fault `invalid_request` with all errors, up to 100
 */
export function parsePlaceOptions(input: unknown): ScorePortfolioOptions {
  const ofFiles = Object.keys(FILE_MEMBERS).filter((name) => memberOf(input, name) !== undefined);
  check(input, CALL_SCHEMA, {
    skip: new Set(ofFiles),
    others: ofFiles.map((name) => ({ pointer: `/${name}`, code: "not_expected", detail: FILE_MEMBERS[name] ?? "" })),
  });
  return input as ScorePortfolioOptions;
}

/**
 * Validates the options of a file of places, from a JSON file or a command line.
 * @throws Fault `invalid_request` with all errors, up to 100
 */
export function parsePlaceFileOptions(input: unknown): PlaceFileOptions {
  check(input, PlaceFileOptionsSchema);
  return input as PlaceFileOptions;
}

/** Returns the JSON Schema (draft 2020-12) of the options of a file of places. */
export function placeFileOptionsSchemaText(): string {
  const document = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Options of isotherm portfolio",
    ...PlaceFileOptionsSchema,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function check(
  input: unknown,
  schema: ValueSchema,
  {
    others = [],
    skip = new Set(),
  }: { readonly others?: readonly FaultItem[]; readonly skip?: ReadonlySet<string> } = {},
): void {
  const schemaItems = findSchemaErrors(schema, input, { name: "The options", skip });
  const items = [...schemaItems, ...others, ...conflictsIn(input)].slice(0, FAULT_ITEM_COUNT_MAX);
  if (items.length > 0) throw new Fault("invalid_request", summarizeItems(items, "the options"), { items });
}

/** Returns the errors of members that contradict each other. */
function conflictsIn(input: unknown): readonly FaultItem[] {
  const items: FaultItem[] = [];
  const metrics = memberOf(input, "metrics");
  if (memberOf(input, "total_hazard") === false && Array.isArray(metrics) && metrics.includes("total_hazard")) {
    const detail = "total_hazard must not be false if metrics contains total_hazard.";
    items.push({ pointer: "/total_hazard", code: "not_allowed", detail });
  }
  if (memberOf(input, "anthropogenic") === true && memberOf(input, "thresholds") !== undefined) {
    const detail =
      "thresholds must not be given with anthropogenic: a change of metrics has no return-period curve. " +
      "Score the portfolio twice.";
    items.push({ pointer: "/thresholds", code: "not_expected", detail });
  }
  return items;
}

function memberOf(input: unknown, name: string): unknown {
  return typeof input === "object" && input !== null ? (input as Readonly<Record<string, unknown>>)[name] : undefined;
}
