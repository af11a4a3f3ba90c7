/**
 * Reference implementation of the portfolio method, written from the text of the method, section by section. Where the
 * text is silent (labels that lack a year, the last year of a budget, reasons of groups), it follows docs/methods/portfolio.md.
 */
import type { Reference } from "../alignment2/reference.ts";
import type { EntityRequest } from "../alignment2/request.ts";
import { aggregate } from "./aggregate.ts";
import type { Aggregate, AggregateOptions } from "./aggregate.ts";
import { entityFigures } from "./entities.ts";
import type { ScoringOptions } from "./entities.ts";
import { financedOf } from "./financed.ts";
import type { Financed } from "./financed.ts";
import { holdingsOf } from "./holdings.ts";
import type { Line, Scope } from "./holdings.ts";
import type { Method } from "./weights.ts";

export interface PortfolioOptions extends AggregateOptions {
  readonly methods: readonly Method[];
  readonly scopes: readonly Scope[];
}

export interface Portfolio {
  /** One element per method and scope: methods in the order asked, scopes within. */
  readonly results: readonly Aggregate[];
  readonly financed: Financed;
}

/** A portfolio whose lines have scores. */
export function scoredPortfolio(lines: readonly Line[], options: PortfolioOptions): Portfolio {
  return portfolioOf(lines, options, (entity: never) => entity);
}

/** A portfolio whose lines have scores or entities. */
export function entityPortfolio(
  reference: Reference,
  lines: readonly Line<EntityRequest>[],
  options: PortfolioOptions & ScoringOptions,
): Portfolio {
  return portfolioOf(lines, options, (entity) => entityFigures(reference, entity, options));
}

function portfolioOf<Entity>(
  lines: readonly Line<Entity>[],
  options: PortfolioOptions,
  scoreEntity: Parameters<typeof holdingsOf<Entity>>[1],
): Portfolio {
  const holdings = holdingsOf(lines, scoreEntity);
  return {
    results: options.methods.flatMap((method) =>
      options.scopes.map((scope) => aggregate(holdings, method, scope, options)),
    ),
    financed: financedOf(holdings),
  };
}
