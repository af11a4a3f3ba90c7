import type { FaultCode, FaultItem } from "../errors.ts";
import type { HazardQueryInput } from "../hazard/query.ts";
import type { HazardResult } from "../hazard/result.ts";
import type { SampleLayer, SampleResult } from "../hazard/sampleRequest.ts";

/** What a worker is told when it starts. */
export interface WorkerSetup {
  /** The address of the atlas; each worker opens it for itself. */
  readonly address: string;
  readonly cacheBytes: number;
}

/** A piece of work. Arrays are handed over, not copied. */
export type Order =
  | {
      readonly kind: "sample";
      readonly id: number;
      readonly hazard: string;
      readonly layers: readonly SampleLayer[];
      readonly latitudes: Float64Array;
      readonly longitudes: Float64Array;
      readonly radiusKm: number;
      readonly method: "max" | "mean";
      /** Where the answer goes, which comes back with it; the places may lie in the same buffer. */
      readonly into: SampleResult;
    }
  | { readonly kind: "batch"; readonly id: number; readonly queries: readonly HazardQueryInput[] }
  /** Work that this room knows nothing of: the worker's program was given someone who does. */
  | { readonly kind: "task"; readonly id: number; readonly task: unknown }
  | StopOrder;

/** Nobody wants the outcome of the order of this number any more, which is to be left off. Answers nothing itself. */
export interface StopOrder {
  readonly kind: "stop";
  readonly id: number;
}

/** A refusal as it crosses between threads, where classes are lost. */
export interface PackedFault {
  readonly code: FaultCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly items: readonly FaultItem[];
  readonly cause?: PackedError;
}

/** Any other error as it crosses. */
export interface PackedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** A system error's. */
  readonly code?: string;
  readonly cause?: PackedError;
}

/** Which atlas a worker has opened. */
export interface OpenedAtlas {
  readonly release: string;
  /** A release name may be used again for other content. */
  readonly contentHash: string;
}

/** What comes back. `id` 0 says which atlas the worker has opened, or why it could not. */
export type Report =
  | { readonly kind: "ready"; readonly id: 0; readonly atlas: OpenedAtlas }
  | { readonly kind: "sampled"; readonly id: number; readonly values: Float64Array; readonly reasons: Uint8Array }
  | {
      readonly kind: "answered";
      readonly id: number;
      readonly results: readonly (HazardResult | { readonly refused: PackedFault })[];
    }
  | { readonly kind: "done"; readonly id: number; readonly outcome: unknown }
  /** After an order over which tiles were fetched; it answers none. */
  | { readonly kind: "fetched"; readonly id: 0; readonly cachedBytes: number; readonly durationsMs: readonly number[] }
  | { readonly kind: "refused"; readonly id: number; readonly fault: PackedFault }
  | { readonly kind: "failed"; readonly id: number; readonly message: string; readonly cause?: PackedError };
