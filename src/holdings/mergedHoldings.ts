import type { Holding, PortfolioMethod, PortfolioScope, UncoveredReason } from "../contract/wireTypes.ts";
import { UNCOVERED_REASONS } from "../contract/names.ts";

/** Scores of all holdings for one scope, degrees C; NaN where there is none. `lowsC` and `highsC` are both given or both NaN. */
export interface ScoreColumns {
  readonly temperaturesC: Float64Array;
  readonly lowsC: Float64Array;
  readonly highsC: Float64Array;
}

/** Holdings after merging, in order of first appearance, as one column per figure; NaN where a figure is not given. */
export interface HoldingColumns {
  readonly count: number;
  /** The issuer, or the id of the line. */
  readonly ids: readonly string[];
  /** The first line of each holding, from which everything but the value is taken. */
  readonly lines: readonly Holding[];
  /** Position of that line in the request. */
  readonly lineIndices: readonly number[];
  readonly values: Float64Array;
  readonly scope1TCO2e: Float64Array;
  readonly scope2TCO2e: Float64Array;
  readonly scope3TCO2e: Float64Array;
  readonly marketCaps: Float64Array;
  readonly enterpriseValues: Float64Array;
  /** Enterprise value including cash: as given, else enterprise value plus cash. */
  readonly evics: Float64Array;
  readonly totalAssets: Float64Array;
  readonly revenues: Float64Array;
  /** Equity plus debt; NaN unless both are given. */
  readonly capitals: Float64Array;
  readonly qualities: Readonly<Record<"s1s2" | "s3", Float64Array>>;
  readonly allowedTCO2e: Float64Array;
  readonly projectedTCO2e: Float64Array;
  readonly scores: Readonly<Record<PortfolioScope, ScoreColumns>>;
}

/**
 * Merges lines of one issuer and converts the holdings to columns: values are added, everything else is taken from the
 * first line of the issuer. Figures of entities are not read here; see entityScores.ts.
 */
export function mergeHoldings(lines: readonly Holding[]): HoldingColumns {
  const indexOfIssuer = new Map<string, number>();
  const lineIndices: number[] = [];
  const sums: number[] = [];
  for (let lineIndex = 0; lineIndex < lines.length; lineIndex++) {
    const { id, issuer, value } = lines[lineIndex] as Holding;
    const name = issuer ?? id;
    const index = indexOfIssuer.get(name);
    if (index === undefined) {
      indexOfIssuer.set(name, lineIndices.length);
      lineIndices.push(lineIndex);
      sums.push(value);
    } else sums[index] = (sums[index] ?? 0) + value;
  }
  const firstLines = lineIndices.map((lineIndex) => lines[lineIndex] as Holding);
  const column = (figure: (line: Holding) => number | null | undefined): Float64Array => columnOf(firstLines, figure);
  return {
    count: firstLines.length,
    ids: [...indexOfIssuer.keys()],
    lines: firstLines,
    lineIndices,
    values: Float64Array.from(sums),
    scope1TCO2e: column(({ scope1 }) => scope1),
    scope2TCO2e: column(({ scope2 }) => scope2),
    scope3TCO2e: column(({ scope3 }) => scope3),
    marketCaps: column((line) => line.market_cap),
    enterpriseValues: column((line) => line.enterprise_value),
    evics: column((line) => line.evic ?? (line.enterprise_value ?? NaN) + (line.cash ?? NaN)),
    totalAssets: column((line) => line.total_assets),
    revenues: column(({ revenue }) => revenue),
    capitals: column(({ equity, debt }) => (equity ?? NaN) + (debt ?? NaN)),
    qualities: {
      s1s2: column((line) => line.data_quality?.s1s2),
      s3: column((line) => line.data_quality?.s3),
    },
    allowedTCO2e: column(({ budget }) => budget?.allowed),
    projectedTCO2e: column(({ budget }) => budget?.projected),
    scores: {
      s1s2: scoreColumns(firstLines, "s1s2"),
      s3: scoreColumns(firstLines, "s3"),
      s1s2s3: scoreColumns(firstLines, "s1s2s3"),
    },
  };
}

function scoreColumns(lines: readonly Holding[], scope: PortfolioScope): ScoreColumns {
  const count = lines.length;
  const temperaturesC = new Float64Array(count).fill(NaN);
  const lowsC = new Float64Array(count).fill(NaN);
  const highsC = new Float64Array(count).fill(NaN);
  for (let i = 0; i < count; i++) {
    const score = lines[i]?.temperature?.[scope];
    if (score === undefined || score === null) continue;
    if (typeof score === "number") temperaturesC[i] = score;
    else {
      temperaturesC[i] = score.t;
      lowsC[i] = score.low ?? NaN;
      highsC[i] = score.high ?? NaN;
    }
  }
  return { temperaturesC, lowsC, highsC };
}

/** Returns a figure of each line, NaN where it is not given. A loop, because `Float64Array.from` takes five times as long. */
function columnOf(lines: readonly Holding[], figure: (line: Holding) => number | null | undefined): Float64Array {
  const column = new Float64Array(lines.length);
  for (let i = 0; i < lines.length; i++) column[i] = figure(lines[i] as Holding) ?? NaN;
  return column;
}

/**
 * Buffers of the columns that a method and scope need, one element per holding. The methods and scopes of a portfolio share
 * them, because allocating them each time would take longer than filling them.
 */
export interface ResultBuffers {
  readonly weights: Float64Array;
  readonly weightReasonNumbers: Uint8Array;
  readonly usedWeights: Float64Array;
  readonly usedScoresC: Float64Array;
  readonly reasonNumbers: Uint8Array;
  /** Sums of weights, and of weight times score, from a holding to the last; one more element for the sum of none. */
  readonly laterWeights: Float64Array;
  readonly laterScores: Float64Array;
}

export function createResultBuffers(count: number): ResultBuffers {
  return {
    weights: new Float64Array(count),
    weightReasonNumbers: new Uint8Array(count),
    usedWeights: new Float64Array(count),
    usedScoresC: new Float64Array(count),
    reasonNumbers: new Uint8Array(count),
    laterWeights: new Float64Array(count + 1),
    laterScores: new Float64Array(count + 1),
  };
}

/** Weights of all holdings by one method and scope. */
export interface HoldingWeights {
  /** Weight a; NaN for a holding without one. */
  readonly weights: Float64Array;
  /** 0 for a holding with a weight, else the number of the reason why it has none (`reasonOf`). */
  readonly reasonNumbers: Uint8Array;
}

/** Returns the reason of a number other than 0. */
export function reasonOf(reasonNumber: number): UncoveredReason {
  const reason = UNCOVERED_REASONS[reasonNumber - 1];
  if (reason === undefined) throw new Error(`There is no reason ${reasonNumber}.`);
  return reason;
}

/** Returns the number of a reason in a column. */
export function reasonNumberOf(reason: UncoveredReason): number {
  return UNCOVERED_REASONS.indexOf(reason) + 1;
}

const EMISSIONS_MISSING = reasonNumberOf("emissions_missing");
const EMISSIONS_NEGATIVE = reasonNumberOf("emissions_negative");
const DENOMINATOR_MISSING = reasonNumberOf("denominator_missing");
const DENOMINATOR_NOT_POSITIVE = reasonNumberOf("denominator_not_positive");

/** Returns the emissions of the companies in a scope, t CO2e; NaN where a part is missing. */
export function emissionsOf(columns: HoldingColumns, scope: PortfolioScope): Float64Array {
  const { count, scope1TCO2e, scope2TCO2e, scope3TCO2e } = columns;
  if (scope === "s3") return scope3TCO2e;
  const emissionsTCO2e = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const scope1 = scope1TCO2e[i] as number;
    const scope2 = scope2TCO2e[i] as number;
    // One of scopes 1 and 2 may be missing and then counts as 0.
    const scopes1And2 = Number.isNaN(scope1) ? scope2 : Number.isNaN(scope2) ? scope1 : scope1 + scope2;
    emissionsTCO2e[i] = scope === "s1s2" ? scopes1And2 : scopes1And2 + (scope3TCO2e[i] as number);
  }
  return emissionsTCO2e;
}

/**
 * Computes the weight of each holding ("Weights" in docs/methods/portfolio.md).
 *
 * @param emissionsTCO2e the emissions of the scope, from `emissionsOf`
 * @param buffers hold the result until the next call
 */
export function weighHoldings(
  columns: HoldingColumns,
  method: PortfolioMethod,
  emissionsTCO2e: Float64Array,
  { weights, weightReasonNumbers: reasonNumbers }: ResultBuffers,
): HoldingWeights {
  const { count, values } = columns;
  reasonNumbers.fill(0);
  if (method === "WATS") return { weights: values, reasonNumbers };
  const denominators = method === "TETS" ? undefined : columns[DENOMINATOR_COLUMNS[method]];
  weights.fill(NaN);
  for (let i = 0; i < count; i++) {
    const emissions = emissionsTCO2e[i] as number;
    const denominator = denominators === undefined ? 1 : (denominators[i] as number);
    if (Number.isNaN(emissions)) reasonNumbers[i] = EMISSIONS_MISSING;
    else if (emissions < 0) reasonNumbers[i] = EMISSIONS_NEGATIVE;
    else if (Number.isNaN(denominator)) reasonNumbers[i] = DENOMINATOR_MISSING;
    else if (denominator <= 0) reasonNumbers[i] = DENOMINATOR_NOT_POSITIVE;
    else weights[i] = denominators === undefined ? emissions : ((values[i] as number) / denominator) * emissions;
  }
  return { weights, reasonNumbers };
}

/** Column that the value of a holding is divided by. TETS has none, because it ignores the value. */
const DENOMINATOR_COLUMNS = {
  MOTS: "marketCaps",
  EOTS: "enterpriseValues",
  ECOTS: "evics",
  AOTS: "totalAssets",
  ROTS: "revenues",
} as const satisfies Partial<Record<PortfolioMethod, keyof HoldingColumns>>;
