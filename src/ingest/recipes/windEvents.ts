/** Recipe for storms: the footprints of all storms of a period, and its length in years. */
import { HAZARDS } from "../../hazard/hazards.ts";
import type { WindEvents } from "../computedMethod.ts";
import { largestCountOf } from "../computed/windEvents.ts";
import type { GroupPlan, HazardPlan } from "../plan.ts";
import { type RasterOptions, sourceFault } from "../raster.ts";
import type { MapOpener, Recipe } from "./recipe.ts";
import { findGroupSeries, type FoundGroup, statedProvenance } from "./groupManifest.ts";
import { onlyManifest, withManifestOptions } from "./manifestFile.ts";
import { computedMetrics, mapsOfSeries, openSeries, runsOf } from "./seriesFiles.ts";
import { readWindEventsManifest, type WindEventsGroup, type WindEventsManifest } from "./windEventsManifest.ts";

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
