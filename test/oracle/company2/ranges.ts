/** Section 6: range of the share of EBITDA lost, over one-at-a-time variants of the central run. */
import { yearLoss, type Company, type Run } from "./loss.ts";
import type { Emission } from "./emissions.ts";
import { coversYear, findSeries, regionOf } from "./prices.ts";
import { IAMS } from "./request.ts";
import type { Tables } from "./tables.ts";

interface Variant {
  readonly company: Company;
  readonly run: Run;
}

/** The runs that the range covers, the central run first. */
function variantsOf(tables: Tables, company: Company, run: Run, scope1: Emission, year: number): Variant[] {
  const { path, assumptions } = run;
  const variants: Variant[] = [{ company, run }];
  if (path.scenario.family === "NGFS") {
    for (const model of IAMS) {
      const series = findSeries(tables, path.scenario.price_path, model, regionOf(model, company.country));
      if (model === path.model || series === undefined || !coversYear(series, year)) continue;
      variants.push({ company, run: { ...run, path: { ...path, model } } });
    }
  }
  if (path.model === "ar6") {
    for (const quantile of ["p25_usd2022", "p75_usd2022"] as const) {
      variants.push({ company, run: { ...run, path: { ...path, quantile } } });
    }
  }
  if (assumptions.passThrough === undefined) {
    for (const passThroughShift of [-0.15, 0.15]) variants.push({ company, run: { ...run, passThroughShift } });
  }
  if (scope1.method === "modelled") {
    for (const tonnes of [scope1.low, scope1.high]) variants.push({ company: { ...company, scope1: tonnes }, run });
  }
  for (const damageFunction of ["kalkuhl_wenz", "howard_sterner"] as const) {
    if (damageFunction === assumptions.damageFunction) continue;
    variants.push({ company, run: { ...run, assumptions: { ...assumptions, damageFunction } } });
  }
  return variants;
}

/** Least and largest 100 l(t), percent of B. */
export function rangeOf(
  tables: Tables,
  company: Company,
  run: Run,
  scope1: Emission,
  year: number,
): { readonly low: number; readonly high: number } {
  const shares = variantsOf(tables, company, run, scope1, year).map(
    (variant) => 100 * yearLoss(tables, variant.company, variant.run, year).lostShare,
  );
  return { low: Math.min(...shares), high: Math.max(...shares) };
}
