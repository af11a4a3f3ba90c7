import type { PackedError } from "../concurrency/errorTransfer.ts";

/** Startup parameters of a worker thread, with which it opens the atlas. */
export interface WorkerSetup {
  readonly atlasAddress: string;
  readonly cacheBytes: number;
}

/** Identifies the content of an atlas. */
export interface AtlasIdentity {
  readonly release: string;
  /** Distinguishes atlases with the same release name. */
  readonly contentHash: string;
}

/** Progress of a task. */
export interface TaskProgress {
  readonly doneCount: number;
  readonly totalCount: number;
  /** Size of the partial result. */
  readonly partialResultBytes: number;
}

/**
 * A request to a worker. `begin` and `resume` each grant a task one time slice, in the order in which they are sent. The
 * worker sends one reply for each of them and none for `cancel`.
 */
export type WorkerRequest =
  | { readonly type: "begin"; readonly id: number; readonly kind: string; readonly payload: unknown }
  | { readonly type: "resume"; readonly id: number }
  /** Cancels the task, whose result is no longer needed. */
  | { readonly type: "cancel"; readonly id: number };

/** The reply to a granted time slice. */
export type SliceReply =
  /** The slice has expired, or the task waits for a read; the task continues when it is granted another slice. */
  | {
      readonly type: "paused";
      readonly id: number;
      readonly progress?: TaskProgress | undefined;
      /** Whether the task waits for a read, which may be that of another task. */
      readonly isWaiting?: boolean;
    }
  | { readonly type: "done"; readonly id: number; readonly result: unknown }
  | { readonly type: "failed"; readonly id: number; readonly error: PackedError }
  /** The task was complete or canceled before the slice began. */
  | { readonly type: "unused"; readonly id: number };

export type WorkerMessage =
  | SliceReply
  | { readonly type: "ready"; readonly atlas: AtlasIdentity }
  | { readonly type: "startFailed"; readonly error: PackedError }
  /** Sent after a slice in which tiles were fetched: the current cache size, and the duration of each fetch. */
  | { readonly type: "fetched"; readonly cachedBytes: number; readonly durationsMs: readonly number[] };
