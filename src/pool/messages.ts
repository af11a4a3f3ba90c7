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
 * The functions of a worker. `begin` and `resume` each grant a task one time slice; the slices run in the order of the
 * calls, and each call returns when its slice has ended. It throws the error of the task.
 */
export interface PoolCalls {
  readonly begin: { readonly task: number; readonly kind: string; readonly payload: unknown };
  readonly resume: { readonly task: number };
  /** Cancels the task, whose result is no longer needed. */
  readonly cancel: { readonly task: number };
}

/** How a time slice has ended. */
export type SliceEnd =
  /** The slice has expired, or the task waits for a read; the task continues when it is granted another slice. */
  | {
      readonly type: "paused";
      readonly progress?: TaskProgress | undefined;
      /** Whether the task waits for a read, which may be that of another task. */
      readonly isWaiting?: boolean;
    }
  | { readonly type: "done"; readonly result: unknown }
  /** The task was complete or canceled before the slice began. */
  | { readonly type: "unused" };

/** Sent after a slice in which tiles were fetched: the current cache size, and the duration of each fetch. */
export interface FetchedEvent {
  readonly cachedBytes: number;
  readonly durationsMs: readonly number[];
}
