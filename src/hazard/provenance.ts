/** Reads the provenance of an atlas's layers: return periods, climate models, product. */
import type { GroupEntry } from "../atlas/catalog.ts";

type Provenance = Readonly<Record<string, unknown>>;

/** Source of the layers of one scenario and analysis year, as listed in a response. */
export interface NamedSource {
  /** `<hazard>/<scenario>/<analysis year>`. */
  readonly id: string;
  /**
   * Provenance of the layers without the list of source maps: for five models with nine maps each, the list would add 5
   * kB to every response. The catalog contains it under the same hazard, scenario and year.
   */
  readonly record: Readonly<Record<string, unknown>>;
  /** Ascending; undefined if the metrics were not derived from return-period maps. */
  readonly returnPeriodsYears: readonly number[] | undefined;
  /** Sorted names of the climate models; empty if the provenance states none. */
  readonly models: readonly string[];
}

const sources = new WeakMap<GroupEntry, NamedSource>();

/** Returns the source of a group of layers. Every call for the group returns the same object. */
export function sourceOf(hazard: string, entry: GroupEntry): NamedSource {
  let source = sources.get(entry);
  if (source === undefined) {
    source = readSource(hazard, entry);
    sources.set(entry, source);
  }
  return source;
}

function readSource(hazard: string, { scenario, year, provenance }: GroupEntry): NamedSource {
  const { return_period_maps, metric_maps, source_maps, ...stated } = provenance;
  const curves = listOf(return_period_maps).map((curve) => ({
    model: curve["model"],
    periods: listOf(curve["maps"]).map(({ return_period_years }) => return_period_years),
  }));
  const models = curves.flatMap(({ model }) => (typeof model === "string" ? [model] : [])).toSorted();
  const returnPeriodsYears = ascending(provenance["return_periods_years"]) ?? sharedPeriods(curves);
  const seriesMapCount = listOf(source_maps).reduce((count, { map_count }) => count + Number(map_count), 0);
  const mapCount =
    seriesMapCount || curves.reduce((count, { periods }) => count + periods.length, 0) + listOf(metric_maps).length;
  const record = Object.freeze({
    scenario,
    analysis_year: year,
    ...stated,
    ...(models.length === 0 ? {} : { climate_models: models }),
    ...(returnPeriodsYears === undefined ? {} : { return_periods_years: returnPeriodsYears }),
    ...(mapCount === 0 ? {} : { map_count: mapCount }),
  });
  return { id: `${hazard}/${scenario}/${year}`, record, returnPeriodsYears, models };
}

/** Returns the return periods that all models share; undefined if they differ, which ingest rejects. */
function sharedPeriods(curves: readonly { readonly periods: readonly unknown[] }[]): readonly number[] | undefined {
  const [first, ...others] = curves.map(({ periods }) => ascending(periods));
  if (first === undefined || others.some((periods) => periods?.join() !== first.join())) return undefined;
  return first;
}

/** Returns return periods in ascending order; undefined if the value is not a non-empty list of positive numbers. */
function ascending(periods: unknown): readonly number[] | undefined {
  if (!Array.isArray(periods) || periods.length === 0) return undefined;
  const years: number[] = [];
  for (const period of periods as readonly unknown[]) {
    if (typeof period !== "number" || !(period > 0)) return undefined;
    years.push(period);
  }
  return years.toSorted((a, b) => a - b);
}

function listOf(value: unknown): readonly Provenance[] {
  return Array.isArray(value) ? (value as readonly Provenance[]) : [];
}

/**
 * Returns why the change between two sources reflects more than climate: different products, models, return periods,
 * subsidence or percentiles. Empty if both are the same source.
 */
export function changeCaveats(own: NamedSource, baseline: NamedSource): readonly string[] {
  if (own.id === baseline.id) return [];
  const caveats: string[] = [];
  for (const [property, members] of COMPARED_PROPERTIES) {
    const [ownText, baselineText] = [own, baseline].map(({ record }) => statedOf(record, members));
    if (ownText === baselineText) continue;
    caveats.push(
      `The ${property} differs: ${ownText ?? "not stated"} for ${scenarioYearName(own)}, ${baselineText ?? "not stated"} for the baseline.`,
    );
  }
  if (own.models.join() !== baseline.models.join()) {
    caveats.push(
      `The climate models differ, so their bias is part of the change: ${modelsOf(own)} for ${scenarioYearName(own)}, ` +
        `${modelsOf(baseline)} for the baseline.`,
    );
  }
  if (own.returnPeriodsYears?.join() !== baseline.returnPeriodsYears?.join()) {
    caveats.push(
      `The return periods differ: ${periodsOf(own)} for ${scenarioYearName(own)}, ${periodsOf(baseline)} for the baseline.`,
    );
  }
  return caveats;
}

/** Compared properties, each with the members of a provenance that state it. */
const COMPARED_PROPERTIES: readonly (readonly [string, readonly string[]])[] = [
  ["product", ["product", "version"]],
  ["recipe", ["recipe"]],
  ["definition", ["definition"]],
  ["subsidence", ["subsidence"]],
  ["percentile of sea level", ["sea_level_percentile"]],
  ["percentile", ["percentile"]],
];

function statedOf(record: Provenance, members: readonly string[]): string | undefined {
  const notes = members.flatMap((member) => {
    const value = record[member];
    return value === undefined || value === null ? [] : [typeof value === "string" ? value : JSON.stringify(value)];
  });
  return notes.length === 0 ? undefined : notes.join(" ");
}

function scenarioYearName({ record }: NamedSource): string {
  return `${String(record["scenario"])} ${String(record["analysis_year"])}`;
}

function modelsOf({ models }: NamedSource): string {
  return models.length === 0 ? "none stated" : models.join(", ");
}

function periodsOf({ returnPeriodsYears }: NamedSource): string {
  return returnPeriodsYears === undefined ? "none" : `${returnPeriodsYears.join(", ")} years`;
}
