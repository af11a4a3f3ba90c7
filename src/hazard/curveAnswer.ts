/** Answers queries of return-period curves, at a point or over a circle. */
import type { LayerSet } from "../atlas/layerSet.ts";
import type { Sampler } from "../atlas/sampler.ts";
import type {
  CurveDetail,
  CurveResult,
  CurveYearResult,
  Exceedance,
  ExpectedAnnualDamage,
  ExpectedAnnualValue,
} from "../contract/wireTypes.ts";
import { Fault } from "../errors.ts";
import {
  amountAbove,
  damageShareAt,
  type Exceedance as ReachedProbability,
  type ExpectedAnnual,
  exceedanceOf,
  expectedAnnual,
  type ReturnPeriodCurve,
  valueAtReturnPeriod,
} from "../kernel/returnPeriodCurve.ts";
import { checkQueryOptions, type QueryRun } from "./batch.ts";
import { type CurvePlan, curvePlanOf, curveValuesOf, hasCurves, runningMaximum } from "./curvePlan.ts";
import { type CurveQuery, hazardOf, isParsedFromUrl, parseCurveQuery } from "./curveQuery.ts";
import { HAZARD_NAMES, type HazardName, HAZARDS, layerOf } from "./hazards.ts";
import { type NamedSource, sourceOf } from "./provenance.ts";
import { NO_LAYERS, type SampledLayers, sampleLayers } from "./sampledLayers.ts";

const MEAN_OVER_MODELS =
  "The curve is the mean over climate models at each return period. The metrics of hazard-risk are means of the metrics of each model, so the two differ.";
const SEPARATE_RETURN_PERIODS =
  "The values at each return period are aggregated separately, so the curve may not be that of any single cell.";

/**
 * Returns the curves of a query, which has not been validated.
 * @throws Fault `invalid_request`, `combination_unavailable` (also if the atlas has no curves of the hazard),
 *   `atlas_unavailable`; the signal's reason when aborted
 */
export async function answerCurve(sampler: Sampler, input: unknown, run: QueryRun = {}): Promise<CurveResult> {
  checkQueryOptions(run);
  const query = parseCurveQuery(input);
  checkHasCurves(sampler, query);
  const hazard = hazardOf(query);
  const { latitude, longitude, radius, aggregation_method, analysis_years, scenarios } = query;
  const sampled = new Map<LayerSet, SampledLayers>();
  for (const set of curveSetsOf(sampler, query)) {
    run.signal?.throwIfAborted();
    sampled.set(set, await sampleLayers(sampler, set, query, run.timeSlice));
  }
  const stored = sampler.hazards.get(hazard);
  const sources: Record<string, NamedSource["record"]> = {};
  const results = scenarios.map((scenario) => ({
    scenario,
    analysis_years: analysis_years.map((year) => {
      const layer = layerOf(scenario, year);
      const entry = stored?.group(layer.scenario, layer.year)?.entry;
      const source = entry && sourceOf(hazard, entry);
      if (source !== undefined) sources[source.id] = source.record;
      const plan = curvePlanOf(sampler, hazard, layer);
      const samples = (plan && sampled.get(plan.set)) ?? NO_LAYERS;
      return toCurveYear(query, year, { plan, samples, source, rules: stored?.rules ?? {} });
    }),
  }));
  return {
    location: { latitude, longitude },
    ...(radius === 0 ? {} : { aggregation: { radius_km: radius, method: aggregation_method } }),
    results: [{ hazard, scenarios: results }],
    ...(query.detail ? { sources } : {}),
  };
}

/** Returns the sets of layers that a query samples: one for each curve, which the baseline and 1980 of any scenario share. */
export function curveSetsOf(sampler: Sampler, query: CurveQuery): readonly LayerSet[] {
  const sets = query.scenarios.flatMap((scenario) =>
    query.analysis_years.flatMap((year) => curvePlanOf(sampler, hazardOf(query), layerOf(scenario, year))?.set ?? []),
  );
  return [...new Set(sets)];
}

/** @throws Fault `combination_unavailable` if the atlas has no curves of the hazard */
export function checkHasCurves(sampler: Sampler, query: CurveQuery): void {
  const hazard = hazardOf(query);
  if (!hasCurves(sampler, hazard)) throw noCurves(sampler, hazard, query);
}

function noCurves(sampler: Sampler, hazard: HazardName, query: CurveQuery): Fault {
  const others = HAZARD_NAMES.filter((name) => hasCurves(sampler, name));
  const offer =
    others.length === 0
      ? "it has none of any hazard; to add them, ingest its return-period maps again with --keep-curves"
      : `it has curves of ${others.join(", ")}`;
  const detail = `This atlas has no return-period curves of ${hazard}: ${offer}.`;
  const location = isParsedFromUrl(query) ? { parameter: "hazards" } : { pointer: "/hazards/0" };
  const item = { ...location, code: "combination_unavailable" as const, detail, allowed: others, hazard };
  return new Fault("combination_unavailable", detail, { items: [item] });
}

/** The curve of one scenario and year. */
interface SampledCurve {
  /** Undefined if the atlas does not have the curve. */
  readonly plan: CurvePlan | undefined;
  readonly samples: SampledLayers;
  /** Source of the maps, as for metrics; undefined if the atlas has no metrics of this scenario and year. */
  readonly source: NamedSource | undefined;
  /** Rules of the hazard in this atlas. */
  readonly rules: Readonly<Record<string, unknown>>;
}

function toCurveYear(query: CurveQuery, analysisYear: number, curve: SampledCurve): CurveYearResult {
  const { plan, samples } = curve;
  const values = plan === undefined ? "layer_missing" : curveValuesOf(plan, samples);
  const detail = query.detail ? { detail: detailOf(query, curve, typeof values === "object") } : {};
  if (plan === undefined || typeof values === "string") {
    const reason = typeof values === "string" ? values : "layer_missing";
    return { analysis_year: analysisYear, unit: unitOf(query), curve: null, no_data: reason, ...detail };
  }
  const { unit, variate, returnPeriodsYears } = plan;
  const points = returnPeriodsYears.map((return_period, i) => ({ return_period, value: values[i] ?? NaN }));
  const derived = derivedFrom(query, { variate, returnPeriodsYears, values });
  return { analysis_year: analysisYear, unit, curve: points, ...derived, ...detail };
}

/** Returns the members that the query asks to derive from the curve. */
function derivedFrom(
  { return_periods, threshold, floor, damage_curve }: CurveQuery,
  curve: ReturnPeriodCurve,
): Pick<CurveYearResult, "return_levels" | "exceedance" | "expected_annual_value" | "expected_annual_damage"> {
  return {
    ...(return_periods === undefined
      ? {}
      : {
          return_levels: return_periods.map((period) => ({
            return_period: period,
            ...valueAtReturnPeriod(curve, period),
          })),
        }),
    ...(threshold === undefined ? {} : { exceedance: toExceedance(threshold, exceedanceOf(curve, threshold)) }),
    ...(floor === undefined ? {} : { expected_annual_value: expectedAbove(curve, floor) }),
    ...(damage_curve === undefined ? {} : { expected_annual_damage: expectedDamage(curve, damage_curve) }),
  };
}

/** Returns the annual probability of reaching a threshold, as results contain it. */
export function toExceedance(threshold: number, { probability, bound }: ReachedProbability): Exceedance {
  return {
    threshold,
    probability,
    return_period: probability === 0 ? null : 1 / probability,
    ...(bound === undefined ? {} : { bound: bound.kind, limit: bound.limit }),
  };
}

function expectedAbove(curve: ReturnPeriodCurve, floor: number): ExpectedAnnualValue {
  return { floor, ...withTail(expectedAnnual(curve, amountAbove(floor))) };
}

function expectedDamage(
  curve: ReturnPeriodCurve,
  damageCurve: NonNullable<CurveQuery["damage_curve"]>,
): ExpectedAnnualDamage {
  const points = damageCurve.map(({ value, damage_share }) => ({ value, damageShare: damage_share }));
  return withTail(expectedAnnual(curve, (value) => damageShareAt(points, value)));
}

function withTail({ value, tail }: ExpectedAnnual): ExpectedAnnualDamage {
  return { value, tail: { value: tail, bound: "at_least" } };
}

/** Returns the unit of the curves of a query's hazard: that of the hazard metric. */
function unitOf(query: CurveQuery): string {
  const { metrics, ownMetric } = HAZARDS[hazardOf(query)];
  return metrics.find(({ metric }) => metric === ownMetric)?.unit ?? "";
}

function detailOf(
  { radius }: CurveQuery,
  { plan, samples, source, rules }: SampledCurve,
  hasValues: boolean,
): CurveDetail {
  const { cells, center } = samples;
  const periods = source?.returnPeriodsYears;
  const caveats = [
    ...((source?.models.length ?? 0) > 1 ? [MEAN_OVER_MODELS] : []),
    ...(radius > 0 ? [SEPARATE_RETURN_PERIODS] : []),
  ];
  return {
    cells,
    valid_share: samples.shareOf(plan?.values[0]?.position ?? 0),
    ...(center === undefined ? {} : { cell_center: { latitude: center.latDeg, longitude: center.lonDeg } }),
    ...(source === undefined ? {} : { source: source.id }),
    rules: { ...rules, ...(periods === undefined ? {} : { return_periods_years: periods }) },
    ...(hasValues && plan !== undefined ? { variate: plan.variate, ...modelRangeOf(plan, samples) } : {}),
    ...(hasValues && caveats.length > 0 ? { caveats } : {}),
  };
}

function modelRangeOf(plan: CurvePlan, samples: SampledLayers): Pick<CurveDetail, "model_range"> {
  if (plan.minimum === undefined || plan.maximum === undefined) return {};
  const [minimum, maximum] = [runningMaximum(plan.minimum, samples), runningMaximum(plan.maximum, samples)];
  const points = plan.returnPeriodsYears.map((return_period, i) => ({
    return_period,
    minimum: minimum[i] ?? NaN,
    maximum: maximum[i] ?? NaN,
  }));
  return { model_range: points };
}
