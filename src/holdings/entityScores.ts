/** Scores of the entities of holdings. Those of a year, or over all years, are means over the labels of the projections. */
import { type AlignedEntities, alignValidEntities, firstRowOf } from "../alignment/alignEntities.ts";
import { readEntities } from "../alignment/entity.ts";
import type { AlignTemperatureOptions } from "../alignment/options.ts";
import { resultOf } from "../alignment/alignTemperature.ts";
import { runKernel, tablesOf } from "../alignment/sharedKernel.ts";
import type {
  Entity,
  ExcludedLabels,
  Holding,
  HoldingBudget,
  PortfolioOptions,
  PortfolioScope,
  RefusedEntity,
  ScoredHolding,
} from "../contract/wireTypes.ts";
import { isFault } from "../errors.ts";
import type { HoldingColumns } from "./mergedHoldings.ts";
import { labelShares, overallOf } from "../alignment/summaries.ts";

/**
 * Maximum number of projected years per chunk, unless a single entity has more. Scoring a chunk takes a fraction of a time
 * slice.
 */
const YEARS_PER_CHUNK_MAX = 1024;

/** The scored and refused entities of one chunk of holdings. */
interface EntityChunkResult {
  /** In the order of the holdings. */
  readonly entities: readonly (ScoredHolding | RefusedEntity)[];
  /** Number of temperatures of projected years that are not null. */
  readonly temperatureCount: number;
}

/**
 * Counts the entities of a portfolio and their projected years, valid or not. Only the first line of each issuer counts.
 */
export function countEntities(lines: readonly Holding[]): {
  readonly entityCount: number;
  readonly projectionCount: number;
} {
  const issuers = new Set<string>();
  let entityCount = 0;
  let projectionCount = 0;
  for (const { id, issuer, entity } of lines) {
    const name = issuer ?? id;
    if (issuers.has(name)) continue;
    issuers.add(name);
    if (entity === undefined || entity === null) continue;
    entityCount++;
    projectionCount += projectionCountOf(entity);
  }
  return { entityCount, projectionCount };
}

/** Returns the number of projected years of an entity that may be invalid. */
function projectionCountOf({ projected_emissions: records }: Partial<Entity>): number {
  return Array.isArray(records) ? records.length : 0;
}

/**
 * Scores the entities of the holdings chunk by chunk, and writes their scores, emissions, revenue and budget to the
 * columns. Where an entity does not give emissions or revenue, those of the holding are kept. An invalid entity changes
 * nothing.
 */
export async function* scoreEntities(
  columns: HoldingColumns,
  options: PortfolioOptions,
): AsyncGenerator<EntityChunkResult, void, undefined> {
  for (const indices of chunksOf(columns)) {
    const refused = new Map<number, RefusedEntity>();
    const valid: { readonly index: number; readonly entity: Entity }[] = [];
    for (const index of indices) {
      const error = refusalOf(columns, index);
      if (error !== undefined) refused.set(index, error);
      else valid.push({ index, entity: columns.lines[index]?.entity as Entity });
    }
    const scored = await scoreValidEntities(columns, valid, options);
    yield {
      entities: indices.map((index) => (refused.get(index) ?? scored.get(index)) as RefusedEntity | ScoredHolding),
      temperatureCount: [...scored.values()].reduce((count, { data }) => count + countTemperatures(data), 0),
    };
  }
}

function countTemperatures(data: ScoredHolding["data"]): number {
  let count = 0;
  for (const { temperature_alignment: temperature } of data) if (temperature !== null) count++;
  return count;
}

/** Divides the holdings with an entity into chunks of a limited number of projected years. */
function* chunksOf({ lines }: HoldingColumns): Generator<readonly number[]> {
  let indices: number[] = [];
  let yearCount = 0;
  for (const [index, { entity }] of lines.entries()) {
    if (entity === undefined || entity === null) continue;
    const added = projectionCountOf(entity);
    if (indices.length > 0 && yearCount + added > YEARS_PER_CHUNK_MAX) {
      yield indices;
      indices = [];
      yearCount = 0;
    }
    indices.push(index);
    yearCount += added;
  }
  if (indices.length > 0) yield indices;
}

/** Returns the errors of an invalid entity, with pointers into the request; undefined if the entity is valid. */
function refusalOf({ ids, lines, lineIndices }: HoldingColumns, index: number): RefusedEntity | undefined {
  try {
    readEntities([lines[index]?.entity]);
    return undefined;
  } catch (error) {
    if (!isFault(error)) throw error;
    const { code, message: detail, items } = error;
    const pointer = `/holdings/${lineIndices[index]}/entity`;
    const errors = items.map((item) => ({ ...item, pointer: pointer + (item.pointer ?? "").replace(/^\/0/, "") }));
    return { id: ids[index] as string, error: { code, detail, errors } };
  }
}

async function scoreValidEntities(
  columns: HoldingColumns,
  valid: readonly { readonly index: number; readonly entity: Entity }[],
  options: PortfolioOptions,
): Promise<ReadonlyMap<number, ScoredHolding>> {
  if (valid.length === 0) return new Map();
  const entities = valid.map(({ entity }) => entity);
  const aligned = await alignValidEntities(entities, alignmentOptionsOf(options));
  const { year = "overall", scopes = ["s1s2s3"] } = options;
  const excludedLabels = valid.map((): Writable<ExcludedLabels> => ({}));
  for (const scope of scopes) {
    const restricted = restrictScopes(aligned, scope);
    const { temperaturesC, lowsC, highsC } = columns.scores[scope];
    for (const [i, { index }] of valid.entries()) {
      const score = scoreOfYear(restricted, i, year);
      if (score === null) continue;
      temperaturesC[index] = score.temperatureC;
      lowsC[index] = score.lowC;
      highsC[index] = score.highC;
      if (score.excludedLabels.length > 0) (excludedLabels[i] ??= {})[scope] = score.excludedLabels;
    }
  }
  for (const [i, { index, entity }] of valid.entries()) {
    setGivenFigures(columns, index, entity);
    const budget = budgetOfYear(aligned, i, year);
    if (budget === null) continue;
    columns.allowedTCO2e[index] = budget.allowed;
    columns.projectedTCO2e[index] = budget.projected;
    if (budget.excludedLabels.length > 0) (excludedLabels[i] ??= {}).budget = budget.excludedLabels;
  }
  return new Map(
    valid.map(({ index }, i) => {
      const excluded = excludedLabels[i] ?? {};
      const holding: ScoredHolding = {
        id: columns.ids[index] as string,
        ...resultOf(aligned, i),
        ...(Object.keys(excluded).length === 0 ? {} : { excluded_labels: excluded }),
      };
      return [index, holding] as const;
    }),
  );
}

type Writable<Members> = { -readonly [Name in keyof Members]: Members[Name] };

function alignmentOptionsOf({ basis, convergence, budget_scenario: budgetScenario }: PortfolioOptions) {
  const options: AlignTemperatureOptions = { basis, convergence, budgetScenario, include: ["overall", "budget"] };
  return options;
}

/**
 * Scores entities again from the given scopes only; the others are treated as absent. Returns `aligned` itself for all
 * scopes.
 */
function restrictScopes(aligned: AlignedEntities, scope: PortfolioScope): AlignedEntities {
  if (scope === "s1s2s3") return aligned;
  const { kernel, benchmark, rule } = aligned;
  const absent = (column: Float64Array): Float64Array => new Float64Array(column.length).fill(NaN);
  const { baselineScope1, baselineScope2, baselineScope3, scope1, scope2, scope3 } = aligned.columns;
  const columns =
    scope === "s1s2"
      ? { ...aligned.columns, baselineScope3: absent(baselineScope3), scope3: absent(scope3) }
      : {
          ...aligned.columns,
          baselineScope1: absent(baselineScope1),
          baselineScope2: absent(baselineScope2),
          scope1: absent(scope1),
          scope2: absent(scope2),
        };
  return {
    ...aligned,
    columns,
    rows: runKernel(kernel, tablesOf(benchmark), columns, { rule, include: { overall: true } }),
  };
}

/** Writes the emissions of the baseline year and the revenue of an entity, where it gives them. */
function setGivenFigures(columns: HoldingColumns, index: number, { data: [baseline] }: Entity): void {
  const { scope1, scope2, scope3 } = baseline?.emissions ?? {};
  if (scope1 !== undefined) columns.scope1TCO2e[index] = scope1;
  if (scope2 !== undefined) columns.scope2TCO2e[index] = scope2;
  if (scope3 !== undefined) columns.scope3TCO2e[index] = scope3;
  const revenue = baseline?.financials?.revenue;
  if (revenue !== undefined) columns.revenues[index] = revenue;
}

/** A score or a budget, and the labels that it is not based on. */
interface LabelMean {
  /** Labels of the entity without a value, in order of first appearance. */
  readonly excludedLabels: readonly string[];
}

/** Degrees C. */
interface EntityScore extends LabelMean {
  readonly temperatureC: number;
  readonly lowC: number;
  readonly highC: number;
}

/**
 * Returns the score of an entity: `overall`, or the mean over the labels in a projected year. In that year the last
 * record of each label counts, and the probabilities of the labels without a temperature are left out of the mean.
 *
 * @returns null if no label with a probability above 0 has a temperature
 */
function scoreOfYear(aligned: AlignedEntities, index: number, year: number | "overall"): EntityScore | null {
  const { temperaturesC, rangeLowC, rangeHighC } = aligned.rows;
  const hasTemperature = (row: number): boolean => !Number.isNaN(temperaturesC[row] ?? NaN);
  if (year === "overall") {
    const overall = overallOf(aligned, index);
    if (overall === null) return null;
    const { temperature_alignment: temperatureC, range } = overall;
    const excludedLabels = labelsWithout(aligned, index, hasTemperature);
    return { temperatureC, lowC: range.low, highC: range.high, excludedLabels };
  }
  const rows = lastRows(aligned, index, { year, hasValue: hasTemperature });
  const shares = sharesOf(aligned, index, rows);
  if (shares === null) return null;
  return {
    temperatureC: weightedSum(temperaturesC, shares),
    lowC: weightedSum(rangeLowC, shares),
    highC: weightedSum(rangeHighC, shares),
    excludedLabels: excludedLabelsOf(aligned, index, rows),
  };
}

/**
 * Returns the budget of an entity up to a projected year, or up to the last year with a budget (`overall`): the mean over
 * the labels that have a budget up to that year.
 *
 * @returns null if no label with a probability above 0 has a budget
 */
function budgetOfYear(
  aligned: AlignedEntities,
  index: number,
  year: number | "overall",
): (HoldingBudget & LabelMean) | null {
  const { budgetAllowed, budgetProjected } = aligned.rows;
  if (budgetAllowed === undefined || budgetProjected === undefined) throw new Error("Budgets were not requested.");
  const hasBudget = (row: number): boolean => !Number.isNaN(budgetAllowed[row] ?? NaN);
  const lastYear = year === "overall" ? lastYearWith(aligned, index, hasBudget) : year;
  const rows = lastRows(aligned, index, { year: lastYear, hasValue: hasBudget });
  const shares = sharesOf(aligned, index, rows);
  if (shares === null) return null;
  return {
    allowed: weightedSum(budgetAllowed, shares),
    projected: weightedSum(budgetProjected, shares),
    excludedLabels: excludedLabelsOf(aligned, index, rows),
  };
}

/** Rows by the label of their records; the label of records without one is undefined. */
type RowOfLabel = ReadonlyMap<string | undefined, number>;

function recordsOf({ entities }: AlignedEntities, index: number): Entity["projected_emissions"] {
  return entities[index]?.projected_emissions ?? [];
}

/** Returns the last row of each label in a year, of the labels for which this row has a value. */
function lastRows(
  aligned: AlignedEntities,
  index: number,
  { year, hasValue }: { readonly year: number; hasValue(row: number): boolean },
): RowOfLabel {
  const firstRow = firstRowOf(aligned, index);
  const rowOfLabel = new Map<string | undefined, number>();
  for (const [i, record] of recordsOf(aligned, index).entries()) {
    if (record.year === year) rowOfLabel.set(record.label, firstRow + i);
  }
  return new Map([...rowOfLabel].filter(([, row]) => hasValue(row)));
}

function lastYearWith(aligned: AlignedEntities, index: number, hasValue: (row: number) => boolean): number {
  const firstRow = firstRowOf(aligned, index);
  return recordsOf(aligned, index).reduce(
    (last, { year }, i) => (hasValue(firstRow + i) ? Math.max(last, year) : last),
    -Infinity,
  );
}

/** Returns the share of each row in a mean over its labels; null if the shares add up to 0. */
function sharesOf(aligned: AlignedEntities, index: number, rows: RowOfLabel): ReadonlyMap<number, number> | null {
  const shareOfLabel = labelShares(recordsOf(aligned, index));
  const shares = [...rows].map(
    ([label, row]) => [row, label === undefined ? 1 : (shareOfLabel.get(label) ?? 0)] as const,
  );
  const sum = shares.reduce((total, [, share]) => total + share, 0);
  return sum === 0 ? null : new Map(shares.map(([row, share]) => [row, share / sum]));
}

function weightedSum(column: Float64Array, shares: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (const [row, share] of shares) sum += share * (column[row] ?? NaN);
  return sum;
}

/** Returns the labels of an entity that have no row. */
function excludedLabelsOf(aligned: AlignedEntities, index: number, rows: RowOfLabel): readonly string[] {
  return [...labelShares(recordsOf(aligned, index)).keys()].filter((label) => !rows.has(label));
}

/** Returns the labels of an entity none of whose rows has a value. */
function labelsWithout(aligned: AlignedEntities, index: number, hasValue: (row: number) => boolean): readonly string[] {
  const records = recordsOf(aligned, index);
  const firstRow = firstRowOf(aligned, index);
  const labels = new Set(records.filter((_, i) => hasValue(firstRow + i)).map(({ label }) => label));
  return [...labelShares(records).keys()].filter((label) => !labels.has(label));
}
