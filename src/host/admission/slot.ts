import type { ChunkPacer } from "./chunkPacer.ts";
import type { CostRatios, UnparsedCosts } from "./costModel.ts";
import type { MemoryHolder } from "./memoryBudget.ts";

/** Resources held by one account, or by all accounts together. */
export interface HeldResources extends MemoryHolder {
  requestCount: number;
  jobCount: number;
  bodyBytes: number;
  responseBytes: number;
  streamCount: number;
  /** Costs of the account's earlier requests. */
  readonly costRatios: CostRatios;
  readonly unparsedCosts: UnparsedCosts;
  /** Paces the short chunks of bodies. Created when there are any. */
  chunkPacer?: ChunkPacer;
}

/** Returns empty resources. */
export const noResources = (): HeldResources => ({
  requestCount: 0,
  jobCount: 0,
  bodyBytes: 0,
  responseBytes: 0,
  streamCount: 0,
  memoryBytes: 0,
  costRatios: new Map(),
  unparsedCosts: new Map(),
});

/** Resources held by one request. */
export interface Slot {
  /** Undefined until the request is authenticated. */
  account: HeldResources | undefined;
  bodyBytes: number;
  /** Estimated memory of the parsed body. */
  parsedBytes: number;
  /** Memory of a response that is not counted as such yet, because it is being compressed. */
  answerBytes: number;
  /** Held until the client has read the response, which may be long after the slot is released. */
  responseBytes: number;
  /** Whether these bytes are what a streamed response may take at a time. */
  isStream: boolean;
}
