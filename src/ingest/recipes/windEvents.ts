/** Recipe for storms: the footprints of all storms of a period, and its length in years. */
import { HAZARDS } from "../../hazard/hazards.ts";
import type { WindEvents } from "../computedMethod.ts";
import { largestCountOf } from "../computed/seriesMetrics.ts";
import type { GroupPlan, HazardPlan } from "../plan.ts";
import { type RasterOptions, sourceFault } from "../raster.ts";
import type { MapOpener, Recipe } from "./recipe.ts";
import {
  computedMetrics,
  findGroupSeries,
  type FoundGroup,
  groupManifestReader,
  groupManifestSchema,
  type GroupPlace,
  mapsOfSeries,
  openSeries,
  runsOf,
  statedProvenance,
} from "./seriesFiles.ts";
import { manifestError, onlyManifest, withManifestOptions } from "./manifestFile.ts";
import { type Static, Type } from "typebox";
import type { FaultItem } from "../../errors.ts";
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

/** A manifest and the files of each of its groups. */
interface WindEventsSources {
  readonly manifest: WindEventsManifest;
  readonly groups: readonly FoundGroup<WindEventsGroup, "events">[];
}

async function findWindEvents(path: string): Promise<WindEventsSources> {
  const manifest = await readWindEventsManifest(path);
  return { manifest, groups: await findGroupSeries(path, manifest.groups, ({ events }) => ({ events })) };
}

export const windEvents: Recipe = {
  name: "wind-events",
  hazard: "cyclones",
  summary: "ingest the wind footprints of all storms of a period, described in a JSON manifest",
  manifestArgument: "one JSON manifest, see docs/recipes/wind-events.md",
  help: `
Example of a manifest:
  { "source": { "name": "...", "licence": "..." },
    "groups": [{ "scenario": "baseline", "year": 1980, "span_years": 10000,
                 "events": { "files": "storms_*.nc", "variable": "max_wind_speed", "missing": "calm" } }] }

Example:
  isotherm ingest wind-events maps/storms.json --out data/atlas`,
  options: [],
  async find({ sources }) {
    const found = await findWindEvents(onlyManifest(sources));
    return { ignoredFiles: [], plan: async (maps, options) => [await planWindEvents(found, maps, options)] };
  },
};

/**
 * Opens the footprints and plans the groups to write.
 * @throws Fault `source_invalid` if there are fewer than two storms, or too few for the design return period
 */
async function planWindEvents(
  { manifest, groups }: WindEventsSources,
  maps: Pick<MapOpener, "open">,
  givenOptions: RasterOptions,
): Promise<HazardPlan> {
  const rules = { ...HAZARDS.cyclones.rules, ...manifest.rules };
  const options = withManifestOptions(manifest.options, givenOptions);
  const plans: GroupPlan[] = [];
  for (const { group, series } of groups) {
    const { scenario, year, span_years: spanYears } = group;
    const { unit_factor: unitFactor = 1, missing } = group.events;
    const quantity = { metric: "wind_speed_mps", unit: "m/s", unitFactor: group.events.unit_factor } as const;
    const parts = await openSeries(maps, series.events, { options, quantity });
    const storms = mapsOfSeries(parts);
    const designYears = group.probability_only === true ? undefined : rules.design_return_period_years;
    const method: WindEvents = {
      kind: "wind-events",
      events: runsOf(storms),
      spanYears,
      unitFactor,
      thresholdMps: rules.threshold,
      designReturnPeriodYears: designYears,
      isMissingCalm: missing === "calm",
    };
    const stormCountMin = Math.max(2, largestCountOf(method));
    if (storms.length < stormCountMin) {
      const what = storms.length === 1 ? "one storm" : `${storms.length} storms`;
      throw sourceFault(
        parts[0]?.file ?? "",
        `the series has ${what} in ${spanYears} years; at least ${stormCountMin} are needed for the metrics of ${scenario} ${year}.`,
      );
    }
    const provenance = {
      ...statedProvenance("wind-events", manifest.source, group),
      method:
        `from storms: probability 1 - exp(-n / ${spanYears}) of ${rules.threshold} m/s for n storms that reach it` +
        (designYears === undefined
          ? ""
          : "; wind speed linear in the logarithm of the rate i / years of the i-th largest storm"),
      storm_count: storms.length,
      span_years: spanYears,
      ...(unitFactor === 1 ? {} : { unit_factor: unitFactor }),
      missing_values: method.isMissingCalm ? "mean no wind" : "make the cell missing",
    };
    plans.push({ scenario, year, provenance, content: computedMetrics(parts, method) });
  }
  return { hazard: "cyclones", rules, groups: plans };
}

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

type WindEventsManifest = Static<typeof WindEventsManifestSchema>;
type WindEventsGroup = Static<typeof Group>;

const readWindEventsManifest = groupManifestReader<WindEventsManifest>(WindEventsManifestSchema, {
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
