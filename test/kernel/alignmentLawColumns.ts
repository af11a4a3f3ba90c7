/** Random columns for the tests of the properties in docs/methods/alignment.md. */
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { type EntityColumns, NO_GROWTH_SERIES, SCOPES } from "../../src/kernel/alignmentColumns.ts";
import { randomFrom } from "../seededRandom.ts";

const ROWS_PER_ENTITY = 4;
const BASELINE_SCOPES = ["baselineScope1", "baselineScope2", "baselineScope3"] as const;

/**
 * Returns random entity-years: baselines of 2015 to 2035, 1 to 44 years ahead, all pathways and growth series, missing
 * and zero scopes, emissions over eight orders of magnitude, and if `hasRemovals`, a removal in one scope of ten.
 */
export function lawColumns(rowCount: number, { hasRemovals }: { readonly hasRemovals: boolean }): EntityColumns {
  const random = randomFrom(hasRemovals ? 2 : 1);
  const entityCount = Math.ceil(rowCount / ROWS_PER_ENTITY);
  const columns = emptyColumns(entityCount);
  for (let entity = 0; entity < entityCount; entity++) {
    columns.baselineYears[entity] = 2015 + random.below(21);
    columns.pathways[entity] = random.below(6);
    columns.growthSeries[entity] = random.chance(0.1) ? NO_GROWTH_SERIES : random.below(NGFS_PHASE5.growth.length);
    const size = 10 ** random.between({ min: -2, max: 6 });
    const amount = (typical: number): number => {
      if (random.chance(0.1)) return NaN;
      if (random.chance(0.1)) return 0;
      return (hasRemovals && random.chance(0.1) ? -0.3 : 1) * typical * random.next();
    };
    for (const name of BASELINE_SCOPES) columns[name][entity] = amount(size);
    const begin = entity * ROWS_PER_ENTITY;
    const years = Array.from(
      { length: ROWS_PER_ENTITY },
      () => (columns.baselineYears[entity] ?? NaN) + 1 + random.below(44),
    ).toSorted((a, b) => a - b);
    for (const [i, year] of years.entries()) {
      columns.years[begin + i] = year;
      const level = random.between({ min: 0, max: 1.6 });
      for (const [scope, name] of SCOPES.entries()) {
        const before = columns[BASELINE_SCOPES[scope] ?? "baselineScope1"][entity] ?? NaN;
        columns[name][begin + i] = random.chance(0.2) ? amount(size) : before * level;
      }
    }
  }
  return columns;
}

/** Returns columns of `entityCount` entities with ROWS_PER_ENTITY rows each, to be filled. */
function emptyColumns(entityCount: number): EntityColumns {
  const rowCount = entityCount * ROWS_PER_ENTITY;
  return {
    baselineYears: new Int32Array(entityCount),
    pathways: new Uint8Array(entityCount),
    growthSeries: new Uint8Array(entityCount),
    baselineScope1: new Float64Array(entityCount),
    baselineScope2: new Float64Array(entityCount),
    baselineScope3: new Float64Array(entityCount),
    starts: Uint32Array.from({ length: entityCount + 1 }, (_, i) => i * ROWS_PER_ENTITY),
    years: new Int32Array(rowCount),
    scope1: new Float64Array(rowCount),
    scope2: new Float64Array(rowCount),
    scope3: new Float64Array(rowCount),
  };
}

/** Returns columns in which all emissions are multiplied by a factor. */
export function scaledColumns(columns: EntityColumns, factor: number): EntityColumns {
  const scaled = (values: Float64Array): Float64Array => values.map((value) => value * factor);
  return {
    ...columns,
    baselineScope1: scaled(columns.baselineScope1),
    baselineScope2: scaled(columns.baselineScope2),
    baselineScope3: scaled(columns.baselineScope3),
    scope1: scaled(columns.scope1),
    scope2: scaled(columns.scope2),
    scope3: scaled(columns.scope3),
  };
}

/**
 * Returns columns in which the emissions of one projected scope are raised by a part of their size; zeros become
 * `ofZero`.
 */
export function raisedColumns(
  columns: EntityColumns,
  scope: (typeof SCOPES)[number],
  { part, ofZero = 0 }: { readonly part: (row: number) => number; readonly ofZero?: number },
): EntityColumns {
  const raised = columns[scope].map((value, row) => (value === 0 ? ofZero : value + Math.abs(value) * part(row)));
  return { ...columns, [scope]: raised };
}
