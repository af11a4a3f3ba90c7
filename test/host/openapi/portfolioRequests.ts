import type { SeededRandom } from "../../seededRandom.ts";

interface GeneratedEntity {
  readonly data: readonly { readonly financials?: object }[];
}
type Members = Readonly<Record<string, unknown>>;

/**
 * Makes a generated portfolio acceptable: each line has either an entity or a score, intervals contain their score, all
 * amounts are in one currency, bounds are in order, and the first line has a group under every key to group by.
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
    holdings: withGroups(holdings, options).map(({ entity, temperature, currency: _currency, ...line }) => {
      if (typeof entity === "object" && entity !== null) {
        return { ...line, currency: "EUR", entity: withoutCurrency(orderYears(random, entity)) };
      }
      const scores = typeof temperature === "object" && temperature !== null ? temperature : {};
      return { ...line, currency: "EUR", temperature: withIntervals(random, scores as Members) };
    }),
    ...(options === undefined ? {} : { options: withOrderedBounds(options) }),
  };
}

function withGroups([first, ...others]: readonly Members[], options: Members | undefined): readonly Members[] {
  const keys = (options?.["group_by"] ?? []) as readonly string[];
  if (first === undefined) return [];
  if (keys.length === 0) return [first, ...others];
  return [{ ...first, groups: Object.fromEntries(keys.map((key) => [key, "group"])) }, ...others];
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
