import { type HazardName, HAZARDS, type MetricName } from "../../../src/hazard/hazards.ts";
import type { ScoreGroup, ScoreRequest } from "../../../src/hazard/scoring/scoreRequest.ts";
import { type SeededRandom, shuffled } from "../../seededRandom.ts";

/** Options of a request that tests combine. */
export interface ScoreCase {
  readonly name: string;
  /** Radius of every place, or `mixed` for one of each place. */
  readonly radiusKm: number | "mixed";
  readonly method: "max" | "mean";
  readonly anthropogenic?: boolean;
  readonly totalHazard?: boolean;
  readonly thresholds?: Readonly<Partial<Record<HazardName, number>>>;
  readonly metrics?: readonly MetricName[];
  /** Whether the groups of a hazard are consecutive, as those of a plan: they are scored together. */
  readonly isByHazard?: boolean;
}

export const SCORE_CASES: readonly ScoreCase[] = [
  { name: "points", radiusKm: 0, method: "max" },
  { name: "points, hazard by hazard", radiusKm: 0, method: "max", isByHazard: true },
  {
    name: "depths at points, hazard by hazard",
    radiusKm: 0,
    method: "max",
    metrics: ["depth_meters"],
    isByHazard: true,
  },
  { name: "mixed radii, hazard by hazard", radiusKm: "mixed", method: "max", isByHazard: true },
  { name: "points with total_hazard", radiusKm: 0, method: "max", totalHazard: true },
  { name: "changes at points", radiusKm: 0, method: "max", anthropogenic: true, totalHazard: true },
  { name: "maxima", radiusKm: 40, method: "max", totalHazard: true },
  { name: "means", radiusKm: 60, method: "mean", totalHazard: true },
  { name: "changes of means", radiusKm: 60, method: "mean", anthropogenic: true, totalHazard: true },
  { name: "changes of maxima without total_hazard", radiusKm: 40, method: "max", anthropogenic: true },
  { name: "a radius of each place", radiusKm: "mixed", method: "mean" },
  { name: "thresholds", radiusKm: "mixed", method: "max", thresholds: { riverine_floods: 0.7, cyclones: 33 } },
  { name: "depths only", radiusKm: "mixed", method: "mean", metrics: ["depth_meters", "wind_speed_mps"] },
  { name: "total_hazard only", radiusKm: "mixed", method: "max", metrics: ["total_hazard"] },
];

/** Returns the groups of hazards, scenarios and years that a case requests, in random order, or hazard by hazard. */
export function groupsFor(
  random: SeededRandom,
  { totalHazard = false, thresholds = {}, metrics, isByHazard = false }: ScoreCase,
  layers: readonly Omit<ScoreGroup, "metrics">[],
): readonly ScoreGroup[] {
  const inOrder = shuffled(random, layers);
  if (isByHazard) inOrder.sort((a, b) => a.hazard.localeCompare(b.hazard));
  return inOrder.flatMap((layer) => {
    const offered = HAZARDS[layer.hazard].metrics
      .map(({ metric }) => metric)
      .filter((metric) => metrics?.includes(metric) ?? (metric !== "total_hazard" || totalHazard));
    const threshold = thresholds[layer.hazard];
    return offered.length === 0
      ? []
      : [{ ...layer, metrics: offered, ...(threshold === undefined ? {} : { threshold }) }];
  });
}

/** Returns random places, some of them at poles, on cell edges and at the antimeridian. */
export function placesFor(
  random: SeededRandom,
  { radiusKm }: Pick<ScoreCase, "radiusKm">,
  count: number,
): Pick<ScoreRequest, "latitudes" | "longitudes" | "radiiKm"> {
  const latitude = (): number =>
    random.pick([
      random.between({ min: -90, max: 90 }),
      random.between({ min: -40, max: 60 }),
      random.below(181) - 90,
      -0,
    ]);
  const longitude = (): number =>
    random.pick([
      random.between({ min: -180, max: 180 }),
      random.below(361) - 180,
      random.between({ min: 0, max: 90 }),
      180,
    ]);
  const radius = (): number => random.pick([0, 0, 1, random.between({ min: 0, max: 100 })]);
  return {
    latitudes: Float64Array.from({ length: count }, latitude),
    longitudes: Float64Array.from({ length: count }, longitude),
    radiiKm: Float64Array.from({ length: count }, () => (radiusKm === "mixed" ? radius() : radiusKm)),
  };
}
