import { Refusal } from "../problems/problem.ts";
import type { Piece } from "./pieces.ts";
import type { Caller, HostLimits } from "../routes/route.ts";

/** What a worker must know of the request that a task is a part of. */
export interface TaskOf {
  /** The route's template. */
  readonly route: string;
  readonly caller: Caller;
  readonly requestId: string;
  readonly limits: HostLimits;
}

export type ReadTask = TaskOf & {
  readonly kind: "read";
  readonly queryText: string;
  readonly path: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly workerCount: number;
  /** So long a worker stays with one request before the next one's turn comes. */
  readonly turnMs: number;
};

export type TurnTask = TaskOf & {
  readonly kind: "turn";
  /** With the first turn; a worker keeps it until it has given what it made of it. */
  readonly share?: Share;
  readonly turnMs: number;
};

/** A worker's part in answering a request. */
export type HostTask =
  /** Reads the request and answers it, or cuts it into a share for each worker. */
  | ReadTask
  /** Answers elements of a share until all are answered or the turn is over. */
  | TurnTask
  /** Gives what has been made of a share: the whole answer, where nobody else has another. */
  | { readonly kind: "give"; readonly requestId: string; readonly isAlone: boolean }
  /** Nobody waits for what is made of a share. */
  | { readonly kind: "drop"; readonly requestId: string }
  /** Puts the elements of all shares into the order that they were asked in. */
  | { readonly kind: "join"; readonly pieces: readonly Piece[] }
  /** What is slow the first time is done before anybody waits for it. */
  | { readonly kind: "warm" };

/** The elements of a request that one worker answers. */
export interface Share {
  readonly worker: number;
  /** Of each, among all elements of the request. */
  readonly positions: Uint32Array;
  /** JSON: `{ rest, elements }`. Whoever only passes it on need not read it. */
  readonly bytes: Uint8Array;
}

export type ReadOutcome =
  | {
      readonly kind: "answered";
      readonly parts: readonly Uint8Array[];
      readonly units: number;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly kind: "cut"; readonly shares: readonly Share[] };

/** What is still to be answered of a share, and how much there is of answers; undefined: the worker has no such share. */
export type TurnOutcome = { readonly leftCount: number; readonly sizeBytes: number } | undefined;

/** What was made of a share; undefined: the worker has no such share. */
export type GiveOutcome =
  | {
      readonly made: { readonly whole: Uint8Array } | { readonly piece: Piece };
      readonly units: number;
      readonly refusedCount: number;
    }
  | undefined;

/** What a task comes to. */
export type OutcomeOf<Task extends HostTask> = {
  readonly read: ReadOutcome;
  readonly turn: TurnOutcome;
  readonly give: GiveOutcome;
  readonly drop: undefined;
  readonly join: Uint8Array;
  readonly warm: undefined;
}[Task["kind"]];

/** A refusal of the host as it crosses between threads, where classes are lost; faults cross by the pool. */
export type PackedOutcome = { readonly done: unknown } | { readonly refused: PackedRefusal };
type PackedRefusal = Pick<Refusal, "code" | "message" | "headers" | "items" | "status">;

export function packRefusal({ code, message, headers, items, status }: Refusal): PackedOutcome {
  return { refused: { code, message, headers, items, status } };
}

/** What the task came to. @throws Refusal as it was thrown in the worker */
export function doneOf<Task extends HostTask>(_task: Task, outcome: unknown): OutcomeOf<Task> {
  const packed = outcome as PackedOutcome;
  if ("done" in packed) return packed.done as OutcomeOf<Task>;
  const { code, message, headers, items, status } = packed.refused;
  throw new Refusal(code, message, headers, { items, ...(status === undefined ? {} : { status }) });
}
