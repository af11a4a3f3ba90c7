import { basename, dirname } from "node:path";
import { type SeededRandom, shuffled } from "../seededRandom.ts";
import { bytesOf, type TracedCall } from "./syscallTrace.ts";

/** What was done to a file of a ledger, or to its name. */
type Change = { readonly began: number; readonly ended: number } & (
  | { readonly kind: "write"; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: "cut"; readonly size: number }
);
type Naming = { readonly began: number; readonly ended: number; readonly isThere: boolean };
type Sync = { readonly began: number; readonly ended: number };

/** An answer as it went out: by then what it says must be on disk. */
export interface Answered {
  readonly receipt: string;
  readonly began: number;
}

/** Disks write sectors whole, and nothing larger. */
const SECTOR_SIZE_BYTES = 512;
const RECEIPT = /\r\nX-Request-Id: ([0-9a-f-]{36})\r\n/;
const SIZED: ReadonlySet<string> = new Set(["pwrite64"]);
const WRITING: ReadonlySet<string> = new Set(["write", "writev", "sendto", "sendmsg"]);

/** What a program did to the files of a ledger, in an order in which it could have been told. */
export class DiskHistory {
  readonly answers: readonly Answered[];
  /** Ends of calls that change or sync the ledger's files. */
  readonly moments: readonly number[];
  readonly #folder: string;
  readonly #changes = new Map<string, Change[]>();
  readonly #namings = new Map<string, Naming[]>();
  readonly #syncs = new Map<string, Sync[]>();

  /** @param folder that of the ledger, which the program found empty */
  constructor(calls: readonly TracedCall[], folder: string) {
    this.#folder = folder;
    const answers: Answered[] = [];
    const moments: number[] = [];
    for (const call of calls) {
      const receipt = this.#receiptIn(call);
      if (receipt !== undefined) answers.push({ receipt, began: call.began });
      else if (this.#take(call)) moments.push(call.began);
    }
    this.answers = answers;
    this.moments = moments;
  }

  /** The write-ahead log's bytes as they were written, for looking for something in them. */
  get logWrites(): readonly { readonly began: number; readonly ended: number; readonly bytes: Buffer }[] {
    return this.#of(this.#changes, "ledger.sqlite-wal").flatMap((change) => (change.kind === "write" ? [change] : []));
  }

  /** Writes to the database itself: what was in the log is moved there now and then. */
  get movedCount(): number {
    return this.#of(this.#changes, "ledger.sqlite").length;
  }

  /** When the write-ahead log was put on disk. */
  get logSyncs(): readonly Sync[] {
    return this.#syncs.get(`${this.#folder}/ledger.sqlite-wal`) ?? [];
  }

  /**
   * The files as a power cut at a moment could have left them: all that was synced, and of what was not whatever the
   * disk had got to, in whatever order.
   */
  filesAt(moment: number, random: SeededRandom, fate: Fate): ReadonlyMap<string, Buffer> {
    const files = new Map<string, Buffer>();
    for (const [path, namings] of this.#namings) {
      const folderSyncedAt = this.#syncedUntil(this.#folder, moment);
      const begun = namings.filter(({ began }) => began < moment);
      const lasting = begun.filter(({ ended }) => ended < folderSyncedAt).length;
      const keptCount = fate === "all" ? begun.length : lasting + random.below(begun.length - lasting + 1);
      if (begun[keptCount - 1]?.isThere !== true) continue;

      const syncedAt = this.#syncedUntil(path, moment);
      const changes = (this.#changes.get(path) ?? []).filter(({ began }) => began < moment);
      const file = new GrowingFile();
      for (const change of changes) if (change.ended < syncedAt) file.change(change);
      const pending = changes.filter(({ ended }) => ended >= syncedAt);
      for (const change of survivors(pending, random, fate)) file.change(change);
      files.set(basename(path), file.bytes);
    }
    return files;
  }

  #of<Each>(map: ReadonlyMap<string, Each[]>, name: string): readonly Each[] {
    return map.get(`${this.#folder}/${name}`) ?? [];
  }

  /** All that ended before this is on disk. */
  #syncedUntil(path: string, moment: number): number {
    return (this.#syncs.get(path) ?? []).reduce((last, { began, ended }) => (ended < moment ? began : last), -1);
  }

  #receiptIn(call: TracedCall): string | undefined {
    if (!WRITING.has(call.name) || !call.path.startsWith("socket:")) return undefined;
    return RECEIPT.exec(bytesOf(call).toString("latin1"))?.[1];
  }

  /** @returns whether it was done to the ledger */
  #take(call: TracedCall): boolean {
    const { name, path, parameters, began, ended, result } = call;
    const span = { began, ended };
    if (name === "fsync" || name === "fdatasync") {
      if (path !== this.#folder && !this.#isLedgers(path)) return false;
      if (result === 0) push(this.#syncs, path, span);
      return true;
    }
    if (!this.#isLedgers(path) || result < 0) return false;
    if (name === "openat") {
      if (!parameters.includes("O_CREAT")) return false;
      if (this.#namings.get(path)?.at(-1)?.isThere !== true) push(this.#namings, path, { ...span, isThere: true });
    } else if (name === "unlink") {
      push(this.#namings, path, { ...span, isThere: false });
      // Another file of the same name would begin empty.
      push(this.#changes, path, { ...span, kind: "cut", size: 0 });
    } else if (name === "ftruncate") {
      push(this.#changes, path, { ...span, kind: "cut", size: Number(/(\d+)\s*$/.exec(parameters)?.[1]) });
    } else if (SIZED.has(name)) {
      const offset = Number(/, (\d+)\s*$/.exec(parameters)?.[1]);
      const bytes = bytesOf(call);
      if (ended !== Infinity && bytes.length !== result) throw new Error(`${name} wrote ${result} of ${bytes.length}.`);
      push(this.#changes, path, { ...span, kind: "write", offset, bytes });
    } else throw new Error(`${name} of ${path}: what that does to a file is not known here.`);
    return true;
  }

  /** The index in shared memory is made anew from the log by whoever opens the ledger first. */
  #isLedgers(path: string): boolean {
    return dirname(path) === this.#folder && /^ledger\.sqlite(-wal|-journal)?$/.test(basename(path));
  }
}

/** What becomes of what was written and not yet synced. */
export const FATES = ["none", "all", "some", "disorder", "torn", "first", "last"] as const;
export type Fate = (typeof FATES)[number];

function survivors(pending: readonly Change[], random: SeededRandom, fate: Fate): readonly Change[] {
  switch (fate) {
    case "none":
      return [];
    case "all":
      return pending;
    case "some":
      return pending.filter(() => random.chance(0.5));
    case "disorder":
      return shuffled(
        random,
        pending.filter(() => random.chance(0.7)),
      );
    case "torn":
      return shuffled(
        random,
        pending.flatMap((change) => torn(change).filter(() => random.chance(0.8))),
      );
    case "first":
      return pending.slice(0, random.below(pending.length + 1));
    default:
      return pending.slice(random.below(pending.length + 1));
  }
}

/** A write as the sectors that it is put on disk by. */
function torn(change: Change): readonly Change[] {
  if (change.kind === "cut") return [change];
  const { began, ended, offset, bytes } = change;
  const parts: Change[] = [];
  for (let start = offset; start < offset + bytes.length;) {
    const end = Math.min((Math.floor(start / SECTOR_SIZE_BYTES) + 1) * SECTOR_SIZE_BYTES, offset + bytes.length);
    parts.push({ kind: "write", began, ended, offset: start, bytes: bytes.subarray(start - offset, end - offset) });
    start = end;
  }
  return parts;
}

/** A file as a sequence of changes makes it; what was never written reads as zeros. */
class GrowingFile {
  #room = Buffer.alloc(1 << 20);
  #size = 0;

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#size);
  }

  change(change: Change): void {
    if (change.kind === "cut") {
      if (change.size < this.#size) this.#room.fill(0, change.size, this.#size);
      this.#size = change.size;
      return;
    }
    const end = change.offset + change.bytes.length;
    if (end > this.#room.length) this.#room = Buffer.concat([this.#room], Math.max(end, 2 * this.#room.length));
    change.bytes.copy(this.#room, change.offset);
    this.#size = Math.max(this.#size, end);
  }
}

function push<Each>(map: Map<string, Each[]>, path: string, each: Each): void {
  const list = map.get(path);
  if (list === undefined) map.set(path, [each]);
  else list.push(each);
}
