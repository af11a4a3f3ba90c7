/** Weights and denominators of a holding. */
import type { CompanyFigures, Holding, Scope } from "./holdings.ts";

export const METHODS = ["WATS", "TETS", "MOTS", "EOTS", "ECOTS", "AOTS", "ROTS"] as const;
export type Method = (typeof METHODS)[number];

export type NoWeightReason =
  "emissions_missing" | "emissions_negative" | "denominator_missing" | "denominator_not_positive";

/** E of a scope, null where it is missing. */
export function emissionsOf({ figures }: Holding, scope: Scope): number | null {
  const { scope1 = null, scope2 = null, scope3 = null } = figures;
  const scopes1And2 = scope1 === null && scope2 === null ? null : (scope1 ?? 0) + (scope2 ?? 0);
  if (scope === "s1s2") return scopes1And2;
  if (scope === "s3") return scope3;
  return scopes1And2 === null || scope3 === null ? null : scopes1And2 + scope3;
}

/** Enterprise value including cash (EVIC), null where it is missing. */
export function evicOf({
  evic = null,
  enterprise_value: enterpriseValue = null,
  cash = null,
}: CompanyFigures): number | null {
  if (evic !== null) return evic;
  return enterpriseValue === null || cash === null ? null : enterpriseValue + cash;
}

const DENOMINATORS: Readonly<
  Record<Exclude<Method, "WATS" | "TETS">, (figures: CompanyFigures) => number | null | undefined>
> = {
  MOTS: ({ market_cap: marketCap }) => marketCap,
  EOTS: ({ enterprise_value: enterpriseValue }) => enterpriseValue,
  ECOTS: evicOf,
  AOTS: ({ total_assets: totalAssets }) => totalAssets,
  ROTS: ({ revenue }) => revenue,
};

/** Weight of a holding under a method, or the first reason that applies. */
export function weightOf(holding: Holding, method: Method, scope: Scope): number | NoWeightReason {
  if (method === "WATS") return holding.value;
  const emissions = emissionsOf(holding, scope);
  if (emissions === null) return "emissions_missing";
  if (emissions < 0) return "emissions_negative";
  if (method === "TETS") return emissions;
  const denominator = DENOMINATORS[method](holding.figures) ?? null;
  if (denominator === null) return "denominator_missing";
  if (denominator <= 0) return "denominator_not_positive";
  return (holding.value / denominator) * emissions;
}
