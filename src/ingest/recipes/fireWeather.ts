/** Recipe for fire weather: daily series of the Fire Weather Index (FWI), or its annual indicators. */
import type { FaultItem } from "../../errors.ts";
import { HAZARDS } from "../../hazard/hazards.ts";
import type { AnnualFireWeather, DailyFireWeather } from "../computedMethod.ts";
import type { GroupPlan, HazardPlan } from "../plan.ts";
import { type Raster, type RasterOptions, sourceFault } from "../raster.ts";
import { type FireWeatherGroup, type FireWeatherManifest, readFireWeatherManifest } from "./fireWeatherManifest.ts";
import { describeYears, mapsByYear, type YearRange, yearsOfDays } from "./fireYears.ts";
import type { MapOpener, Recipe } from "./recipe.ts";
import { onlyManifest, sourceProvenance, throwManifestErrors, withManifestOptions } from "./manifestFile.ts";
import { computedMetrics, findSeries, type FoundSeries, mapsOfSeries, openSeries, runsOf } from "./seriesFiles.ts";

/** A manifest and the files of each of its groups. */
interface FireWeatherSources {
  readonly manifest: FireWeatherManifest;
  readonly groups: readonly {
    readonly group: FireWeatherGroup;
    readonly daily?: FoundSeries;
    readonly maximum?: FoundSeries;
    readonly dangerDays?: FoundSeries;
  }[];
}

/**
 * Reads the manifest and finds the files that it names.
 * @throws Fault `invalid_request` with one item for each error
 */
async function findFireWeather(path: string): Promise<FireWeatherSources> {
  const manifest = await readFireWeatherManifest(path);
  const items: FaultItem[] = [];
  const find = async (series: FoundSeries["series"] | undefined, pointer: string): Promise<FoundSeries | undefined> => {
    if (series === undefined) return undefined;
    const found = await findSeries(series, { manifest: path, pointer });
    items.push(...found.items);
    return found;
  };
  const groups: FireWeatherSources["groups"][number][] = [];
  for (const [index, group] of manifest.groups.entries()) {
    const pointer = `/groups/${index}`;
    const daily = await find(group.daily, `${pointer}/daily`);
    const maximum = await find(group.annual?.maximum, `${pointer}/annual/maximum`);
    const dangerDays = await find(group.annual?.danger_days, `${pointer}/annual/danger_days`);
    groups.push({
      group,
      ...(daily === undefined ? {} : { daily }),
      ...(maximum === undefined ? {} : { maximum }),
      ...(dangerDays === undefined ? {} : { dangerDays }),
    });
  }
  throwManifestErrors(path, items);
  return { manifest, groups };
}

export const fireWeather: Recipe = {
  name: "fire-weather",
  hazard: "wildfire",
  summary: "ingest the Fire Weather Index: daily series, or indicators of each year, described in a JSON manifest",
  manifestArgument: "one JSON manifest, see docs/recipes/fire-weather.md",
  help: `
Example of a manifest:
  { "source": { "name": "...", "licence": "..." },
    "groups": [{ "scenario": "baseline", "year": 1980, "years": [1971, 2000],
                 "daily": { "files": "fwi_*.nc", "variable": "FWI", "missing_days": "no_danger" } }] }

Example:
  isotherm ingest fire-weather maps/fwi.json --out data/atlas`,
  options: [],
  async find({ sources }) {
    const found = await findFireWeather(onlyManifest(sources));
    return { ignoredFiles: [], plan: async (maps, options) => [await planFireWeather(found, maps, options)] };
  },
};

/** Opens the maps and plans the groups to write. */
async function planFireWeather(
  { manifest, groups }: FireWeatherSources,
  maps: Pick<MapOpener, "open">,
  givenOptions: RasterOptions,
): Promise<HazardPlan> {
  const rules = { ...HAZARDS.wildfire.rules, ...manifest.rules };
  const { threshold, intensity_reference: intensityReference, danger_threshold: dangerThreshold = NaN } = rules;
  const options = withManifestOptions(manifest.options, givenOptions);
  const fwi = { metric: "the Fire Weather Index", unit: "1", unitFactor: undefined } as const;
  const plans: GroupPlan[] = [];
  for (const { group, daily, maximum, dangerDays } of groups) {
    const { scenario, year } = group;
    const range = group.years as YearRange;
    const stated = {
      ...sourceProvenance("fire-weather", manifest.source),
      ...(group.proxy_of === undefined ? {} : { proxy_of: group.proxy_of }),
    };
    if (daily !== undefined) {
      const parts = await openSeries(maps, daily, { options, quantity: fwi });
      const isMissingNoDanger = group.daily?.missing_days === "no_danger";
      const firstDay = group.daily?.first_day;
      const years = yearsOfDays(parts, mapsOfSeries(parts), { range, firstDay, isAbsentAllowed: isMissingNoDanger });
      const method: DailyFireWeather = {
        kind: "daily-fire-weather",
        years,
        dangerThreshold,
        threshold,
        intensityReference,
        isMissingNoDanger,
      };
      const provenance = {
        ...stated,
        method: `from daily values: mean number of days a year above ${dangerThreshold}, share of years that reach ${threshold}, mean annual maximum`,
        years: describeYears(years.map((each) => each.year)),
        year_count: years.length,
        missing_days: isMissingNoDanger ? "count as days without danger" : "make the cell missing",
      };
      plans.push({ scenario, year, provenance, content: computedMetrics(parts, method) });
      continue;
    }
    const quantity = { metric: "fire_danger_days", unit: "days", unitFactor: undefined } as const;
    const maximumParts = maximum === undefined ? [] : await openSeries(maps, maximum, { options, quantity: fwi });
    const daysParts = dangerDays === undefined ? [] : await openSeries(maps, dangerDays, { options, quantity });
    if (group.annual?.danger_days?.definition === undefined) checkNoPercentile(daysParts);
    const maxima = mapsByYear(maximumParts, mapsOfSeries(maximumParts), range);
    const days = mapsByYear(daysParts, mapsOfSeries(daysParts), range);
    checkAnnual({ maximumParts, daysParts }, maxima, days);
    const method: AnnualFireWeather = {
      kind: "annual-fire-weather",
      maxima: runsOf(maxima),
      days: runsOf(days, maximumParts.length),
      threshold,
      intensityReference,
    };
    const years = (maxima.length > 0 ? maxima : days).flatMap((each) => each.year ?? []);
    const definition = group.annual?.danger_days?.definition;
    const provenance = {
      ...stated,
      method: [
        "from annual indicators:",
        [
          ...(days.length === 0 ? [] : ["mean of the days of fire danger"]),
          ...(maxima.length === 0 ? [] : [`share of years whose maximum reaches ${threshold}, mean annual maximum`]),
        ].join(", "),
      ].join(" "),
      ...(years.length === 0 ? {} : { years: describeYears(years) }),
      ...(maxima.length === 0 ? { year_count: days.length } : { year_count: maxima.length }),
      ...(definition === undefined ? {} : { definition }),
    };
    plans.push({ scenario, year, provenance, content: computedMetrics([...maximumParts, ...daysParts], method) });
  }
  return { hazard: "wildfire", rules, groups: plans };
}

/** Names and descriptions of indicators that count days above a local percentile, such as those of CMIP6 fire weather data. */
const PERCENTILE = /percentile|quantile|fwixd|fwi[_ ]?p?9[05]\b|9[05](th|p\b)/i;

/** Rejects files that say that they count days above a percentile, although the manifest says that they count days above an FWI. */
function checkNoPercentile(parts: readonly Raster[]): void {
  for (const { file, bands } of parts) {
    const [band] = bands;
    const stated = [band?.name, band?.description].find((text) => text !== undefined && PERCENTILE.test(text));
    if (stated === undefined) continue;
    throw sourceFault(
      file,
      `describes its values as ${JSON.stringify(stated)}, which are days above a local percentile, not above an FWI. Describe them in ` +
        "definition instead of above_fwi; they are then another quantity than in other atlases.",
    );
  }
}

type YearlyMap = ReturnType<typeof mapsByYear>[number];

function checkAnnual(
  { maximumParts, daysParts }: { readonly maximumParts: readonly Raster[]; readonly daysParts: readonly Raster[] },
  maxima: readonly YearlyMap[],
  days: readonly YearlyMap[],
): void {
  if (maximumParts.length > 0 && maxima.length < 2) {
    throw sourceFault(
      maximumParts[0]?.file ?? "",
      "has one map of annual maxima; a probability needs at least two years. If the map is a mean over years, ingest it as intensity with " +
        "isotherm ingest layers.",
    );
  }
  if (maxima.length === 0 || days.length <= 1) return;
  const [ofMaxima, ofDays] = [maxima, days].map((each) => each.map(({ year }) => year ?? "").join());
  if (
    maxima.length === days.length &&
    (ofMaxima === ofDays || [...maxima, ...days].some(({ year }) => year === undefined))
  )
    return;
  const describe = (each: readonly YearlyMap[]): string => {
    const known = each.flatMap(({ year }) => year ?? []);
    return known.length === 0 ? `${each.length} years` : describeYears(known);
  };
  throw sourceFault(
    daysParts[0]?.file ?? "",
    `the days of fire danger are of ${describe(days)}, but the maxima of ${describe(maxima)}. Select the same years with years.`,
  );
}
