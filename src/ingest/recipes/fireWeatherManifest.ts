/** The JSON manifest of `ingest fire-weather`. */
import { type Static, Type } from "typebox";
import type { FaultItem } from "../../errors.ts";
import { HAZARDS } from "../../hazard/hazards.ts";
import { type Calendar, dateOfText } from "../calendar.ts";
import { groupManifestReader, groupManifestSchema, type GroupPlace } from "./seriesFiles.ts";
import { manifestError } from "./manifestFile.ts";
import {
  CLOSED,
  FireRulesSchema,
  positiveSchema,
  ProxyOfSchema,
  ScenarioSchema,
  SERIES_MEMBERS,
  textSchema,
  YearSchema,
} from "./manifestSchemas.ts";

const DECLARED_CALENDARS = ["standard", "noleap", "all_leap", "360_day"] as const satisfies readonly Calendar[];

const Daily = Type.Object(
  {
    ...SERIES_MEMBERS,
    missing_days: Type.Optional(
      Type.Enum(["no_danger"], {
        description:
          "Counts days on which a cell is missing as days without danger, for maps without values outside of the fire season. Without it, a " +
          "cell that is missing on any day is missing.",
      }),
    ),
    absent_days: Type.Optional(
      Type.Enum(["no_danger"], {
        description:
          "Counts days without a map as days without danger, for series that have maps of the fire season only. Without it, a year with " +
          "absent days is rejected. The provenance lists the first and the last day of each such year.",
      }),
    ),
    first_day: Type.Optional(
      Type.String({
        pattern: String.raw`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`,
        description: "Date of the first map, YYYY-MM-DD, for files that state no dates. The others follow day by day.",
      }),
    ),
    calendar: Type.Optional(
      Type.Enum(DECLARED_CALENDARS, {
        description:
          "Calendar in which the days follow first_day: noleap has no leap days, 360_day has months of 30 days. Default standard.",
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
export const FireWeatherManifestSchema = groupManifestSchema(FireRulesSchema, Group);

export type FireWeatherManifest = Static<typeof FireWeatherManifestSchema>;
export type FireWeatherGroup = Static<typeof Group>;

export const readFireWeatherManifest = groupManifestReader<FireWeatherManifest>(FireWeatherManifestSchema, {
  spec: HAZARDS.wildfire,
  errorsOf: fireGroupErrors,
});

/** Returns the errors of a group. */
function* fireGroupErrors(
  { years, daily, annual }: FireWeatherGroup,
  { manifest, pointer, hasError }: GroupPlace<FireWeatherManifest>,
): Generator<FaultItem> {
  if (years !== undefined && !hasError(`${pointer}/years`) && (years[0] ?? 0) > (years[1] ?? 0)) {
    const detail = `the first year must not be after the last (got ${years.join(" to ")}).`;
    yield manifestError(`${pointer}/years`, "out_of_range", detail);
  }
  if (daily !== undefined) yield* firstDayErrors(daily, { pointer: `${pointer}/daily`, hasError });
  if (hasError(`${pointer}/daily`) || hasError(`${pointer}/annual`)) return;
  if ((daily === undefined) === (annual === undefined))
    yield manifestError(pointer, "not_expected", "a group must have either daily or annual, not both.");
  if (annual === undefined) return;
  const { danger_days: days } = annual;
  if (annual.maximum === undefined && days === undefined) {
    const detail = "at least one of maximum and danger_days is required.";
    yield manifestError(`${pointer}/annual`, "missing", detail);
  }
  if (days !== undefined)
    yield* definitionErrors(days, { manifest, pointer: `${pointer}/annual/danger_days`, hasError });
}

/** Returns errors of the date and the calendar of the first map. */
function* firstDayErrors(
  { first_day: firstDay, calendar }: Static<typeof Daily>,
  { pointer, hasError }: Omit<GroupPlace<FireWeatherManifest>, "manifest">,
): Generator<FaultItem> {
  if (hasError(`${pointer}/first_day`) || hasError(`${pointer}/calendar`)) return;
  if (firstDay === undefined) {
    const detail = "calendar applies only to files that state no dates; give first_day, too, or omit it.";
    if (calendar !== undefined) yield manifestError(`${pointer}/calendar`, "not_expected", detail);
  } else if (dateOfText(calendar ?? "standard", firstDay) === undefined) {
    const detail = `there is no day ${firstDay} in the calendar ${calendar ?? "standard"}.`;
    yield manifestError(`${pointer}/first_day`, "not_allowed", detail);
  }
}

/** Returns errors of what the days of danger are. */
function* definitionErrors(
  days: Static<typeof DangerDays>,
  { manifest: { rules }, pointer, hasError }: GroupPlace<FireWeatherManifest>,
): Generator<FaultItem> {
  const dangerThreshold = rules?.danger_threshold ?? HAZARDS.wildfire.rules.danger_threshold;
  if ((days.above_fwi === undefined) === (days.definition === undefined)) {
    const detail =
      `either above_fwi or definition is required, not both: "above_fwi": ${dangerThreshold} if the product counts days with a Fire Weather ` +
      "Index above it, or a definition of the counted days, such as days above a local percentile.";
    yield manifestError(pointer, "missing", detail);
  } else if (
    days.above_fwi !== undefined &&
    days.above_fwi !== dangerThreshold &&
    !hasError("/rules/danger_threshold")
  ) {
    const detail =
      `days above ${days.above_fwi} are not days above the danger_threshold ${dangerThreshold}. Set danger_threshold in rules, ` +
      "which then applies to all layers of the atlas, or describe the days in definition.";
    yield manifestError(`${pointer}/above_fwi`, "not_allowed", detail, [dangerThreshold ?? NaN]);
  }
}
