/** Results of verifying the hash chain, and the types of pruning. */
import type { EventRow } from "./chain.ts";

/** The last batch of the hash chain. */
export interface ChainHead {
  readonly batch: number;
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
}

/** The anchor: the head of the chain as of its last write, stored outside the database. */
export interface Anchor extends ChainHead {
  readonly ledgerId: string;
  /** Increases by 1 with every write. */
  readonly sequence: number;
  readonly writtenAt: string;
}

/** A place at which the ledger differs from its hash chain or its anchor. */
export interface ChainProblem {
  readonly code:
    | "batch_missing"
    | "batch_changed"
    | "event_outside_chain"
    | "prune_record_changed"
    | "pruning_unlisted"
    | "pruning_list_unreadable"
    | "pruned_sums_changed"
    | "archive_changed"
    | "archive_unverified"
    | "file_damaged"
    | "anchor_mismatch"
    | "head_not_found";
  readonly batch?: number;
  readonly detail: string;
}

/** A file of events that were archived and deleted. */
export interface UsageArchive {
  /** `YYYY-MM-DD`: the events are before this day. */
  readonly before: string;
  readonly eventCount: number;
  /** The last archived batch. */
  readonly head: ChainHead;
  readonly name: string;
  readonly sha256: string;
}

/** The result of verifying the hash chain. */
export interface ChainReport {
  readonly ledgerId: string;
  readonly head: ChainHead;
  readonly batchCount: number;
  readonly eventCount: number;
  /** Oldest first. */
  readonly archives: readonly UsageArchive[];
  /** Whether the archives were read and verified, too. */
  readonly areArchivesVerified: boolean;
  /** Absent if there is no anchor. */
  readonly anchor?: Anchor;
  /** Empty if the ledger is unchanged; the chain is verified up to its first broken place. */
  readonly problems: readonly ChainProblem[];
}

/** An event of an archive, with its batch. */
export interface ArchivedEvent extends ChainHead {
  readonly event: EventRow;
}

/** An archive as it was read. */
export interface ArchiveContent {
  /** Of the whole file. */
  readonly sha256: string;
  /** In the order of the file. */
  readonly events: AsyncIterable<ArchivedEvent>;
}

/** Options of an audit. */
export interface AuditOptions {
  /** A head that was noted earlier: the chain must still contain it. */
  readonly expectedHead?: ChainHead;
  /** Reads an archive by its name; undefined if there is none. By default, archives are not verified. */
  readonly readArchive?: (name: string) => Promise<ArchiveContent | undefined>;
  /** Called with the number of batches that have been verified, of all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Which events a pruning would archive. */
export interface PrunePlan {
  readonly before: string;
  readonly firstBatch: number;
  /** The last batch to archive. */
  readonly head: ChainHead;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly eventCount: number;
  /** How many of the events are dated on or after the day, because the clock was wrong. */
  readonly postdatedCount: number;
  readonly batchCount: number;
  /** Archived events that an interrupted pruning has not deleted yet. */
  readonly undeletedCount: number;
}
