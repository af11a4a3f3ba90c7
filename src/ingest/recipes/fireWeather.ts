/** Recipe for fire weather: daily series of the Fire Weather Index (FWI), or its annual indicators. */
import { Fault, FAULT_ITEM_COUNT_MAX } from "../../errors.ts";
import { HAZARDS } from "../../hazard/hazards.ts";
import type { AnnualFireWeather, DailyFireWeather } from "../computedMethod.ts";
import type { GroupPlan, HazardPlan } from "../plan.ts";
import { type Raster, type RasterOptions, sourceFault } from "../raster.ts";
import { type FireWeatherGroup, type FireWeatherManifest, readFireWeatherManifest } from "./fireWeatherManifest.ts";
import {
  describeIncomplete,
  describeYears,
  type IncompleteYear,
  mapsByYear,
  type YearRange,
  yearsOfDays,
} from "./fireYears.ts";
import {
  computedMetrics,
  findGroupSeries,
  type FoundGroup,
  mapsOfSeries,
  openSeries,
  runsOf,
  statedProvenance,
} from "./seriesFiles.ts";
import type { MapOpener, Recipe } from "./recipe.ts";
import { onlyManifest, withManifestOptions } from "./manifestFile.ts";

/** A manifest and the files of each of its groups. */
interface FireWeatherSources {
  readonly manifest: FireWeatherManifest;
  readonly groups: readonly FoundGroup<FireWeatherGroup, "daily" | "annual/maximum" | "annual/danger_days">[];
}

async function findFireWeather(path: string): Promise<FireWeatherSources> {
  const manifest = await readFireWeatherManifest(path);
  const groups = await findGroupSeries(path, manifest.groups, ({ daily, annual }) => ({
    daily,
    "annual/maximum": annual?.maximum,
    "annual/danger_days": annual?.danger_days,
  }));
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
  const opening: Opening = { maps, options, recipeRules: { dangerThreshold, threshold, intensityReference } };
  const plans: GroupPlan[] = [];
  const incomplete: IncompleteSeries[] = [];
  for (const found of groups) {
    const { scenario, year } = found.group;
    const planned =
      found.series.daily === undefined ? await planAnnual(found, opening) : await planDaily(found, opening);
    if ("incompleteYears" in planned) incomplete.push(planned);
    else {
      const stated = statedProvenance("fire-weather", manifest.source, found.group);
      plans.push({ scenario, year, content: planned.content, provenance: { ...stated, ...planned.provenance } });
    }
  }
  throwIncomplete(incomplete);
  return { hazard: "wildfire", rules, groups: plans };
}

/** How the series of a group are opened and evaluated. */
interface Opening {
  readonly maps: Pick<MapOpener, "open">;
  readonly options: RasterOptions;
  readonly recipeRules: Pick<DailyFireWeather, "dangerThreshold" | "threshold" | "intensityReference">;
}

type FoundFireGroup = FireWeatherSources["groups"][number];
type PlannedGroup = Pick<GroupPlan, "content" | "provenance">;

/** A series with absent days that the manifest does not accept. */
interface IncompleteSeries {
  readonly pointer: string;
  readonly incompleteYears: readonly IncompleteYear[];
}

const FWI = { metric: "the Fire Weather Index", unit: "1", unitFactor: undefined } as const;

async function planDaily(
  { group, pointer, series }: FoundFireGroup,
  { maps, options, recipeRules }: Opening,
): Promise<PlannedGroup | IncompleteSeries> {
  const { missing_days: missingDays, absent_days: absentDays, first_day: firstDay, calendar } = group.daily ?? {};
  const parts = await openSeries(maps, series.daily, { options, quantity: FWI });
  const dated = yearsOfDays(parts, mapsOfSeries(parts), {
    range: group.years as YearRange,
    declared: { firstDay, calendar: calendar ?? "standard" },
  });
  const { years, incompleteYears } = dated;
  if (incompleteYears.length > 0 && absentDays === undefined) return { pointer: `${pointer}/daily`, incompleteYears };
  const isMissingNoDanger = missingDays === "no_danger";
  const method: DailyFireWeather = { kind: "daily-fire-weather", years, ...recipeRules, isMissingNoDanger };
  const { dangerThreshold, threshold } = recipeRules;
  return {
    content: computedMetrics(parts, method),
    provenance: {
      method: `from daily values: mean number of days a year above ${dangerThreshold}, share of years that reach ${threshold}, mean annual maximum`,
      years: describeYears(years.map(({ year }) => year)),
      year_count: years.length,
      calendar: dated.calendar,
      missing_days: isMissingNoDanger ? "count as days without danger" : "make the cell missing",
      ...(incompleteYears.length === 0
        ? {}
        : {
            absent_days: "count as days without danger",
            incomplete_years: incompleteYears.map(({ year, firstDay: first, lastDay: last, absentCount }) => ({
              year,
              first_day: first,
              last_day: last,
              absent_day_count: absentCount,
            })),
          }),
    },
  };
}

/** @throws Fault `source_invalid` with one item for each year with absent days */
function throwIncomplete(series: readonly IncompleteSeries[]): void {
  const years = series.flatMap(({ pointer, incompleteYears }) => incompleteYears.map((year) => ({ pointer, year })));
  const [first] = years;
  if (first === undefined) return;
  const hint =
    'Leave out the year with "years", or count days without a map as days without danger with "absent_days": "no_danger".';
  if (years.length === 1) throw sourceFault(first.year.file, `${describeIncomplete(first.year)} ${hint}`);
  throw new Fault("source_invalid", `${years.length} years of the daily series have absent days. ${hint}`, {
    items: years.slice(0, FAULT_ITEM_COUNT_MAX).map(({ pointer, year }) => ({
      pointer,
      code: "missing",
      detail: `${year.file}: ${describeIncomplete(year)}`,
    })),
  });
}

async function planAnnual(
  { group, series }: FoundFireGroup,
  { maps, options, recipeRules: { threshold, intensityReference } }: Opening,
): Promise<PlannedGroup> {
  const { annual, years: range } = group;
  const quantity = { metric: "fire_danger_days", unit: "days", unitFactor: undefined } as const;
  const maximumParts = await openSeries(maps, series["annual/maximum"], { options, quantity: FWI });
  const daysParts = await openSeries(maps, series["annual/danger_days"], { options, quantity });
  const definition = annual?.danger_days?.definition;
  if (definition === undefined) checkNoPercentile(daysParts);
  const maxima = mapsByYear(maximumParts, mapsOfSeries(maximumParts), range as YearRange);
  const days = mapsByYear(daysParts, mapsOfSeries(daysParts), range as YearRange);
  checkAnnual({ maximumParts, daysParts }, maxima, days);
  const method: AnnualFireWeather = {
    kind: "annual-fire-weather",
    maxima: runsOf(maxima),
    days: runsOf(days, maximumParts.length),
    threshold,
    intensityReference,
  };
  const years = (maxima.length > 0 ? maxima : days).flatMap(({ year }) => year ?? []);
  const computed = [
    ...(days.length === 0 ? [] : ["mean of the days of fire danger"]),
    ...(maxima.length === 0 ? [] : [`share of years whose maximum reaches ${threshold}, mean annual maximum`]),
  ];
  return {
    content: computedMetrics([...maximumParts, ...daysParts], method),
    provenance: {
      method: `from annual indicators: ${computed.join(", ")}`,
      ...(years.length === 0 ? {} : { years: describeYears(years) }),
      year_count: maxima.length === 0 ? days.length : maxima.length,
      ...(definition === undefined ? {} : { definition }),
    },
  };
}

/** Names and descriptions of indicators that count days above a local percentile, such as those of CMIP6 fire weather data. */
const PERCENTILE = /percentile|quantile|fwixd|fwi[_ ]?p?9[05]\b|9[05](th|p\b)/i;

/** Rejects files of days above a percentile if the manifest declares days above an FWI. */
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
