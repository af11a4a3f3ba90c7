/**
 * Reference implementation of the temperature of one entity in one year, directly from the formulas of
 * docs/methods/alignment.md: slow, and sharing no code with the implementation under test.
 */

export interface OracleBenchmark {
  readonly anchors: readonly { readonly temperature_2100_c: number }[];
  readonly baseYear: number;
  readonly baseTemperatureC: number;
  readonly horizonYear: number;
  readonly pathwayYears: readonly number[];
  readonly pathways: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly growthYears: readonly number[];
  readonly growth: readonly { readonly index: readonly number[] }[];
}

/** Scopes 1 to 3; undefined = not given. */
export type OracleScopes = readonly (number | undefined)[];

export interface OracleEntity {
  readonly baselineYear: number;
  readonly baseline: OracleScopes;
  readonly pathway: string;
  /** Index into the growth of the benchmark. */
  readonly region: number;
  readonly revenue?: number | undefined;
  /** Emissions of the entity's industry by scope, per unit of revenue. */
  readonly reference?: readonly [number, number, number] | undefined;
  readonly projections: readonly { readonly year: number; readonly emissions: OracleScopes }[];
}

export interface OracleRule {
  readonly basis: "intensity" | "emissions" | "cumulative";
  readonly scope3Weight: number;
  readonly gamma: number;
}

export interface OracleScore {
  /** undefined = null */
  readonly temperatureC: number | undefined;
  readonly flags: ReadonlySet<string>;
  readonly ratioQ?: number;
  readonly anchors?: readonly number[];
}

export function scoreByDefinition(
  benchmark: OracleBenchmark,
  entity: OracleEntity,
  rule: OracleRule,
  rowIndex: number,
): OracleScore {
  const flags = new Set<string>();
  const { baselineYear: b, projections } = entity;
  const year = projections[rowIndex]?.year ?? NaN;
  const sameYear = projections.filter((projection) => projection.year === year);
  if (sameYear.length > 1) flags.add("duplicate_year");
  const scored = rule.basis === "cumulative" ? sameYear.at(-1) : projections[rowIndex];
  const emissions = scored?.emissions ?? [];

  const weights = [1, 1, rule.scope3Weight];
  const countedScopes = [0, 1, 2].filter((i) => (weights[i] ?? 0) > 0);
  const usable = countedScopes.filter((i) => entity.baseline[i] !== undefined && emissions[i] !== undefined);
  if (countedScopes.some((i) => (entity.baseline[i] === undefined) !== (emissions[i] === undefined))) {
    flags.add("scope_missing");
  }
  const sumOf = (scopes: OracleScopes): number =>
    usable.reduce((sum, i) => sum + (weights[i] ?? NaN) * (scopes[i] ?? NaN), 0);
  const before = sumOf(entity.baseline);
  const after = sumOf(emissions);

  const tableEnd = benchmark.pathwayYears.at(-1) ?? NaN;
  const scoredYear = Math.max(year, b + 5, benchmark.horizonYear);
  if (scoredYear > tableEnd) flags.add("beyond_table");
  if (b < 2018) flags.add("early_baseline");
  if (year < scoredYear) flags.add("short_horizon");

  const growthOf = (region: number): number =>
    interpolated(benchmark.growthYears, benchmark.growth[region]?.index ?? [], year) /
    interpolated(benchmark.growthYears, benchmark.growth[region]?.index ?? [], b);
  const revenue = entity.revenue ?? NaN;
  const projectedRevenue = revenue * growthOf(entity.region);
  const hasRevenue =
    revenue > 0 && [projectedRevenue, before / revenue, after / projectedRevenue].every(Number.isFinite);
  if (!hasRevenue) flags.add("revenue_unusable");

  if (usable.length === 0) {
    flags.add("no_usable_scope");
    return { temperatureC: undefined, flags };
  }
  if (usable.some((i) => (entity.baseline[i] ?? 0) < 0 || (emissions[i] ?? 0) < 0)) flags.add("negative_scope");

  const reference = usable.reduce((sum, i) => sum + (weights[i] ?? NaN) * (entity.reference?.[i] ?? NaN), 0);
  const converges = rule.gamma > 0 && hasRevenue && reference > 0 && Number.isFinite(reference);
  const relative = (pathway: string, anchor: number, t: number): number => {
    const index = benchmark.pathways[pathway] ?? [];
    const at = (scenario: number, when: number): number =>
      interpolated(benchmark.pathwayYears, index[scenario] ?? [], Math.min(when, tableEnd));
    return at(anchor, t) / (b <= benchmark.baseYear ? 1 : at(3, b));
  };
  const scopePathway = [
    entity.pathway,
    "power",
    entity.pathway === "transport" || entity.pathway === "buildings" ? entity.pathway : "economy",
  ];
  const shareSum = usable.reduce((sum, i) => sum + (weights[i] ?? NaN) * Math.max(entity.baseline[i] ?? NaN, 0), 0);
  const blend = (anchor: number, t: number): number =>
    usable.reduce((sum, i) => {
      const share = ((weights[i] ?? NaN) * Math.max(entity.baseline[i] ?? NaN, 0)) / shareSum;
      return sum + share * relative(scopePathway[i] ?? "", anchor, t);
    }, 0);
  const place = (q: number, raw: readonly number[], gap: number): OracleScore => {
    const anchors = enforceGap(raw, gap);
    if (anchors.some((x, i) => x !== raw[i])) flags.add("anchors_close");
    return { temperatureC: temperatureOf(benchmark, q, anchors), flags, ratioQ: q, anchors };
  };

  if (rule.basis === "cumulative") {
    const span = Array.from({ length: scoredYear - b + 1 }, (_, i) => b + i);
    const nodes = new Map([[b, before < 1e-12 ? 0 : before]]);
    for (const { year: t, emissions: given } of projections) {
      // A later row of the same year replaces an earlier one, even if it lacks a scope.
      if (usable.every((i) => given[i] !== undefined)) nodes.set(t, Math.max(sumOf(given), 0));
      else nodes.delete(t);
    }
    if (before < 1e-12) for (const [t, value] of nodes) if (value < 1e-12) nodes.set(t, 0);
    const years = [...nodes.keys()].toSorted((one, other) => one - other);
    const line = span.map((t) =>
      interpolated(
        years,
        years.map((y) => nodes.get(y) ?? NaN),
        t,
      ),
    );
    if (before < 1e-12) {
      flags.add("zero_baseline");
      return { temperatureC: line.some((value) => value > 0) ? undefined : 1.3, flags };
    }
    flagUnits(flags, Math.max(after, 0) / before);
    const mean = line.reduce((sum, value) => sum + value / before, 0) / span.length;
    const anchors = [0, 1, 2, 3].map((s) => span.reduce((sum, t) => sum + blend(s, t), 0) / span.length);
    return place(mean, anchors, 0.005);
  }

  if (before < 1e-12) {
    flags.add("zero_baseline");
    if (after < 1e-12) return { temperatureC: 1.3, flags };
    if (!converges) return { temperatureC: undefined, flags };
    const level = after / (reference * revenue);
    return place(
      level,
      [0, 1, 2, 3].map((s) => relative(entity.pathway, s, scoredYear)),
      0.02,
    );
  }
  let q = Math.max(after, 0) / before;
  if (rule.basis === "intensity") q *= growthOf(0) / growthOf(entity.region);
  flagUnits(flags, q);
  if (converges) {
    const kappa = Math.min(Math.max(before / revenue / reference, 1 / 4), 4);
    const tau = b >= 2050 ? 1 : Math.min(Math.max((year - b) / (2050 - b), 0), 1);
    q *= kappa ** (rule.gamma * tau);
  }
  if (year < scoredYear) q = Math.min(q ** ((scoredYear - b) / (year - b)), 10);
  return place(
    q,
    [0, 1, 2, 3].map((s) => blend(s, scoredYear)),
    0.02,
  );
}

function flagUnits(flags: Set<string>, q: number): void {
  if (q > 10 || (q > 0 && q < 0.01)) flags.add("check_units");
}

function enforceGap(raw: readonly number[], gap: number): readonly number[] {
  const first = raw.map((x, i) => (i === 0 ? Math.max(x, gap) : x));
  // Pool adjacent violators, one merge at a time, until the block means ascend.
  let blocks = first.map((x) => [x]);
  const mean = (block: readonly number[]): number => block.reduce((sum, x) => sum + x, 0) / block.length;
  for (;;) {
    const at = blocks.findIndex((block, i) => i > 0 && mean(block) < mean(blocks[i - 1] ?? []));
    if (at < 0) break;
    blocks = [...blocks.slice(0, at - 1), [...(blocks[at - 1] ?? []), ...(blocks[at] ?? [])], ...blocks.slice(at + 1)];
  }
  const pooled = blocks.flatMap((block) => block.map(() => (block.length === 1 ? (block[0] ?? NaN) : mean(block))));
  const apart: number[] = [];
  for (const x of pooled) apart.push(Math.max(x, (apart.at(-1) ?? -Infinity) + gap));
  return apart;
}

function temperatureOf(benchmark: OracleBenchmark, q: number, anchors: readonly number[]): number {
  const [t1 = NaN, t2 = NaN, t3 = NaN, t4 = NaN] = benchmark.anchors.map(
    ({ temperature_2100_c }) => temperature_2100_c,
  );
  const [x1 = NaN, x2 = NaN, x3 = NaN, x4 = NaN] = anchors;
  let temperatureC: number;
  if (q <= x1) temperatureC = 1.3 + ((t1 - 1.3) * q) / x1;
  else if (q <= x2) temperatureC = t1 + ((t2 - t1) * (q - x1)) / (x2 - x1);
  else if (q <= x3) temperatureC = t2 + ((t3 - t2) * (q - x2)) / (x3 - x2);
  else if (q <= x4) temperatureC = t3 + ((t4 - t3) * (q - x3)) / (x4 - x3);
  else temperatureC = t4 + (t4 - benchmark.baseTemperatureC) * (q / x4 - 1);
  return Math.min(Math.max(temperatureC, 1.3), 6);
}

function interpolated(years: readonly number[], values: readonly number[], t: number): number {
  const first = years[0] ?? NaN;
  const last = years.at(-1) ?? NaN;
  if (t <= first) return values[0] ?? NaN;
  if (t >= last) return values.at(-1) ?? NaN;
  const i = years.findLastIndex((year) => year <= t);
  const [from = NaN, to = NaN] = [years[i], years[i + 1]];
  const [low = NaN, high = NaN] = [values[i], values[i + 1]];
  return low + ((high - low) * (t - from)) / (to - from);
}
