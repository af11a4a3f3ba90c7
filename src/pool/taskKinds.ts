import type { TimeSlice } from "../concurrency/timeSlice.ts";
import type { TaskProgress } from "./messages.ts";

/** A kind of task. The executor runs it; a handler in the worker implements it. */
export interface TaskKind<Payload, Result> {
  readonly name: string;
  /** Never called; ties the types of payload and result to the kind. */
  readonly types?: (payload: Payload) => Result;
}

/** The environment of a handler. */
export interface TaskContext {
  /** The current time slice. When it has expired, `yield` waits until the scheduler grants another slice. */
  readonly timeSlice: TimeSlice;
  /** Aborted when the result is no longer needed. */
  readonly signal: AbortSignal;
  /** Sets the progress that is sent to the executor at the end of each slice. */
  reportProgress(progress: TaskProgress): void;
}

interface TaskResult<Result> {
  readonly result: Result;
  /** Buffers in the result that are moved to the caller instead of copied. */
  readonly transfer?: readonly ArrayBuffer[];
}

export type TaskHandler<Payload, Result> = (payload: Payload, context: TaskContext) => Promise<TaskResult<Result>>;

/** Handlers by the name of their kind. */
export type TaskHandlers = ReadonlyMap<string, TaskHandler<never, unknown>>;

/** Returns an entry of `TaskHandlers`. */
export function handle<Payload, Result>(
  kind: TaskKind<Payload, Result>,
  handler: TaskHandler<Payload, Result>,
): readonly [string, TaskHandler<never, unknown>] {
  return [kind.name, handler];
}
