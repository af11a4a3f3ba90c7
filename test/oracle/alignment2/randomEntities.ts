/**
 * Seeded random entities and entity-years, all of them accepted: ordinary ones, extreme ones (eight orders of magnitude,
 * far years, long horizons) and odd ones (removals, zero baselines, missing scopes, duplicate and unsorted years).
 */
import { randomFrom } from "../../seededRandom.ts";
import type { SeededRandom } from "../../seededRandom.ts";
import type { Scopes } from "./figures.ts";
import type { GrowthSeries } from "./growth.ts";
import { PATHWAYS } from "./reference.ts";
import type { Reference } from "./reference.ts";
import type { EmissionsMember, EntityOptions, EntityRequest, ProjectionRecord } from "./request.ts";
import { BASES } from "./row.ts";
import type { Convergence, Row } from "./row.ts";

type EntityKind = "ordinary" | "extreme" | "odd";

export interface RandomEntity {
  readonly kind: EntityKind;
  readonly request: EntityRequest;
  readonly options: EntityOptions;
}

const UNKNOWN_NAMES = ["Germny", "Cnina", "Atlantis", "Stel", "Airlnes", "4010", "x", "北", "???", "Zzyzx business"];
const SYSTEMS = ["gics", "GICS", "nace", "naics", "isic", "sics", "trbc", "icb", "factset", "custom", "homemade"];
const CURRENCIES = ["USD", "EUR", "JPY"];
const LABELS = ["target", "trajectory", "low", "high"];

/** Returns one entity; the same seed always gives the same one. */
export function randomEntity(reference: Reference, seed: number): RandomEntity {
  const random = randomFrom(seed);
  const kind = random.pick(["ordinary", "ordinary", "extreme", "odd"] as const);
  const baselineYear = randomBaselineYear(random, kind);
  const baseline = kind === "odd" && random.chance(0.15) ? zeroScopes(random) : randomScopes(random, kind);
  return {
    kind,
    request: {
      entity_info: randomInfo(reference, random),
      data: [{ year: baselineYear, emissions: memberOf(baseline), ...randomFinancials(random) }],
      projected_emissions: randomProjections(random, kind, baselineYear, baseline),
    },
    options: randomOptions(random),
  };
}

/** Returns one entity-year with its line, without names: the input of a kernel. */
export function randomRow(reference: Reference, seed: number): Row {
  const random = randomFrom(seed);
  const kind = random.pick(["ordinary", "ordinary", "extreme", "odd"] as const);
  const baselineYear = randomBaselineYear(random, kind);
  const baseline = kind === "odd" && random.chance(0.15) ? zeroScopes(random) : randomScopes(random, kind);
  const records = randomRecords(random, kind, baselineYear, baseline);
  const record = random.pick(records);
  const hasRevenue = random.chance(0.3);
  return {
    basis: random.pick(BASES),
    pathway: random.pick(PATHWAYS),
    growthSeries: randomGrowthSeries(reference, random),
    weights: [1, 1, random.chance(0.8) ? 1 : random.pick([0, 0.25, random.next()])],
    baselineYear,
    baseline,
    year: record.year,
    projected: record.emissions,
    points: records,
    revenue: hasRevenue ? randomRevenue(random) : null,
    projectedRevenue: random.chance(0.3) ? randomRevenue(random) : null,
    convergence: randomConvergence(random),
    isDuplicateYear: records.filter(({ year }) => year === record.year).length > 1,
  };
}

function randomBaselineYear(random: SeededRandom, kind: EntityKind): number {
  if (kind === "extreme") return 1900 + random.below(280);
  return random.chance(0.8) ? 2015 + random.below(11) : 2005 + random.below(50);
}

/** Years ahead of the baseline: mostly a few, in extreme entities up to 2200. */
function randomYear(random: SeededRandom, kind: EntityKind, baselineYear: number): number {
  if (kind === "extreme") return baselineYear + 1 + random.below(2200 - baselineYear);
  return random.chance(0.6)
    ? Math.max(baselineYear + 1, 2025 + 5 * random.below(8))
    : baselineYear + 1 + random.below(44);
}

function randomScopes(random: SeededRandom, kind: EntityKind): Scopes {
  const scopes = [0, 1, 2].map(() => {
    if (random.chance(kind === "odd" ? 0.25 : 0.08)) return null;
    return randomSize(random, kind);
  });
  const atLeastOne = scopes.every((scope) => scope === null) ? [randomSize(random, kind), null, null] : scopes;
  return atLeastOne as unknown as Scopes;
}

function randomSize(random: SeededRandom, kind: EntityKind): number {
  if (kind === "ordinary") return random.between({ min: 1, max: 1000 });
  if (kind === "odd" && random.chance(0.25)) return random.between({ min: -300, max: 0 });
  if (random.chance(0.1)) return 0;
  return 10 ** random.between({ min: -4, max: kind === "extreme" ? 15 : 6 });
}

/** A baseline whose sum is zero: zeros, a sum of removals, or a size below the limit. */
function zeroScopes(random: SeededRandom): Scopes {
  return random.pick([
    [0, 0, 0],
    [0, null, null],
    [-10, 4, 3],
    [null, 0, -1],
    [1e-13, 0, 0],
  ] as const);
}

/** Emissions near those of the baseline, so that values between the anchors are frequent. */
function randomLater(random: SeededRandom, kind: EntityKind, baseline: Scopes): Scopes {
  if (kind === "odd" && random.chance(0.3)) return random.chance(0.3) ? zeroScopes(random) : randomScopes(random, kind);
  if (kind === "extreme" && random.chance(0.3)) return randomScopes(random, kind);
  const course = random.between({ min: 0, max: 1.6 });
  const later = baseline.map((before) => {
    if (before === null) return random.chance(0.1) ? randomSize(random, kind) : null;
    if (random.chance(0.06)) return null;
    return Math.min(before * course * random.between({ min: 0.9, max: 1.1 }), 1e15);
  });
  return later.every((scope) => scope === null) ? randomScopes(random, kind) : (later as unknown as Scopes);
}

function randomRecords(
  random: SeededRandom,
  kind: EntityKind,
  baselineYear: number,
  baseline: Scopes,
): readonly { readonly year: number; readonly emissions: Scopes }[] {
  const records = Array.from({ length: 1 + random.below(5) }, () => ({
    year: randomYear(random, kind, baselineYear),
    emissions: randomLater(random, kind, baseline),
  }));
  const again = records[0];
  if (kind === "odd" && again !== undefined && random.chance(0.4)) {
    records.push({ year: again.year, emissions: randomLater(random, kind, baseline) });
  }
  if (kind === "odd" || random.chance(0.2)) return records;
  // Each year once, ascending.
  return [...new Map(records.map((record) => [record.year, record])).values()].toSorted((a, b) => a.year - b.year);
}

/** Records of one projection without label, or of two or three labels, with probabilities half of the time. */
function randomProjections(
  random: SeededRandom,
  kind: EntityKind,
  baselineYear: number,
  baseline: Scopes,
): readonly ProjectionRecord[] {
  const projection = (): readonly ProjectionRecord[] =>
    randomRecords(random, kind, baselineYear, baseline).map(({ year, emissions }) => ({
      year,
      emissions: memberOf(emissions),
      ...(random.chance(0.2) ? { financials: { revenue: randomRevenue(random) } } : {}),
    }));
  if (random.chance(0.7)) return projection();
  const labels = LABELS.slice(0, 2 + random.below(2));
  const hasProbabilities = random.chance(0.5);
  const first = projection();
  return labels.flatMap((label, index) => {
    // The first label has a positive probability, the others may have 0.
    const probability = index === 0 ? 0.1 + 0.9 * random.next() : random.pick([0, 1, random.next()]);
    const years = first.map(({ year }) => ({ year, emissions: memberOf(randomLater(random, kind, baseline)) }));
    const records = index === 0 ? first : random.chance(0.7) ? years : projection();
    return records.map((record) => ({ ...record, label, ...(hasProbabilities ? { probability } : {}) }));
  });
}

function randomInfo(reference: Reference, random: SeededRandom): EntityRequest["entity_info"] {
  const country = (): string => {
    if (random.chance(0.15)) return random.pick(UNKNOWN_NAMES);
    if (random.chance(0.3)) return random.pick(reference.countryNames).name;
    const { name, iso2, iso3 } = random.pick(reference.countries);
    return random.pick([name, iso2, iso3, name.toUpperCase(), `The ${name}`]);
  };
  const industry = (): string => {
    if (random.chance(0.15)) return random.pick(UNKNOWN_NAMES);
    if (random.chance(0.5)) return random.pick(reference.industries).name;
    return random.pick(random.pick(reference.industryKeys).keys).replaceAll("*", "");
  };
  return {
    name: "random",
    asset_type: "equity",
    ...(random.chance(0.8) ? { country: country() } : {}),
    ...(random.chance(0.8) ? { industry: industry() } : {}),
    ...(random.chance(0.5) ? { sector: industry() } : {}),
    ...(random.chance(0.3) ? { industry_classification_system: random.pick(SYSTEMS) } : {}),
  };
}

function randomFinancials(random: SeededRandom): Pick<EntityRequest["data"][number], "financials"> {
  if (random.chance(0.5)) return {};
  return {
    financials: {
      revenue: randomRevenue(random),
      ...(random.chance(0.6) ? { currency: random.pick(CURRENCIES) } : {}),
      ...(random.chance(0.6) ? { price_year: 2015 + random.below(10) } : {}),
    },
  };
}

function randomRevenue(random: SeededRandom): number {
  if (random.chance(0.1)) return random.pick([0, -1e6]);
  return random.chance(0.7) ? random.between({ min: 0.5e9, max: 3e9 }) : 10 ** random.between({ min: 0, max: 13 });
}

function randomOptions(random: SeededRandom): EntityOptions {
  return {
    ...(random.chance(0.6) ? { basis: random.pick(BASES) } : {}),
    ...(random.chance(0.3) ? { convergence: random.pick([0.5, 1, 1 - random.next()]) } : {}),
    ...(random.chance(0.15) ? { scope3Weight: random.pick([0, 0.5, random.next()]) } : {}),
  };
}

function randomGrowthSeries(reference: Reference, random: SeededRandom): GrowthSeries | null {
  if (random.chance(0.2)) return null;
  const ids = [...reference.growth.keys()].filter((id) => id !== "POOL" && id !== "WORLD");
  const id = random.pick(ids);
  return { id, source: id.startsWith("R5") ? "region" : "country" };
}

function randomConvergence(random: SeededRandom): Convergence | "unusable" | null {
  if (random.chance(0.7)) return null;
  if (random.chance(0.2)) return "unusable";
  return {
    gamma: random.pick([0.5, 1, 1 - random.next()]),
    revenueMUsd2022: 10 ** random.between({ min: -2, max: 5 }),
    industryFactors: [
      random.between({ min: 1, max: 1500 }),
      random.between({ min: 1, max: 200 }),
      random.between({ min: 15, max: 3000 }),
    ],
  };
}

function memberOf([scope1, scope2, scope3]: Scopes): EmissionsMember {
  return {
    ...(scope1 === null ? {} : { scope1 }),
    ...(scope2 === null ? {} : { scope2 }),
    ...(scope3 === null ? {} : { scope3 }),
  };
}
