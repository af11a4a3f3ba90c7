/**
 * Supplements of hazards: groups of kinds other than metrics, in separate packs. The catalog lists them under the
 * name `<hazard>.supplement`, so that readers that do not know them ignore them (docs/atlas-format.md).
 */
import type { GroupEntry, HazardEntry } from "./catalog.ts";

/**
 * Kinds of groups in a supplement. `curve` has one layer per return period; `curve_min` and `curve_max` have the smallest and
 * largest value over climate models at each return period; `metrics_min` and `metrics_max` have those of each metric.
 */
const SUPPLEMENT_KINDS = ["curve", "curve_min", "curve_max", "metrics_min", "metrics_max"] as const;
export type SupplementKind = (typeof SUPPLEMENT_KINDS)[number];

/** Largest number of return periods of a curve. */
export const RETURN_PERIOD_COUNT_MAX = 32;
/** Largest number of layers of a group; longer curves are divided into several groups of the same kind. */
export const GROUP_LAYER_COUNT_MAX = 8;

const SUFFIX = ".supplement";

/** Returns the name under which the catalog lists the supplement of a hazard. */
export function supplementName(hazard: string): string {
  return `${hazard}${SUFFIX}`;
}

/** Returns the name of the layer with the values at a return period. */
export function curveLayerName(returnPeriodYears: number): string {
  return `rp_${returnPeriodYears}`;
}

/** Returns the hazard of a supplement, or undefined if the name is that of a hazard. */
export function supplementedHazard(name: string): string | undefined {
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined;
}

/** Returns the kind of a group of a supplement; undefined if this release does not know it. */
export function supplementKindOf({ provenance }: Pick<GroupEntry, "provenance">): SupplementKind | undefined {
  return SUPPLEMENT_KINDS.find((kind) => kind === provenance["kind"]);
}

/**
 * Returns the return period of each layer of a curve group.
 * @returns undefined unless there is one return period per layer, positive and ascending
 */
export function returnPeriodsOf({ layers, provenance }: GroupEntry): readonly number[] | undefined {
  const periods: unknown = provenance["return_periods_years"];
  if (!Array.isArray(periods) || periods.length !== layers.length) return undefined;
  const years = periods as readonly unknown[];
  const isAscending = years.every((period, i) => typeof period === "number" && period > Number(years[i - 1] ?? 0));
  return isAscending ? (years as readonly number[]) : undefined;
}

/**
 * Marks the groups of supplements as superseded whose metrics are no longer those of the same maps: a writer that does not know
 * supplements replaces only the metrics.
 */
export function withoutStaleSupplements(hazards: readonly HazardEntry[]): readonly HazardEntry[] {
  const livePacks = new Map<string, string>();
  for (const { hazard, packs } of hazards) {
    for (const { id, groups } of packs) {
      for (const { scenario, year, superseded } of groups) {
        if (superseded !== true) livePacks.set(`${hazard}/${scenario}/${year}`, id);
      }
    }
  }
  return hazards.map((entry) => {
    const hazard = supplementedHazard(entry.hazard);
    if (hazard === undefined) return entry;
    const isStale = ({ scenario, year, provenance }: GroupEntry): boolean =>
      livePacks.get(`${hazard}/${scenario}/${year}`) !== provenance["metrics_pack"];
    const packs = entry.packs.map((pack) => ({
      ...pack,
      groups: pack.groups.map((group) => (isStale(group) ? { ...group, superseded: true } : group)),
    }));
    return { ...entry, packs };
  });
}
