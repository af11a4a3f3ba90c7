/** The JSON manifest of `ingest wind-events`. */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { FaultItem } from "../../errors.ts";
import { HAZARDS } from "../../hazard/hazards.ts";
import { groupKeyErrors, type HasError, manifestError, readManifestFile, scenarioYearErrors } from "./manifestFile.ts";
import {
  CLOSED,
  positiveSchema,
  ProxyOfSchema,
  ScenarioSchema,
  SCHEMA_MEMBER,
  SERIES_MEMBERS,
  SeriesOptionsSchema,
  SourceSchema,
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
export const WindEventsManifestSchema = Type.Object(
  {
    ...SCHEMA_MEMBER,
    source: SourceSchema,
    rules: Type.Optional(WindRulesSchema),
    options: Type.Optional(SeriesOptionsSchema),
    groups: Type.Array(Group, { minItems: 1 }),
  },
  CLOSED,
);

export type WindEventsManifest = Static<typeof WindEventsManifestSchema>;
export type WindEventsGroup = Static<typeof Group>;

const checker = Compile(WindEventsManifestSchema);

/**
 * Reads a manifest and checks everything that can be checked without opening a map.
 * @throws Fault `invalid_request` with one item for each error, each with its JSON pointer
 */
export async function readWindEventsManifest(path: string): Promise<WindEventsManifest> {
  const ruleErrors = (value: unknown, hasError: HasError): readonly FaultItem[] =>
    findErrors(value as WindEventsManifest, hasError);
  return (await readManifestFile(path, { checker, ruleErrors })) as WindEventsManifest;
}

function findErrors({ groups, rules }: WindEventsManifest, hasError: HasError): readonly FaultItem[] {
  if (!Array.isArray(groups)) return [];
  const designYears = rules?.design_return_period_years ?? HAZARDS.cyclones.rules.design_return_period_years ?? NaN;
  const items: FaultItem[] = [...groupKeyErrors(groups, hasError)];
  for (const [index, group] of groups.entries()) {
    const pointer = `/groups/${index}`;
    if (typeof group !== "object" || group === null) continue;
    items.push(...scenarioYearErrors(HAZARDS.cyclones, group, { pointer, hasError }));
    if (
      group.probability_only === true ||
      ["/rules/design_return_period_years", `${pointer}/span_years`].some(hasError)
    )
      continue;
    if (group.span_years >= designYears) continue;
    const detail =
      `storms of ${group.span_years} years determine no wind speed with a return period of ${designYears} years, because there is no value beyond the ` +
      "largest storm. Set probability_only, or a smaller design_return_period_years in rules, which then applies to the whole atlas.";
    items.push(manifestError(`${pointer}/span_years`, "out_of_range", detail));
  }
  return items;
}
