/** The JSON manifest of `ingest wind-events`. */
import { type Static, Type } from "typebox";
import type { FaultItem } from "../../errors.ts";
import { HAZARDS } from "../../hazard/hazards.ts";
import { groupManifestReader, groupManifestSchema, type GroupPlace } from "./groupManifest.ts";
import { manifestError } from "./manifestFile.ts";
import {
  CLOSED,
  positiveSchema,
  ProxyOfSchema,
  ScenarioSchema,
  SERIES_MEMBERS,
  UnitFactorSchema,
  WindRulesSchema,
  YearSchema,
} from "./manifestSchemas.ts";

const Events = Type.Object(
  {
    ...SERIES_MEMBERS,
    unit_factor: Type.Optional(UnitFactorSchema),
    missing: Type.Optional(
      Type.Enum(["calm"], {
        description:
          "Reads missing values as no wind, for footprints that are missing outside of the storm. Without it, a cell that is missing in " +
          "any footprint is missing.",
      }),
    ),
  },
  {
    ...CLOSED,
    description:
      "The footprints of all storms of the period: the largest 1-minute wind of each storm, one map for each storm.",
  },
);

const Group = Type.Object(
  {
    scenario: ScenarioSchema,
    year: YearSchema,
    span_years: positiveSchema(
      "Number of years in which the storms occurred, of the observations or of the simulation.",
    ),
    events: Events,
    probability_only: Type.Optional(
      Type.Boolean({
        description: "Computes no wind speed, for periods that are shorter than the design return period.",
      }),
    ),
    proxy_of: Type.Optional(ProxyOfSchema),
  },
  { ...CLOSED, description: "The layers of one scenario and year." },
);

/** The schema of the manifest, published as docs/schemas/wind-events-manifest.json. */
export const WindEventsManifestSchema = groupManifestSchema(WindRulesSchema, Group);

export type WindEventsManifest = Static<typeof WindEventsManifestSchema>;
export type WindEventsGroup = Static<typeof Group>;

export const readWindEventsManifest = groupManifestReader<WindEventsManifest>(WindEventsManifestSchema, {
  spec: HAZARDS.cyclones,
  errorsOf: spanErrors,
});

/** Returns the error of a period that is too short for the wind speed. */
function spanErrors(
  group: WindEventsGroup,
  { manifest, pointer, hasError }: GroupPlace<WindEventsManifest>,
): readonly FaultItem[] {
  if (
    group.probability_only === true ||
    ["/rules/design_return_period_years", `${pointer}/span_years`].some((member) => hasError(member))
  )
    return [];
  const designYears =
    manifest.rules?.design_return_period_years ?? HAZARDS.cyclones.rules.design_return_period_years ?? NaN;
  if (group.span_years >= designYears) return [];
  const detail =
    `storms of ${group.span_years} years determine no wind speed with a return period of ${designYears} years, because there is no value beyond the ` +
    "largest storm. Set probability_only, or a smaller design_return_period_years in rules, which then applies to the whole atlas.";
  return [manifestError(`${pointer}/span_years`, "out_of_range", detail)];
}
