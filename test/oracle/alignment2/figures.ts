/** Figures of an entity: usable scopes, weighted sums, shares and coverage. */

/** Emissions of scopes 1, 2 and 3 in the caller's unit; null where not given. */
export type Scopes = readonly [number | null, number | null, number | null];
/** Weights of scopes 1, 2 and 3. */
export type ScopeWeights = readonly [number, number, number];
/** Scope by index: 0 is scope 1. */
export type ScopeIndex = 0 | 1 | 2;
const ALL_SCOPES: readonly ScopeIndex[] = [0, 1, 2];

/** A baseline sum below this counts as zero. */
export const ZERO_BASELINE_MAX = 1e-12;

/** Usable scopes U: those with a weight above 0 that both sides report. */
export function usableScopes(baseline: Scopes, projected: Scopes, weights: ScopeWeights): readonly ScopeIndex[] {
  return ALL_SCOPES.filter((scope) => weights[scope] > 0 && baseline[scope] !== null && projected[scope] !== null);
}

/** E: weighted sum of the usable scopes, not floored. */
export function weightedSum(emissions: Scopes, usable: readonly ScopeIndex[], weights: ScopeWeights): number {
  let sum = 0;
  for (const scope of usable) sum += weights[scope] * (emissions[scope] ?? 0);
  return sum;
}

/** g_i: shares of the usable scopes in the baseline, removals counted as 0. */
export function baselineShares(
  baseline: Scopes,
  usable: readonly ScopeIndex[],
  weights: ScopeWeights,
): readonly [number, number, number] {
  const total = positiveSum(baseline, usable, weights);
  const share = (scope: ScopeIndex): number =>
    usable.includes(scope) ? (weights[scope] * Math.max(baseline[scope] ?? 0, 0)) / total : 0;
  return [share(0), share(1), share(2)];
}

/** Coverage: share of the reported emissions that the usable scopes cover, the smaller of both sides. */
export function coverageOf(
  baseline: Scopes,
  projected: Scopes,
  usable: readonly ScopeIndex[],
  weights: ScopeWeights,
): number {
  const sides = [baseline, projected]
    .map((side) => ({
      covered: positiveSum(side, usable, weights),
      given: positiveSum(
        side,
        ALL_SCOPES.filter((scope) => side[scope] !== null),
        weights,
      ),
    }))
    .filter(({ given }) => given !== 0);
  return Math.min(1, ...sides.map(({ covered, given }) => covered / given));
}

function positiveSum(emissions: Scopes, scopes: readonly ScopeIndex[], weights: ScopeWeights): number {
  let sum = 0;
  for (const scope of scopes) sum += weights[scope] * Math.max(emissions[scope] ?? 0, 0);
  return sum;
}
