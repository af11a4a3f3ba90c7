import type { SeededRandom } from "../../seededRandom.ts";

interface GeneratedEntity {
  readonly data: readonly { readonly financials?: object }[];
}
type Members = Readonly<Record<string, unknown>>;

/**
 * Makes a generated portfolio acceptable: each line has either an entity or a score, intervals contain their score, all
 * amounts are in one currency, the holdings have the keys that they are grouped by, and bounds are in order.
 *
 * @param orderYears moves the projected years of an entity after its baseline
 */
export function withAcceptedHoldings(
  random: SeededRandom,
  body: unknown,
  orderYears: (random: SeededRandom, entity: object) => object,
): object {
  const { holdings, options, ...rest } = body as { readonly holdings: readonly Members[]; readonly options?: Members };
  return {
    ...rest,
    holdings: holdings.map(({ entity, temperature, currency: _currency, ...line }) => {
      if (typeof entity === "object" && entity !== null) {
        return { ...line, currency: "EUR", entity: withoutCurrency(orderYears(random, entity)) };
      }
      const scores = typeof temperature === "object" && temperature !== null ? temperature : {};
      return { ...line, currency: "EUR", temperature: withIntervals(random, scores as Members) };
    }),
    ...(options === undefined ? {} : { options: withKnownKeys(withOrderedBounds(options), holdings) }),
  };
}

function withoutCurrency(entity: object): object {
  const { data } = entity as GeneratedEntity;
  return { ...entity, data: data.map(({ financials: _financials, ...record }) => record) };
}

function withIntervals(random: SeededRandom, scores: Members): Members {
  return Object.fromEntries(
    Object.entries(scores).map(([scope, score]) => {
      if (typeof score !== "object" || score === null) return [scope, score];
      const { t } = score as { readonly t: number };
      return [scope, random.chance(0.5) ? { t } : { t, low: t * random.between({ min: 0.5, max: 1 }), high: t }];
    }),
  );
}

function withOrderedBounds({ missing_low: low, missing_high: high, ...options }: Members): Members {
  return typeof low === "number" && typeof high === "number" && low <= high
    ? { ...options, missing_low: low, missing_high: high }
    : options;
}

/** Restricts the keys to group by to those that some holding has. */
function withKnownKeys({ group_by: keys, ...options }: Members, holdings: readonly Members[]): Members {
  const knownKeys = new Set(holdings.flatMap(({ groups }) => Object.keys(groups ?? {})));
  const kept = Array.isArray(keys) ? keys.filter((key) => knownKeys.has(String(key))) : [];
  return kept.length > 0 ? { ...options, group_by: kept } : options;
}
