import type { FaultCode, FaultItem } from "../errors.ts";
import { Fault, isFault } from "../errors.ts";
import type { Outcome } from "./entry.ts";
import type { Commit, UsageEntry } from "./ledger.ts";
import type { MethodName } from "./methods.ts";

/** What a thread of the ledger is told when it starts. */
export interface ThreadSetup {
  readonly file: string;
  /** Reads much, writes nothing. */
  readonly isReport: boolean;
  readonly nowMs: number;
}

/** What it is asked to do. The time is the asker's, so that a ledger has one clock whatever threads it has. */
export type Order =
  | { readonly kind: "record"; readonly id: number; readonly nowMs: number; readonly entries: readonly UsageEntry[] }
  | {
      readonly kind: "ask";
      readonly id: number;
      readonly nowMs: number;
      readonly name: MethodName;
      readonly argument: unknown;
    }
  | { readonly kind: "close"; readonly id: number };

/** What it answers, once to each order; `id` 0 says that the file is open, or why not. */
export type Answer =
  /** One message for all that went to disk together: a message costs each side as much as an entry. */
  | { readonly kind: "recorded"; readonly orders: readonly RecordedOrder[]; readonly commit: Commit }
  | { readonly kind: "done"; readonly id: number; readonly result: unknown }
  | { readonly kind: "refused"; readonly id: number; readonly error: PackedError }
  /** Another process has changed what may be remembered here. */
  | { readonly kind: "changed" }
  /** The storage has failed: nothing that was not answered before will be. */
  | { readonly kind: "broken"; readonly error: PackedError };

export interface RecordedOrder {
  readonly id: number;
  /** Of its entries, in order. */
  readonly outcomes: readonly Outcome[];
}

/** An error as it crosses between threads, where classes are lost. */
export interface PackedError {
  readonly message: string;
  readonly stack?: string;
  /** A refusal's. */
  readonly fault?: {
    readonly code: FaultCode;
    readonly details: Readonly<Record<string, unknown>>;
    readonly items: readonly FaultItem[];
  };
  /** A system's or SQLite's, such as SQLITE_FULL. */
  readonly code?: string;
}

export function packError(error: unknown): PackedError {
  if (isFault(error)) {
    const { message, code, details, items } = error;
    return { message, fault: { code, details, items } };
  }
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, stack } = error;
  const code: unknown = "code" in error ? error.code : undefined;
  return { message, ...(stack === undefined ? {} : { stack }), ...(typeof code === "string" ? { code } : {}) };
}

export function unpackError({ message, stack, fault, code }: PackedError): Error {
  if (fault !== undefined) return new Fault(fault.code, message, { details: fault.details, items: fault.items });
  const error = Object.assign(new Error(message), code === undefined ? {} : { code });
  if (stack !== undefined) error.stack = stack;
  return error;
}
