import type { Atlas } from "../src/hazard/answer.ts";
import { HAZARD_NAMES, HAZARDS } from "../src/hazard/hazards.ts";
import { randomFrom, type SeededRandom, shuffled } from "./seededRandom.ts";
import type { HazardQueryInput } from "../src/contract/wireTypes.ts";

/** Identifies a sequence of queries: the same numbers always give the same queries. */
export interface GoldenRun {
  readonly count: number;
  readonly seed: number;
  /** Region of a third of the queries, for an atlas with finer data there. */
  readonly region?: {
    readonly southDeg: number;
    readonly northDeg: number;
    readonly westDeg: number;
    /** Above `westDeg`: exceeds 180 if the region crosses the antimeridian. */
    readonly eastDeg: number;
  };
}

/** The result of a run. */
export interface GoldenResult {
  /** SHA-256 over the JSON of all results, in order. */
  readonly hash: string;
  /** Counts of numbers and nulls in the results, because a hash over nulls alone would prove little. */
  readonly values: number;
  readonly nulls: number;
}

/** Queries that are computed and hashed together. */
const BATCH_COUNT = 100;

/**
 * Generates valid queries of every kind: points and circles, maxima and means, one to all hazards, with and without
 * total, change and detail; a fifth at the poles, a fifth at the antimeridian, some exactly on cell edges.
 */
function* goldenQueries(run: GoldenRun): Generator<HazardQueryInput> {
  const random = randomFrom(run.seed);
  for (let i = 0; i < run.count; i++) yield queryOf(random, run);
}

function queryOf(random: SeededRandom, { region }: GoldenRun): HazardQueryInput {
  const hazards = shuffled(random, HAZARD_NAMES).slice(0, 1 + random.below(HAZARD_NAMES.length));
  const specs = hazards.map((hazard) => HAZARDS[hazard]);
  const years = HAZARDS.cyclones.years.filter((year) => specs.every((spec) => spec.years.includes(year)));
  const scenarios = HAZARDS.cyclones.scenarios.filter((one) => specs.every((spec) => spec.scenarios.includes(one)));
  return {
    ...locationOf(random, region),
    hazards,
    analysis_years: shuffled(random, years).slice(0, 1 + random.below(3)),
    scenarios: shuffled(random, scenarios).slice(0, 1 + random.below(3)),
    // 0.1 to 100 km, each order of magnitude equally likely. No power of a random number, which differs between
    // platforms.
    radius: random.chance(0.4) ? 0 : random.pick([0.01, 0.1, 1]) * random.between({ min: 10, max: 100 }),
    aggregation_method: random.pick(["max", "mean"]),
    total_hazard: random.chance(0.5),
    anthropogenic: random.chance(0.3),
    detail: random.chance(0.3),
  };
}

function locationOf(
  random: SeededRandom,
  region: GoldenRun["region"],
): Pick<HazardQueryInput, "latitude" | "longitude"> {
  const anywhere = {
    latitude: random.between({ min: -90, max: 90 }),
    longitude: random.between({ min: -180, max: 180 }),
  };
  const kind = random.below(region === undefined ? 10 : 15);
  if (kind < 2) {
    const fromPoleDeg = random.chance(0.1) ? 0 : random.between({ min: 0, max: 1.5 });
    return { ...anywhere, latitude: random.chance(0.5) ? 90 - fromPoleDeg : fromPoleDeg - 90 };
  }
  if (kind < 4) {
    const fromEdgeDeg = random.chance(0.1) ? 0 : random.between({ min: 0, max: 1.5 });
    return { ...anywhere, longitude: random.chance(0.5) ? 180 - fromEdgeDeg : fromEdgeDeg - 180 };
  }
  if (kind < 5) {
    return { latitude: Math.round(anywhere.latitude * 10) / 10, longitude: Math.round(anywhere.longitude * 4) / 4 };
  }
  if (kind < 10 || region === undefined) return anywhere;
  const longitude = random.between({ min: region.westDeg, max: region.eastDeg });
  return {
    latitude: random.between({ min: region.southDeg, max: region.northDeg }),
    longitude: longitude > 180 ? longitude - 360 : longitude,
  };
}

/** Runs all queries and hashes the JSON of the results: equal hashes mean equal bytes in every result. */
export async function goldenHash(atlas: Pick<Atlas, "hazardRiskBatch">, run: GoldenRun): Promise<GoldenResult> {
  let hash = new Uint8Array(0);
  let values = 0;
  let nulls = 0;
  let batch: HazardQueryInput[] = [];
  const runBatch = async (): Promise<void> => {
    const results = await atlas.hazardRiskBatch(batch);
    for (const [i, result] of results.entries()) {
      if ("error" in result) throw new Error(`${JSON.stringify(batch[i])} was rejected`, { cause: result.error });
      for (const { analysis_years } of result.results.flatMap(({ scenarios }) => scenarios)) {
        for (const value of analysis_years.flatMap(({ metrics }) => Object.values(metrics))) {
          if (value === null) nulls += 1;
          else values += 1;
        }
      }
    }
    // Web Crypto has no streaming hash: each batch is hashed together with the hash of all earlier batches.
    const json = new TextEncoder().encode(JSON.stringify(results));
    const chained = new Uint8Array(hash.length + json.length);
    chained.set(hash);
    chained.set(json, hash.length);
    hash = new Uint8Array(await crypto.subtle.digest("SHA-256", chained));
    batch = [];
  };
  for (const query of goldenQueries(run)) {
    batch.push(query);
    if (batch.length === BATCH_COUNT) await runBatch();
  }
  if (batch.length > 0) await runBatch();
  return { hash: Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join(""), values, nulls };
}
