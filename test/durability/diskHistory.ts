import { basename, dirname } from "node:path";
import { type SeededRandom, shuffled } from "../seededRandom.ts";
import { bytesOf, type TracedCall } from "./syscallTrace.ts";

/** Positions in the trace at which a system call started and ended. */
interface Span {
  readonly start: number;
  readonly end: number;
}
/** A change to the contents of a file. */
type FileChange = Span &
  (
    | { readonly kind: "write"; readonly offset: number; readonly bytes: Buffer }
    | { readonly kind: "truncate"; readonly sizeBytes: number }
  );
/** A creation or deletion of a file. */
type DirectoryChange = Span & { readonly exists: boolean };

/** A response that was sent; everything that it confirms must be on disk before it is sent. */
export interface SentResponse {
  readonly receipt: string;
  readonly start: number;
}

/** Disks write a sector completely or not at all, but larger writes may be torn. */
const SECTOR_SIZE_BYTES = 512;
const RECEIPT = /\r\nX-Request-Id: ([0-9a-f-]{36})\r\n/;
const FILE_WRITES: ReadonlySet<string> = new Set(["pwrite64"]);
const SOCKET_WRITES: ReadonlySet<string> = new Set(["write", "writev", "sendto", "sendmsg"]);

/**
 * The changes that a program made to the files of a ledger, and the responses that it sent, from a system call trace.
 */
export class DiskHistory {
  readonly responses: readonly SentResponse[];
  /** Starts of the calls that change or sync the ledger's files. */
  readonly moments: readonly number[];
  readonly #folder: string;
  readonly #fileChanges = new Map<string, FileChange[]>();
  readonly #directoryChanges = new Map<string, DirectoryChange[]>();
  readonly #syncs = new Map<string, Span[]>();

  /** @param folder the data folder, which was empty when the program started */
  constructor(calls: readonly TracedCall[], folder: string) {
    this.#folder = folder;
    const responses: SentResponse[] = [];
    const moments: number[] = [];
    for (const call of calls) {
      const receipt = this.#receiptIn(call);
      if (receipt !== undefined) responses.push({ receipt, start: call.start });
      else if (this.#add(call)) moments.push(call.start);
    }
    this.responses = responses;
    this.moments = moments;
  }

  /** Writes to the write-ahead log. */
  get logWrites(): readonly (Span & { readonly bytes: Buffer })[] {
    return this.#changesOf("ledger.sqlite-wal").flatMap((change) => (change.kind === "write" ? [change] : []));
  }

  /** Number of changes to the database file, which checkpoints make. */
  get databaseChangeCount(): number {
    return this.#changesOf("ledger.sqlite").length;
  }

  /** Syncs of the write-ahead log. */
  get logSyncs(): readonly Span[] {
    return this.#syncs.get(`${this.#folder}/ledger.sqlite-wal`) ?? [];
  }

  /**
   * Returns the files in a state in which a power loss at a moment could have left them: with all synced changes, and
   * the unsynced ones that the model selects.
   */
  filesAt(moment: number, random: SeededRandom, model: PersistenceModel): ReadonlyMap<string, Buffer> {
    const files = new Map<string, Buffer>();
    for (const [path, directoryChanges] of this.#directoryChanges) {
      const folderSyncedUntil = this.#syncedUntil(this.#folder, moment);
      const started = directoryChanges.filter(({ start }) => start < moment);
      const syncedCount = started.filter(({ end }) => end < folderSyncedUntil).length;
      const persistedCount =
        model === "all" ? started.length : syncedCount + random.below(started.length - syncedCount + 1);
      if (started[persistedCount - 1]?.exists !== true) continue;

      const syncedUntil = this.#syncedUntil(path, moment);
      const changes = (this.#fileChanges.get(path) ?? []).filter(({ start }) => start < moment);
      const file = new FileContents();
      for (const change of changes) if (change.end < syncedUntil) file.apply(change);
      const unsynced = changes.filter(({ end }) => end >= syncedUntil);
      for (const change of persistedChanges(unsynced, random, model)) file.apply(change);
      files.set(basename(path), file.bytes);
    }
    return files;
  }

  #changesOf(name: string): readonly FileChange[] {
    return this.#fileChanges.get(`${this.#folder}/${name}`) ?? [];
  }

  /** Returns the start of the last sync that ended before `moment`: calls that ended before it are on disk. */
  #syncedUntil(path: string, moment: number): number {
    return (this.#syncs.get(path) ?? []).reduce((last, { start, end }) => (end < moment ? start : last), -1);
  }

  #receiptIn(call: TracedCall): string | undefined {
    if (!SOCKET_WRITES.has(call.name) || !call.path.startsWith("socket:")) return undefined;
    return RECEIPT.exec(bytesOf(call).toString("latin1"))?.[1];
  }

  /** @returns whether the call changed or synced the ledger's files */
  #add(call: TracedCall): boolean {
    const { name, path, parameters, start, end, result } = call;
    const span = { start, end };
    if (name === "fsync" || name === "fdatasync") {
      if (path !== this.#folder && !this.#isLedgerFile(path)) return false;
      if (result === 0) push(this.#syncs, path, span);
      return true;
    }
    if (!this.#isLedgerFile(path) || result < 0) return false;
    if (name === "openat") {
      if (!parameters.includes("O_CREAT")) return false;
      const exists = this.#directoryChanges.get(path)?.at(-1)?.exists;
      if (exists !== true) push(this.#directoryChanges, path, { ...span, exists: true });
    } else if (name === "unlink") {
      push(this.#directoryChanges, path, { ...span, exists: false });
      // A new file of the same name starts empty.
      push(this.#fileChanges, path, { ...span, kind: "truncate", sizeBytes: 0 });
    } else if (name === "ftruncate") {
      const sizeBytes = Number(/(\d+)\s*$/.exec(parameters)?.[1]);
      push(this.#fileChanges, path, { ...span, kind: "truncate", sizeBytes });
    } else if (FILE_WRITES.has(name)) {
      const offset = Number(/, (\d+)\s*$/.exec(parameters)?.[1]);
      const bytes = bytesOf(call);
      if (end !== Infinity && bytes.length !== result) {
        throw new Error(`${name} wrote ${result} of ${bytes.length} bytes.`);
      }
      push(this.#fileChanges, path, { ...span, kind: "write", offset, bytes });
    } else throw new Error(`Unsupported system call ${name} on ${path}.`);
    return true;
  }

  /** The -shm file is not included: SQLite rebuilds it from the log when the ledger is opened. */
  #isLedgerFile(path: string): boolean {
    return dirname(path) === this.#folder && /^ledger\.sqlite(-wal|-journal)?$/.test(basename(path));
  }
}

/** Which unsynced changes survive a power loss, and in which order. */
export const PERSISTENCE_MODELS = ["none", "all", "some", "reordered", "torn", "first", "last"] as const;
export type PersistenceModel = (typeof PERSISTENCE_MODELS)[number];

function persistedChanges(
  unsynced: readonly FileChange[],
  random: SeededRandom,
  model: PersistenceModel,
): readonly FileChange[] {
  switch (model) {
    case "none":
      return [];
    case "all":
      return unsynced;
    case "some":
      return unsynced.filter(() => random.chance(0.5));
    case "reordered":
      return shuffled(
        random,
        unsynced.filter(() => random.chance(0.7)),
      );
    case "torn":
      return shuffled(
        random,
        unsynced.flatMap((change) => splitIntoSectors(change).filter(() => random.chance(0.8))),
      );
    case "first":
      return unsynced.slice(0, random.below(unsynced.length + 1));
    default:
      return unsynced.slice(random.below(unsynced.length + 1));
  }
}

/** Splits a write at sector boundaries. */
function splitIntoSectors(change: FileChange): readonly FileChange[] {
  if (change.kind === "truncate") return [change];
  const { start, end, offset, bytes } = change;
  const sectors: FileChange[] = [];
  for (let from = offset; from < offset + bytes.length;) {
    const to = Math.min((Math.floor(from / SECTOR_SIZE_BYTES) + 1) * SECTOR_SIZE_BYTES, offset + bytes.length);
    sectors.push({ kind: "write", start, end, offset: from, bytes: bytes.subarray(from - offset, to - offset) });
    from = to;
  }
  return sectors;
}

/** The contents of a file after a sequence of changes; bytes that were never written are 0. */
class FileContents {
  #buffer = Buffer.alloc(1 << 20);
  #sizeBytes = 0;

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#sizeBytes);
  }

  apply(change: FileChange): void {
    if (change.kind === "truncate") {
      if (change.sizeBytes < this.#sizeBytes) this.#buffer.fill(0, change.sizeBytes, this.#sizeBytes);
      this.#sizeBytes = change.sizeBytes;
      return;
    }
    const end = change.offset + change.bytes.length;
    if (end > this.#buffer.length) {
      this.#buffer = Buffer.concat([this.#buffer], Math.max(end, 2 * this.#buffer.length));
    }
    change.bytes.copy(this.#buffer, change.offset);
    this.#sizeBytes = Math.max(this.#sizeBytes, end);
  }
}

function push<Item>(map: Map<string, Item[]>, key: string, item: Item): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [item]);
  else list.push(item);
}
