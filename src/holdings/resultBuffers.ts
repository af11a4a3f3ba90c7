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
