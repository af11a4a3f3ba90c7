import type { PackedError } from "../concurrency/errorTransfer.ts";
import type { EntryOutcome } from "./entry.ts";
import type { Commit, UsageEntry } from "./ledger.ts";
import type { MethodName } from "./methods.ts";

/** Startup parameters of a ledger worker. */
export interface SqliteWorkerSetup {
  readonly file: string;
  /** Whether the worker only reads, for reports. */
  readonly isReadOnly: boolean;
  readonly nowMs: number;
}

/** A request to a ledger worker. It carries the sender's time, so that all workers of a ledger share one clock. */
export type LedgerWorkerRequest =
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
export type LedgerWorkerMessage =
  /** One message for all requests of a transaction: a message costs sender and receiver as much as an entry. */
  | { readonly kind: "recorded"; readonly requests: readonly RecordedRequest[]; readonly commit: Commit }
  | { readonly kind: "result"; readonly id: number; readonly result: unknown }
  | { readonly kind: "error"; readonly id: number; readonly error: PackedError }
  /** Another process has changed cached entities. */
  | { readonly kind: "changed" }
  /** The storage has failed; pending requests get no response. */
  | { readonly kind: "failed"; readonly error: PackedError };

interface RecordedRequest {
  readonly id: number;
  /** An outcome for each entry of the request, in order. */
  readonly outcomes: readonly EntryOutcome[];
}
