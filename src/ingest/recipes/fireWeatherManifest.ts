/** The JSON manifest of `ingest fire-weather`. */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { FaultItem } from "../../errors.ts";
import { HAZARDS } from "../../hazard/hazards.ts";
import { groupKeyErrors, type HasError, manifestError, readManifestFile, scenarioYearErrors } from "./manifestFile.ts";
import {
  CLOSED,
  FireRulesSchema,
  positiveSchema,
  ProxyOfSchema,
  ScenarioSchema,
  SCHEMA_MEMBER,
  SERIES_MEMBERS,
  SeriesOptionsSchema,
  SourceSchema,
  textSchema,
  YearSchema,
} from "./manifestSchemas.ts";

const Daily = Type.Object(
  {
    ...SERIES_MEMBERS,
    missing_days: Type.Optional(
      Type.Enum(["no_danger"], {
        description:
          "Counts missing and absent days as days without danger, for series that end with the fire season. Without it, a cell that is " +
          "missing on any day is missing, and every day of a year must be present.",
      }),
    ),
    first_day: Type.Optional(
      Type.String({
        pattern: String.raw`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`,
        description: "Date of the first map, YYYY-MM-DD, for files that state no dates. The others follow day by day.",
      }),
    ),
  },
  { ...CLOSED, description: "A daily series of the Fire Weather Index (FWI): one map for each day." },
);

const AnnualMaximum = Type.Object(SERIES_MEMBERS, {
  ...CLOSED,
  description: "The largest Fire Weather Index of each year: one map for each year.",
});

const DangerDays = Type.Object(
  {
    ...SERIES_MEMBERS,
    above_fwi: Type.Optional(
      positiveSchema(
        "The Fire Weather Index above which the product counts days. It must equal the danger_threshold of the rules.",
      ),
    ),
    definition: Type.Optional(
      textSchema(
        "What the product counts instead, such as days above a local percentile. It is copied to the provenance.",
      ),
    ),
  },
  {
    ...CLOSED,
    description:
      "Days of fire danger: one map for each year, or one of their mean. Either above_fwi or definition is required.",
  },
);

const Group = Type.Object(
  {
    scenario: ScenarioSchema,
    year: YearSchema,
    years: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 9999 }), {
        minItems: 2,
        maxItems: 2,
        description: "First and last year of the series to use, such as [1991, 2020]. Default: all years.",
      }),
    ),
    daily: Type.Optional(Daily),
    annual: Type.Optional(
      Type.Object(
        { maximum: Type.Optional(AnnualMaximum), danger_days: Type.Optional(DangerDays) },
        { ...CLOSED, description: "Indicators of each year; at least one of them is required." },
      ),
    ),
    proxy_of: Type.Optional(ProxyOfSchema),
  },
  { ...CLOSED, description: "The layers of one scenario and year, from either daily or annual." },
);

/** The schema of the manifest, published as docs/schemas/fire-weather-manifest.json. */
export const FireWeatherManifestSchema = Type.Object(
  {
    ...SCHEMA_MEMBER,
    source: SourceSchema,
    rules: Type.Optional(FireRulesSchema),
    options: Type.Optional(SeriesOptionsSchema),
    groups: Type.Array(Group, { minItems: 1 }),
  },
  CLOSED,
);

export type FireWeatherManifest = Static<typeof FireWeatherManifestSchema>;
export type FireWeatherGroup = Static<typeof Group>;

const checker = Compile(FireWeatherManifestSchema);

/**
 * Reads a manifest and checks everything that can be checked without opening a map.
 * @throws Fault `invalid_request` with one item for each error, each with its JSON pointer
 */
export async function readFireWeatherManifest(path: string): Promise<FireWeatherManifest> {
  const ruleErrors = (value: unknown, hasError: HasError): readonly FaultItem[] =>
    findErrors(value as FireWeatherManifest, hasError);
  return (await readManifestFile(path, { checker, ruleErrors })) as FireWeatherManifest;
}

function findErrors({ groups, rules }: FireWeatherManifest, hasError: HasError): readonly FaultItem[] {
  if (!Array.isArray(groups)) return [];
  const dangerThreshold = rules?.danger_threshold ?? HAZARDS.wildfire.rules.danger_threshold;
  const items: FaultItem[] = [...groupKeyErrors(groups, hasError)];
  for (const [index, group] of groups.entries()) {
    const pointer = `/groups/${index}`;
    if (typeof group !== "object" || group === null) continue;
    items.push(...scenarioYearErrors(HAZARDS.wildfire, group, { pointer, hasError }));
    const { years, daily, annual } = group;
    if (years !== undefined && !hasError(`${pointer}/years`) && (years[0] ?? 0) > (years[1] ?? 0)) {
      const detail = `the first year must not be after the last (got ${years.join(" to ")}).`;
      items.push(manifestError(`${pointer}/years`, "out_of_range", detail));
    }
    const firstDay = daily?.first_day;
    if (firstDay !== undefined && !hasError(`${pointer}/daily/first_day`) && !isDate(firstDay)) {
      items.push(manifestError(`${pointer}/daily/first_day`, "not_allowed", `there is no day ${firstDay}.`));
    }
    if (hasError(`${pointer}/daily`) || hasError(`${pointer}/annual`)) continue;
    if ((daily === undefined) === (annual === undefined))
      items.push(manifestError(pointer, "not_expected", "a group must have either daily or annual, not both."));
    if (annual === undefined) continue;
    const { danger_days: days } = annual;
    if (annual.maximum === undefined && days === undefined) {
      const detail = "at least one of maximum and danger_days is required.";
      items.push(manifestError(`${pointer}/annual`, "missing", detail));
    }
    if (days === undefined) continue;
    if ((days.above_fwi === undefined) === (days.definition === undefined)) {
      const detail =
        `either above_fwi or definition is required, not both: "above_fwi": ${dangerThreshold} if the product counts days with a Fire Weather ` +
        "Index above it, or a definition of the counted days, such as days above a local percentile.";
      items.push(manifestError(`${pointer}/annual/danger_days`, "missing", detail));
    } else if (
      days.above_fwi !== undefined &&
      days.above_fwi !== dangerThreshold &&
      !hasError("/rules/danger_threshold")
    ) {
      const detail =
        `days above ${days.above_fwi} are not days above the danger_threshold ${dangerThreshold}. Set danger_threshold in rules, ` +
        "which then applies to all layers of the atlas, or describe the days in definition.";
      items.push(
        manifestError(`${pointer}/annual/danger_days/above_fwi`, "not_allowed", detail, [dangerThreshold ?? NaN]),
      );
    }
  }
  return items;
}

/** Returns whether a text of the form YYYY-MM-DD is a day of the calendar. */
function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  // February 30 becomes March 2.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
