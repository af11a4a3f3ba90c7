import type { FaultCode, FaultItem } from "../errors.ts";
import { Fault, isFault } from "../errors.ts";
import type { EntryOutcome } from "./entry.ts";
import type { Commit, UsageEntry } from "./ledger.ts";
import type { MethodName } from "./methods.ts";

/** Startup parameters of a ledger worker. */
export interface WorkerSetup {
  readonly file: string;
  /** Whether the worker only reads, for reports. */
  readonly isReadOnly: boolean;
  readonly nowMs: number;
}

/** A request to a ledger worker. It carries the sender's time, so that all workers of a ledger share one clock. */
export type WorkerRequest =
  | { readonly kind: "record"; readonly id: number; readonly nowMs: number; readonly entries: readonly UsageEntry[] }
  | {
      readonly kind: "call";
      readonly id: number;
      readonly nowMs: number;
      readonly name: MethodName;
      readonly argument: unknown;
    }
  | { readonly kind: "close"; readonly id: number };

/** A message from a ledger worker. Each request gets one response; `id` 0 is the response to opening the file. */
export type WorkerMessage =
  /** One message for all requests of a transaction: a message costs sender and receiver as much as an entry. */
  | { readonly kind: "recorded"; readonly requests: readonly RecordedRequest[]; readonly commit: Commit }
  | { readonly kind: "result"; readonly id: number; readonly result: unknown }
  | { readonly kind: "error"; readonly id: number; readonly error: SerializedError }
  /** Another process has changed cached entities. */
  | { readonly kind: "changed" }
  /** The storage has failed; pending requests get no response. */
  | { readonly kind: "failed"; readonly error: SerializedError };

export interface RecordedRequest {
  readonly id: number;
  /** An outcome for each entry of the request, in order. */
  readonly outcomes: readonly EntryOutcome[];
}

/** An error in a form that can be sent between threads; structured cloning loses the class. */
export interface SerializedError {
  readonly message: string;
  readonly stack?: string;
  /** Present for a `Fault`. */
  readonly fault?: {
    readonly code: FaultCode;
    readonly details: Readonly<Record<string, unknown>>;
    readonly items: readonly FaultItem[];
  };
  /** Code of a system or SQLite error, such as SQLITE_FULL. */
  readonly code?: string;
}

export function serializeError(error: unknown): SerializedError {
  if (isFault(error)) {
    const { message, code, details, items } = error;
    return { message, fault: { code, details, items } };
  }
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, stack } = error;
  const code: unknown = "code" in error ? error.code : undefined;
  return { message, ...(stack === undefined ? {} : { stack }), ...(typeof code === "string" ? { code } : {}) };
}

export function deserializeError({ message, stack, fault, code }: SerializedError): Error {
  if (fault !== undefined) return new Fault(fault.code, message, { details: fault.details, items: fault.items });
  const error = Object.assign(new Error(message), code === undefined ? {} : { code });
  if (stack !== undefined) error.stack = stack;
  return error;
}
