import { type Benchmark, tabulateByYear } from "../src/alignment/benchmark.ts";
import type { EntityColumns } from "../src/kernel/alignmentColumns.ts";
import { ANCHOR_COUNT, GROWTH_REGION_COUNT, PATHWAY_COUNT } from "../src/kernel/alignmentTables.ts";

/**
 * The competitor of the alignment kernel: the default method (basis `intensity`, no convergence, all of scope 3) in
 * plain JavaScript, optimized: tables are precomputed, nothing is allocated, and, as in the kernel, q and the anchors
 * are multiplied by the sum of the shares so that a row costs one division. Does not validate its columns.
 */
export function plainAlignment(benchmark: Benchmark) {
  const { firstYear, lastYear, baseYear, horizonYear, anchorTemperaturesC, currentTemperatureC, index, growth } =
    tabulateByYear(benchmark);
  const [t1 = NaN, t2 = NaN, t3 = NaN, t4 = NaN] = anchorTemperaturesC;
  const yearSize = PATHWAY_COUNT * ANCHOR_COUNT;
  const perBase = new Float64Array((lastYear - firstYear + 1) * PATHWAY_COUNT).fill(1);
  for (let i = (baseYear - firstYear + 1) * PATHWAY_COUNT; i < perBase.length; i++) perBase[i] = 1 / index[i * 4 + 3]!;
  const allowance = growth.map((size, i) => growth[i - (i % GROWTH_REGION_COUNT)]! / size);
  const x = new Float64Array(4);

  return (columns: EntityColumns, out: { readonly temperaturesC: Float64Array; readonly flags: Uint16Array }): void => {
    const { baselineYears, pathways, regions, baselineScope1, baselineScope2, baselineScope3 } = columns;
    const { starts, years, scope1, scope2, scope3 } = columns;
    const { temperaturesC, flags } = out;
    const entityCount = starts.length - 1;
    for (let entity = 0; entity < entityCount; entity++) {
      const b = baselineYears[entity]!;
      const pathway = pathways[entity]!;
      const region = regions[entity]!;
      const e1 = baselineScope1[entity]!;
      const e2 = baselineScope2[entity]!;
      const e3 = baselineScope3[entity]!;
      const baseAt = Math.min(Math.max(b, firstYear), lastYear) - firstYear;
      const pathway3 = pathway >= 4 ? pathway : 0;
      const f1 = perBase[baseAt * PATHWAY_COUNT + pathway]!;
      const f2 = perBase[baseAt * PATHWAY_COUNT + 1]!;
      const f3 = perBase[baseAt * PATHWAY_COUNT + pathway3]!;
      const perGrowth = 1 / allowance[baseAt * GROWTH_REGION_COUNT + region]!;
      const horizon = Math.max(b + 5, horizonYear);
      const end = starts[entity + 1]!;
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
        let flag = b < 2018 ? 512 : 0;
        if ((e1 === e1) !== (y1 === y1) || (e2 === e2) !== (y2 === y2) || (e3 === e3) !== (y3 === y3)) flag |= 8;
        if (!u1 && !u2 && !u3) {
          flags[row] = flag | 16 | (year > lastYear ? 256 : 0) | (year < horizon ? 4096 : 0);
          temperaturesC[row] = NaN;
          continue;
        }
        const b1 = u1 ? e1 : 0;
        const b2 = u2 ? e2 : 0;
        const b3 = u3 ? e3 : 0;
        const c1 = u1 ? y1 : 0;
        const c2 = u2 ? y2 : 0;
        const c3 = u3 ? y3 : 0;
        if (b1 < 0 || b2 < 0 || b3 < 0 || c1 < 0 || c2 < 0 || c3 < 0) flag |= 64;
        const scored = year < horizon ? horizon : year;
        if (year < horizon) flag |= 4096;
        if (scored > lastYear) flag |= 256;
        const before = b1 + b2 + b3;
        const after = c1 + c2 + c3;
        if (!(before >= 1e-12)) {
          flags[row] = flag | 32;
          temperaturesC[row] = after < 1e-12 ? 1.3 : NaN;
          continue;
        }
        const p1 = b1 > 0 ? b1 : 0;
        const p2 = b2 > 0 ? b2 : 0;
        const p3 = b3 > 0 ? b3 : 0;
        const shares = p1 + p2 + p3;
        const at = (year < lastYear ? year : lastYear) - firstYear;
        let q = after > 0 ? after * allowance[at * GROWTH_REGION_COUNT + region]! * perGrowth : 0;
        if (shares !== before) q *= shares / before;
        if (q > 10 * shares || (q > 0 && q < 0.01 * shares)) flag |= 2048;
        if (year < horizon) q = Math.min(Math.pow(q / shares, (scored - b) / (year - b)), 10) * shares;
        const scoredAt = ((scored < lastYear ? scored : lastYear) - firstYear) * yearSize;
        const n1 = p1 * f1;
        const n2 = p2 * f2;
        const n3 = p3 * f3;
        const i1 = scoredAt + pathway * 4;
        const i2 = scoredAt + 4;
        const i3 = scoredAt + pathway3 * 4;
        let x1 = n1 * index[i1]! + n2 * index[i2]! + n3 * index[i3]!;
        let x2 = n1 * index[i1 + 1]! + n2 * index[i2 + 1]! + n3 * index[i3 + 1]!;
        let x3 = n1 * index[i1 + 2]! + n2 * index[i2 + 2]! + n3 * index[i3 + 2]!;
        let x4 = n1 * index[i1 + 3]! + n2 * index[i2 + 3]! + n3 * index[i3 + 3]!;
        const gap = 0.02 * shares;
        if (x1 < gap || x2 < x1 + gap || x3 < x2 + gap || x4 < x3 + gap) {
          x[0] = x1;
          x[1] = x2;
          x[2] = x3;
          x[3] = x4;
          enforceGap(x, gap);
          x1 = x[0]!;
          x2 = x[1]!;
          x3 = x[2]!;
          x4 = x[3]!;
          flag |= 8192;
        }
        let t: number;
        if (q > x4) t = t4 + (t4 - currentTemperatureC) * (q / x4 - 1);
        else if (q > x3) t = t3 + ((t4 - t3) * (q - x3)) / (x4 - x3);
        else if (q > x2) t = t2 + ((t3 - t2) * (q - x2)) / (x3 - x2);
        else if (q > x1) t = t1 + ((t2 - t1) * (q - x1)) / (x2 - x1);
        else t = 1.3 + ((t1 - 1.3) * q) / x1;
        temperaturesC[row] = t > 6 ? 6 : t < 1.3 ? 1.3 : t;
        flags[row] = flag;
      }
      if (!isAscending) markDuplicates(columns, flags, entity);
    }
  };
}

function enforceGap(x: Float64Array, gap: number): void {
  if (x[0]! < gap) x[0] = gap;
  // Pool adjacent violators over four values: each block starts at the index where it was last extended.
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
  for (let i = 1; i < 4; i++) if (x[i]! < x[i - 1]! + gap) x[i] = x[i - 1]! + gap;
}

function markDuplicates({ starts, years }: EntityColumns, flags: Uint16Array, entity: number): void {
  const seen = new Map<number, number>();
  for (let row = starts[entity]!; row < starts[entity + 1]!; row++) {
    const first = seen.get(years[row]!);
    if (first === undefined) seen.set(years[row]!, row);
    else {
      flags[first] = flags[first]! | 1024;
      flags[row] = flags[row]! | 1024;
    }
  }
}
