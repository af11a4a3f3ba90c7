import { MISSING_SCORE_C } from "../contract/names.ts";
import type { PortfolioOptions, PortfolioResult, PortfolioScope } from "../contract/wireTypes.ts";
import { aggregateHoldings } from "./aggregate.ts";
import { contributionsOf } from "./contributions.ts";
import { groupHoldings, groupResults } from "./groups.ts";
import type { HoldingColumns } from "./mergedHoldings.ts";
import { createResultBuffers } from "./resultBuffers.ts";
import { emissionsOf, weighHoldings } from "./weights.ts";

/**
 * Computes the temperature of a portfolio for each requested method and scope, yielding one result at a time so that
 * callers can pause in between.
 *
 * @param columns holdings with their scores
 * @returns unrounded results in the requested order of methods and, within a method, of scopes
 */
export function* portfolioResults(
  columns: HoldingColumns,
  options: PortfolioOptions = {},
): Generator<PortfolioResult, void, undefined> {
  const { methods = ["WATS"], scopes = ["s1s2s3"], goal: goalC, group_by: keys } = options;
  const missing = {
    lowC: options.missing_low ?? MISSING_SCORE_C.low,
    highC: options.missing_high ?? MISSING_SCORE_C.high,
    defaultC: options.default_score,
  };
  const groups = keys?.map((key) => groupHoldings(columns.lines, key));
  const buffers = createResultBuffers(columns.count);
  const emissionsTCO2e = new Map<PortfolioScope, Float64Array>();
  for (const method of methods) {
    for (const scope of scopes) {
      const emissions = emissionsTCO2e.get(scope) ?? emissionsOf(columns, scope);
      emissionsTCO2e.set(scope, emissions);
      const weights = weighHoldings(columns, method, emissions, buffers);
      const aggregate = aggregateHoldings(columns, columns.scores[scope], weights, missing, buffers);
      const holdings = { values: columns.values, weights: weights.weights };
      yield {
        method,
        scope,
        ...aggregate.figures,
        ...(aggregate.figures.temperature === null
          ? {}
          : { contributions: contributionsOf(columns.ids, aggregate, goalC, buffers) }),
        ...(groups === undefined
          ? {}
          : {
              groups: Object.fromEntries(groups.map((group) => [group.key, groupResults(group, holdings, aggregate)])),
            }),
      };
    }
  }
}
