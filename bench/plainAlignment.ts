import { type Benchmark, tabulateByYear } from "../src/alignment/benchmark.ts";
import type { AlignedColumns, EntityColumns } from "../src/kernel/alignmentColumns.ts";
import { ANCHOR_COUNT, PATHWAY_COUNT } from "../src/kernel/alignmentTables.ts";

// Bits of the flags.
const SCOPE3_ABSENT = 1 << 4;
const EARLY_BASELINE = 1 << 5;
const SCOPE_DROPPED = 1 << 6;
const NO_USABLE_SCOPE = 1 << 7;
const ZERO_BASELINE = 1 << 8;
const NEGATIVE_SCOPE = 1 << 9;
const IMPLAUSIBLE_CHANGE = 1 << 10;
const GROWTH_DEFAULT = 1 << 11;
const GROWTH_REGION = 1 << 12;
const GROWTH_LIMITED = 1 << 13;
const GROWTH_DRIVEN = 1 << 14;
const SHORT_HORIZON = 1 << 16;
const BEYOND_TABLE = 1 << 17;
const DUPLICATE_YEAR = 1 << 18;
const ANCHORS_CLOSE = 1 << 19;
const SENSITIVE = 1 << 20;
/** Flags of the growth, which rows without a value do not have. */
const GROWTH_FLAGS = GROWTH_DEFAULT | GROWTH_REGION;

const GAP = 0.02;
const NOTABLE_C = 0.3;

/** Results of the default request. */
type PlainResults = Pick<AlignedColumns, "temperaturesC" | "rangeLowC" | "rangeHighC" | "flags" | "coverage">;

/**
 * The competitor of the alignment kernel: the default request (basis `intensity`, no convergence, all of scope 3, no
 * projected revenues, one line per entity) in plain JavaScript, optimized: columns in and out, tables hoisted and
 * precomputed, nothing allocated per row. If the ratios for emissions changed by 7.5 % are in the same segment as the
 * ratio, which is usual in later years, the slope of that segment gives the range and `sensitive` without further
 * look-ups. Does not validate its columns.
 */
export function plainAlignment(benchmark: Benchmark) {
  const { firstYear, lastYear, baseYear, horizonYear, warming, index, growth, isRegion, pooledSeries } =
    tabulateByYear(benchmark);
  const { anchorsC, currentC, lowerBoundC } = warming.p50;
  const [t1 = NaN, t2 = NaN, t3 = NaN, t4 = NaN] = anchorsC;
  const excessMax = (6 - t4) / (t4 - currentC);
  const yearCount = lastYear - firstYear + 1;
  const yearSize = PATHWAY_COUNT * ANCHOR_COUNT;
  const perBase = new Float64Array(yearCount * PATHWAY_COUNT).fill(1);
  for (let i = (baseYear - firstYear + 1) * PATHWAY_COUNT; i < perBase.length; i++) perBase[i] = 1 / index[i * 4 + 3]!;
  // The last row contains ones, for entities without a series.
  const ratios = new Float64Array((growth.length + 1) * yearCount).fill(1);
  for (const [series, sizes] of growth.entries()) {
    for (let year = 0; year < yearCount; year++) {
      ratios[series * yearCount + year] = growth[pooledSeries]![year]! / sizes[year]!;
    }
  }
  const changeMin = Float64Array.from({ length: 301 }, (_, years) => Math.max(0.002, 0.7 ** Math.max(years, 3)));
  const changeMax = Float64Array.from({ length: 301 }, (_, years) => Math.min(10, 1.25 ** Math.max(years, 3)));
  // Powers of the scales for horizons up to 30 years, as in the kernel.
  const scales = new Float64Array(31 * 31 * 4);
  for (let horizonYears = 5; horizonYears <= 30; horizonYears++) {
    for (let elapsed = 1; elapsed < horizonYears; elapsed++) {
      const exponent = horizonYears / elapsed;
      scales.set(
        [0.925 ** exponent, 0.95 ** exponent, 1.05 ** exponent, 1.075 ** exponent],
        (horizonYears * 31 + elapsed) * 4,
      );
    }
  }
  const x = new Float64Array(4);

  return (columns: EntityColumns, out: PlainResults): void => {
    const { baselineYears, pathways, growthSeries, baselineScope1, baselineScope2, baselineScope3 } = columns;
    const { starts, years, scope1, scope2, scope3 } = columns;
    const { temperaturesC, rangeLowC, rangeHighC, flags, coverage } = out;
    const entityCount = starts.length - 1;
    for (let entity = 0; entity < entityCount; entity++) {
      const b = baselineYears[entity]!;
      const pathway = pathways[entity]!;
      const series = growthSeries[entity]!;
      const e1 = baselineScope1[entity]!;
      const e2 = baselineScope2[entity]!;
      const e3 = baselineScope3[entity]!;
      const baseAt = Math.min(Math.max(b, firstYear), lastYear) - firstYear;
      const pathway3 = pathway >= 4 ? pathway : 0;
      const f1 = perBase[baseAt * PATHWAY_COUNT + pathway]!;
      const f2 = perBase[baseAt * PATHWAY_COUNT + 1]!;
      const f3 = perBase[baseAt * PATHWAY_COUNT + pathway3]!;
      const hasSeries = series < growth.length;
      const growthAt = (hasSeries ? series : growth.length) * yearCount;
      const perGrowth = 1 / ratios[growthAt + baseAt]!;
      const horizon = Math.max(b + 5, horizonYear);
      const end = starts[entity + 1]!;
      let entityFlags = b < 2018 ? EARLY_BASELINE : 0;
      if (!hasSeries) entityFlags |= GROWTH_DEFAULT;
      else if (isRegion[series]!) entityFlags |= GROWTH_REGION;
      if (e3 !== e3) {
        let row = starts[entity]!;
        while (row < end && scope3[row]! !== scope3[row]!) row++;
        if (row === end) entityFlags |= SCOPE3_ABSENT;
      }
      let isAscending = true;
      let yearBefore = b;
      for (let row = starts[entity]!; row < end; row++) {
        const year = years[row]!;
        if (year <= yearBefore) isAscending = false;
        yearBefore = year;
        const y1 = scope1[row]!;
        const y2 = scope2[row]!;
        const y3 = scope3[row]!;
        const u1 = e1 === e1 && y1 === y1;
        const u2 = e2 === e2 && y2 === y2;
        const u3 = e3 === e3 && y3 === y3;
        let flag = entityFlags;
        if (e1 < 0 || e2 < 0 || e3 < 0 || y1 < 0 || y2 < 0 || y3 < 0) flag |= NEGATIVE_SCOPE;
        const isShort = year < horizon;
        const scored = isShort ? horizon : year;
        if (isShort) flag |= SHORT_HORIZON;
        if (scored > lastYear) flag |= BEYOND_TABLE;
        const b1 = u1 ? e1 : 0;
        const b2 = u2 ? e2 : 0;
        const b3 = u3 ? e3 : 0;
        const c1 = u1 ? y1 : 0;
        const c2 = u2 ? y2 : 0;
        const c3 = u3 ? y3 : 0;
        coverage[row] = NaN;
        if ((e1 === e1) !== (y1 === y1) || (e2 === e2) !== (y2 === y2) || (e3 === e3) !== (y3 === y3)) {
          flag |= SCOPE_DROPPED;
          const givenBefore = positive(e1) + positive(e2) + positive(e3);
          const givenAfter = positive(y1) + positive(y2) + positive(y3);
          coverage[row] = Math.min(
            givenBefore > 0 ? (positive(b1) + positive(b2) + positive(b3)) / givenBefore : 1,
            givenAfter > 0 ? (positive(c1) + positive(c2) + positive(c3)) / givenAfter : 1,
          );
        }
        const before = b1 + b2 + b3;
        const after = c1 + c2 + c3;
        if (!(before >= 1e-12)) {
          const hasScope = u1 || u2 || u3;
          flags[row] = (flag & ~GROWTH_FLAGS) | (hasScope ? ZERO_BASELINE : NO_USABLE_SCOPE);
          const value = hasScope && after <= 0 ? lowerBoundC : NaN;
          temperaturesC[row] = value;
          rangeLowC[row] = value;
          rangeHighC[row] = value;
          continue;
        }
        const p1 = b1 > 0 ? b1 : 0;
        const p2 = b2 > 0 ? b2 : 0;
        const p3 = b3 > 0 ? b3 : 0;
        const perShare = 1 / (p1 + p2 + p3);
        const n1 = p1 * perShare;
        const n2 = p2 * perShare;
        const n3 = p3 * perShare;
        const low = changeMin[year - b]!;
        const high = changeMax[year - b]!;
        if (
          after > high * before ||
          (after > 0 && after < low * before) ||
          (n1 >= 0.1 && c1 > 0 && (c1 > high * b1 || c1 < low * b1)) ||
          (n2 >= 0.1 && c2 > 0 && (c2 > high * b2 || c2 < low * b2)) ||
          (n3 >= 0.1 && c3 > 0 && (c3 > high * b3 || c3 < low * b3))
        ) {
          flag |= IMPLAUSIBLE_CHANGE;
        }
        const yearAt = (year < lastYear ? (year > firstYear ? year : firstYear) : lastYear) - firstYear;
        const growthRatio = ratios[growthAt + yearAt]! * perGrowth;
        const f = growthRatio > 1.5 ? 1.5 : growthRatio < 2 / 3 ? 2 / 3 : growthRatio;
        if (f !== growthRatio) flag |= GROWTH_LIMITED;
        const ofEmissions = after > 0 ? after / before : 0;

        const scoredAt = ((scored < lastYear ? scored : lastYear) - firstYear) * yearSize;
        const m1 = n1 * f1;
        const m2 = n2 * f2;
        const m3 = n3 * f3;
        const i1 = scoredAt + pathway * 4;
        const i2 = scoredAt + 4;
        const i3 = scoredAt + pathway3 * 4;
        let x1 = m1 * index[i1]! + m2 * index[i2]! + m3 * index[i3]!;
        let x2 = m1 * index[i1 + 1]! + m2 * index[i2 + 1]! + m3 * index[i3 + 1]!;
        let x3 = m1 * index[i1 + 2]! + m2 * index[i2 + 2]! + m3 * index[i3 + 2]!;
        let x4 = m1 * index[i1 + 3]! + m2 * index[i2 + 3]! + m3 * index[i3 + 3]!;
        if (x1 < GAP || x2 < x1 + GAP || x3 < x2 + GAP || x4 < x3 + GAP) {
          x[0] = x1;
          x[1] = x2;
          x[2] = x3;
          x[3] = x4;
          if (separate(x)) flag |= ANCHORS_CLOSE;
          x1 = x[0]!;
          x2 = x[1]!;
          x3 = x[2]!;
          x4 = x[3]!;
        }

        let q = ofEmissions * f;
        let emissionsQ = ofEmissions;
        let low75 = 0.925 * q;
        let low5 = 0.95 * q;
        let high5 = 1.05 * q;
        let high75 = 1.075 * q;
        if (isShort) {
          const exponent = (scored - b) / (year - b);
          const power = q ** exponent;
          if (f !== 1) emissionsQ = Math.min(ofEmissions ** exponent, 10);
          const isTabled = scored - b <= 30;
          const scalesAt = ((scored - b) * 31 + year - b) * 4;
          low75 = Math.min(power * (isTabled ? scales[scalesAt]! : 0.925 ** exponent), 10);
          low5 = Math.min(power * (isTabled ? scales[scalesAt + 1]! : 0.95 ** exponent), 10);
          high5 = Math.min(power * (isTabled ? scales[scalesAt + 2]! : 1.05 ** exponent), 10);
          high75 = Math.min(power * (isTabled ? scales[scalesAt + 3]! : 1.075 ** exponent), 10);
          q = Math.min(power, 10);
          if (f === 1) emissionsQ = q;
        }
        // The segment of q: its start, end, temperature and slope.
        let from = 0;
        let to = x1;
        let fromC = lowerBoundC;
        let slope: number;
        if (q > x4) {
          from = x4;
          to = x4 * (1 + excessMax);
          fromC = t4;
          slope = (t4 - currentC) / x4;
        } else if (q > x3) {
          from = x3;
          to = x4;
          fromC = t3;
          slope = (t4 - t3) / (x4 - x3);
        } else if (q > x2) {
          from = x2;
          to = x3;
          fromC = t2;
          slope = (t3 - t2) / (x3 - x2);
        } else if (q > x1) {
          from = x1;
          to = x2;
          fromC = t1;
          slope = (t2 - t1) / (x2 - x1);
        } else slope = (t1 - lowerBoundC) / x1;
        const t = q > to ? 6 : fromC + slope * (q - from);
        temperaturesC[row] = t;
        if (low75 >= from && high75 <= to) {
          rangeLowC[row] = fromC + slope * (low5 - from);
          rangeHighC[row] = fromC + slope * (high5 - from);
          if (slope * (high75 - q) > NOTABLE_C || slope * (q - low75) > NOTABLE_C) flag |= SENSITIVE;
        } else {
          rangeLowC[row] = curve(low5, x1, x2, x3, x4);
          rangeHighC[row] = curve(high5, x1, x2, x3, x4);
          if (curve(high75, x1, x2, x3, x4) - t > NOTABLE_C || t - curve(low75, x1, x2, x3, x4) > NOTABLE_C) {
            flag |= SENSITIVE;
          }
        }
        if (emissionsQ !== q) {
          const ofEmissionsC =
            emissionsQ >= from && emissionsQ <= to
              ? fromC + slope * (emissionsQ - from)
              : curve(emissionsQ, x1, x2, x3, x4);
          if (Math.abs(t - ofEmissionsC) > NOTABLE_C) flag |= GROWTH_DRIVEN;
        }
        flags[row] = flag;
      }
      if (!isAscending) markDuplicates(columns, flags, entity);
    }
  };

  function curve(q: number, x1: number, x2: number, x3: number, x4: number): number {
    if (q > x4) return t4 + (t4 - currentC) * Math.min(q / x4 - 1, excessMax);
    if (q > x3) return t3 + ((t4 - t3) * (q - x3)) / (x4 - x3);
    if (q > x2) return t2 + ((t3 - t2) * (q - x2)) / (x3 - x2);
    if (q > x1) return t1 + ((t2 - t1) * (q - x1)) / (x2 - x1);
    return lowerBoundC + ((t1 - lowerBoundC) * q) / x1;
  }
}

function positive(value: number): number {
  return value > 0 ? value : 0;
}

/** Orders four anchors with steps of at least GAP (pool adjacent violators), and returns whether one was moved. */
function separate(x: Float64Array): boolean {
  const [x1 = NaN, x2 = NaN, x3 = NaN, x4 = NaN] = x;
  for (let i = 1; i < 4; i++) x[i] = x[i]! - i * GAP;
  // Each block starts at the index where it was last extended.
  for (let i = 1; i < 4; i++) {
    if (x[i]! >= x[i - 1]!) continue;
    let from = i;
    let sum = x[i]!;
    let mean = sum;
    while (from > 0 && x[from - 1]! > mean) {
      const level = x[from - 1]!;
      while (from > 0 && level === x[from - 1]) {
        from--;
        sum += level;
      }
      mean = sum / (i - from + 1);
    }
    for (let j = from; j <= i; j++) x[j] = mean;
  }
  for (let i = 1; i < 4; i++) x[i] = x[i]! + i * GAP;
  let below = 0;
  for (let i = 0; i < 4; i++) {
    x[i] = Math.max(x[i]!, below + GAP);
    below = x[i]!;
  }
  return (
    Math.abs(x[0]! - x1) > 1e-12 ||
    Math.abs(x[1]! - x2) > 1e-12 ||
    Math.abs(x[2]! - x3) > 1e-12 ||
    Math.abs(x[3]! - x4) > 1e-12
  );
}

function markDuplicates({ starts, years }: EntityColumns, flags: Uint32Array, entity: number): void {
  const seen = new Map<number, number>();
  for (let row = starts[entity]!; row < starts[entity + 1]!; row++) {
    const first = seen.get(years[row]!);
    if (first === undefined) seen.set(years[row]!, row);
    else {
      flags[first] = flags[first]! | DUPLICATE_YEAR;
      flags[row] = flags[row]! | DUPLICATE_YEAR;
    }
  }
}
