import type {
  CurveDetail,
  CurveYearResult,
  ExpectedAnnualDamage,
  ExpectedAnnualValue,
  Exceedance,
} from "../../contract/wireTypes.ts";
import {
  amountAbove,
  damageShareAt,
  type Exceedance as ReachedProbability,
  type ExpectedAnnual,
  exceedanceOf,
  expectedAnnual,
  type ReturnPeriodCurve,
  valueAtReturnPeriod,
} from "../../kernel/returnPeriodCurve.ts";
import { HAZARDS } from "../hazards.ts";
import { type CurveQuery, hazardOf } from "./curveQuery.ts";
import type { CurveSample, CurveValues } from "./sampleCurves.ts";

const MEAN_OVER_MODELS =
  "The curve is the mean over climate models at each return period. The metrics of hazard-risk are means of the metrics of each model, so the two differ.";
const SEPARATE_RETURN_PERIODS =
  "The values at each return period are aggregated separately, so the curve may not be that of any single cell.";

/** Returns the result of one scenario and year. */
export function toCurveYear(query: CurveQuery, analysisYear: number, sample: CurveSample): CurveYearResult {
  const detail = query.detail ? { detail: detailOf(query, sample) } : {};
  if (sample.kind === "missing") {
    return { analysis_year: analysisYear, unit: unitOf(query), curve: null, no_data: sample.reason, ...detail };
  }
  const { unit, returnPeriodsYears, values } = sample;
  const points = returnPeriodsYears.map((return_period, i) => ({ return_period, value: values[i] ?? NaN }));
  return { analysis_year: analysisYear, unit, curve: points, ...derivedFrom(query, sample), ...detail };
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

function detailOf({ radius }: CurveQuery, sample: CurveSample): CurveDetail {
  const { cells, validShare, center, source, rules } = sample;
  const periods = source?.returnPeriodsYears;
  const caveats = [
    ...((source?.models.length ?? 0) > 1 ? [MEAN_OVER_MODELS] : []),
    ...(radius > 0 ? [SEPARATE_RETURN_PERIODS] : []),
  ];
  return {
    cells,
    valid_share: validShare,
    ...(center === undefined ? {} : { cell_center: { latitude: center.latDeg, longitude: center.lonDeg } }),
    ...(source === undefined ? {} : { source: source.id }),
    rules: { ...rules, ...(periods === undefined ? {} : { return_periods_years: periods }) },
    ...(sample.kind === "missing" ? {} : { variate: sample.variate, ...modelRangeOf(sample) }),
    ...(sample.kind === "missing" || caveats.length === 0 ? {} : { caveats }),
  };
}

function modelRangeOf({ returnPeriodsYears, minimum, maximum }: CurveValues): Pick<CurveDetail, "model_range"> {
  if (minimum === undefined || maximum === undefined) return {};
  const points = returnPeriodsYears.map((return_period, i) => ({
    return_period,
    minimum: minimum[i] ?? NaN,
    maximum: maximum[i] ?? NaN,
  }));
  return { model_range: points };
}
