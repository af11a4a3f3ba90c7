import { ALIGNMENT_FLAGS, ENTITY_FLAG_COUNT } from "../contract/names.ts";
import type {
  AlignedYear,
  AlignmentAnswer,
  AlignmentFlag,
  AlignmentResult,
  EmissionsBudget,
  ScopeTemperatures,
  TemperatureRange,
} from "../contract/wireTypes.ts";

/** Bits of the flags that concern the entity as a whole; the others concern a year. */
export const ENTITY_FLAG_MASK = (1 << ENTITY_FLAG_COUNT) - 1;

/** Returns the bit of a flag in a flag column. */
export function flagBit(flag: AlignmentFlag): number {
  return 1 << ALIGNMENT_FLAGS.indexOf(flag);
}

/** Flags by mask, since portfolios repeat a few masks. */
const flagsByMask = new Map<number, readonly AlignmentFlag[]>();
const CACHED_MASK_COUNT_MAX = 4096;

/** Returns the flags of a mask in the order of their bits. */
export function flagsOfMask(mask: number): readonly AlignmentFlag[] {
  const known = flagsByMask.get(mask);
  if (known !== undefined) return known;
  const flags = ALIGNMENT_FLAGS.filter((_, bit) => ((mask >> bit) & 1) === 1);
  if (flagsByMask.size < CACHED_MASK_COUNT_MAX) flagsByMask.set(mask, flags);
  return flags;
}

/** Rounds a temperature or a percentage to the two decimals sent over the wire. */
export function roundToHundredth(value: number): number {
  return Math.round(100 * value) / 100;
}

/** Rounds temperatures and percentages to two decimals, as the HTTP service does; details stay unrounded. */
export function roundTemperatures({ results, ...versions }: AlignmentAnswer): AlignmentAnswer {
  return { ...versions, results: results.map(roundResult) };
}

/** Rounds the temperatures and percentages of one result. */
export function roundResult({ overall, blended, ...result }: AlignmentResult): AlignmentResult {
  return {
    ...result,
    data: result.data.map(roundYear),
    ...(overall === undefined ? {} : { overall: overall === null ? null : roundMean(overall) }),
    ...(blended === undefined ? {} : { blended: blended.map(roundMean) }),
  };
}

function roundYear(year: AlignedYear): AlignedYear {
  const { temperature_alignment, range, climate_range, by_scope, budget } = year;
  return {
    ...year,
    temperature_alignment: roundOrNull(temperature_alignment),
    ...(range === undefined ? {} : { range: roundRange(range) }),
    ...(climate_range === undefined ? {} : { climate_range: roundRange(climate_range) }),
    ...(by_scope === undefined ? {} : { by_scope: roundScopes(by_scope) }),
    ...(budget === undefined ? {} : { budget: roundBudget(budget) }),
  };
}

export function roundMean<Mean extends { readonly temperature_alignment: number; readonly range: TemperatureRange }>(
  mean: Mean,
): Mean {
  const { temperature_alignment, range } = mean;
  return { ...mean, temperature_alignment: roundToHundredth(temperature_alignment), range: roundRange(range) };
}

export function roundRange({ low, high }: TemperatureRange): TemperatureRange {
  return { low: roundToHundredth(low), high: roundToHundredth(high) };
}

export function roundScopes({ s1s2, s3 }: ScopeTemperatures): ScopeTemperatures {
  return { s1s2: roundOrNull(s1s2), s3: roundOrNull(s3) };
}

export function roundBudget(budget: EmissionsBudget): EmissionsBudget {
  return { ...budget, overshoot_pct: roundOrNull(budget.overshoot_pct) };
}

function roundOrNull(value: number | null): number | null {
  return value === null ? null : roundToHundredth(value);
}
