/** The properties of a request that its cost depends on. */
export interface RequestWork {
  /** Requests of one kind have the same ratio of actual to assumed cost. */
  readonly kind: string;
  readonly bodyBytes: number;
  /** Locations of hazard queries. */
  readonly elementCount: number;
  /** Cells of its circles, times the vectors of layers that are read from each. */
  readonly cellVectorCount: number;
  /** Tiles of its circles that are not in memory, times the vectors of layers in each. */
  readonly coldTileVectorCount: number;
}

/** Assumed cost until an account's requests of the kind have been measured, in milliseconds of one worker thread. */
const MS_PER_BODY_BYTE = 3e-5;
const MS_PER_ELEMENT = 0.02;
const MS_PER_CELL_VECTOR = 1e-5;
const MS_PER_COLD_TILE_VECTOR = 0.3;
/** Weight of the latest measurement in the ratio of actual to assumed cost. */
const MEASUREMENT_WEIGHT = 0.5;
/** Without bounds, a request that was answered from memory would make later ones look free. */
const RATIO_MIN = 0.05;
const RATIO_MAX = 50;

/** Ratio of actual to assumed cost of one account's requests, by kind. */
export type CostRatios = Map<string, number>;

/**
 * Returns the cost of a request before the requests of its account have been measured:
 * `3e-5 bodyBytes + 0.02 elementCount + 1e-5 cellVectorCount + 0.3 coldTileVectorCount` ms.
 */
export function assumedCostMs(work: Omit<RequestWork, "kind">): number {
  return (
    MS_PER_BODY_BYTE * work.bodyBytes +
    MS_PER_ELEMENT * work.elementCount +
    MS_PER_CELL_VECTOR * work.cellVectorCount +
    MS_PER_COLD_TILE_VECTOR * work.coldTileVectorCount
  );
}

/** Returns the assumed cost times the account's ratio for the kind. Other accounts have no influence. */
export function estimateCostMs(ratios: CostRatios, work: RequestWork): number {
  return assumedCostMs(work) * (ratios.get(work.kind) ?? 1);
}

/** Includes the actual cost of a request in the ratio of its account and kind. */
export function learnCost(ratios: CostRatios, work: RequestWork, costMs: number): void {
  const assumedMs = assumedCostMs(work);
  if (assumedMs === 0) return;
  const ratio = Math.min(RATIO_MAX, Math.max(RATIO_MIN, costMs / assumedMs));
  const previous = ratios.get(work.kind) ?? ratio;
  ratios.set(work.kind, previous + MEASUREMENT_WEIGHT * (ratio - previous));
}

/** Cost per byte of the body of one account's requests, by kind of the request before it is parsed. */
export type UnparsedCosts = Map<string, number>;

/**
 * Returns the cost of a request that has not been parsed if it is like the account's latest ones of the kind; 0 if there
 * were none. Only for the time of a retry: a short request is not rejected because of longer ones before it.
 */
export function estimateUnparsedMs(costs: UnparsedCosts, { kind, bodyBytes }: RequestWork): number {
  return (costs.get(kind) ?? 0) * bodyBytes;
}

/** Includes the cost of a request, estimated or actual, in the average of its account and kind. */
export function learnUnparsedCost(costs: UnparsedCosts, { kind, bodyBytes }: RequestWork, costMs: number): void {
  if (bodyBytes === 0) return;
  const msPerByte = costMs / bodyBytes;
  const previous = costs.get(kind) ?? msPerByte;
  costs.set(kind, previous + MEASUREMENT_WEIGHT * (msPerByte - previous));
}
