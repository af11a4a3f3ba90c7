/**
 * Verifies archived events. Only the archives can prove them: whoever can write to the database can also add a valid
 * record of a pruning that never took place, which covers a hash of sums that were changed.
 */
import { isFault } from "../errors.ts";
import {
  batchHash,
  batchPrefix,
  type EventRow,
  eventText,
  firstHash,
  type PruneRow,
  pruneText,
  rollupText,
  TextHash,
} from "./chain.ts";
import type { ArchiveContent, ArchivedEvent, ChainHead, ChainProblem } from "./chainReport.ts";
import type { ChainPosition } from "./chainAudit.ts";

const HOUR_LENGTH = "YYYY-MM-DDTHH".length;

export interface ArchiveAudit {
  /** The first place at which the archives differ from the ledger; nothing after it was verified. */
  readonly problem?: ChainProblem;
  /** Whether the archives contain the head that was asked for. */
  readonly hasHead: boolean;
}

/**
 * Verifies that the archives contain the chain from its start to the last archived batch, and that their events add up to
 * the archived sums.
 */
export async function auditArchives(options: {
  readonly ledgerId: string;
  /** All records of pruning, oldest first. */
  readonly records: readonly PruneRow[];
  readonly readArchive: (name: string) => Promise<ArchiveContent | undefined>;
  readonly head: ChainHead | undefined;
}): Promise<ArchiveAudit> {
  const { ledgerId, records, readArchive, head } = options;
  const chain = new ArchivedChain({ ledgerId, records, head });
  for (const record of records) {
    const { archive_name: name, archive_sha256: sha256, last_batch: batch } = record;
    const content = await readArchive(name);
    const reason =
      content === undefined
        ? "there is no such file"
        : content.sha256 === sha256
          ? await chain.append(record, content.events).catch(faultText)
          : `its SHA-256 is ${content.sha256} instead of ${sha256}`;
    if (reason === undefined) continue;
    const detail = `The archive ${name} does not match the ledger: ${reason}.`;
    return { problem: { code: "archive_changed", batch, detail }, hasHead: chain.hasHead };
  }
  const latest = records.at(-1);
  if (latest === undefined || chain.sumsHash(latest.before_day) === latest.rollup_hash)
    return { hasHead: chain.hasHead };
  const detail = "The archived records do not add up to the sums that the latest record of pruning covers.";
  return { problem: { code: "archive_changed", batch: latest.last_batch, detail }, hasHead: chain.hasHead };
}

function faultText(error: unknown): string {
  if (isFault(error, "invalid_request")) return error.message;
  throw error;
}

/** The batch that is being read. */
interface OpenBatch {
  readonly batch: number;
  readonly archivedHash: string;
  readonly hash: TextHash;
  lastSeq: number;
}

/** The chain from its start, computed from the archives, and the hourly sums of its events. */
class ArchivedChain {
  readonly #records: ReadonlyMap<number, PruneRow>;
  readonly #head: ChainHead | undefined;
  readonly #sums = new Map<string, SumRow>();
  #position: ChainPosition;
  hasHead = false;

  constructor(options: {
    readonly ledgerId: string;
    readonly records: readonly PruneRow[];
    readonly head: ChainHead | undefined;
  }) {
    this.#records = new Map(options.records.map((record) => [record.batch, record]));
    this.#head = options.head;
    this.#position = { batch: 0, hash: firstHash(options.ledgerId), lastSeq: 0 };
    this.#advance(this.#position);
  }

  /** Appends the events of an archive. @returns the reason why they do not continue the chain until the record's batch */
  async append(record: PruneRow, events: AsyncIterable<ArchivedEvent>): Promise<string | undefined> {
    let open: OpenBatch | undefined;
    let eventCount = 0;
    for await (const { batch, hash: archivedHash, event } of events) {
      if (open === undefined || open.batch !== batch) {
        const reason = this.#close(open) ?? this.#appendPrunings(batch - 1);
        if (reason !== undefined) return reason;
        if (batch !== this.#position.batch + 1) return `batch ${batch} follows batch ${this.#position.batch}`;
        open = { batch, archivedHash, hash: new TextHash(), lastSeq: 0 };
        open.hash.update(batchPrefix(this.#position.hash, batch));
      }
      open.hash.update(eventText(event));
      open.lastSeq = event.seq;
      this.#addToSums(event);
      eventCount++;
    }
    const reason = this.#close(open) ?? this.#appendPrunings(record.last_batch);
    if (reason !== undefined) return reason;
    const { batch, hash, lastSeq } = this.#position;
    if (batch !== record.last_batch || hash !== record.last_hash || lastSeq !== record.last_seq) {
      return `it ends with ${batch}:${hash} instead of ${record.last_batch}:${record.last_hash}`;
    }
    return eventCount === record.event_count
      ? undefined
      : `it has ${eventCount} records instead of ${record.event_count}`;
  }

  #close(open: OpenBatch | undefined): string | undefined {
    if (open === undefined) return undefined;
    const { batch, lastSeq, archivedHash } = open;
    const hash = open.hash.hex();
    if (hash !== archivedHash) return `the records of batch ${batch} or their order were changed`;
    this.#advance({ batch, hash, lastSeq });
    return undefined;
  }

  /** Appends the batches that record prunings, which have no events, until another batch. */
  #appendPrunings(toBatch: number): string | undefined {
    while (this.#position.batch < toBatch) {
      const { batch: previous, hash, lastSeq } = this.#position;
      const batch = previous + 1;
      const record = this.#records.get(batch);
      if (record === undefined) return `batch ${batch} is missing`;
      this.#advance({ batch, hash: batchHash(hash, batch, pruneText(record)), lastSeq });
    }
    return undefined;
  }

  #advance(position: ChainPosition): void {
    this.#position = position;
    if (position.batch === this.#head?.batch && position.hash === this.#head.hash) this.hasHead = true;
  }

  #addToSums({ account_id, customer_id, meter, recorded_at, units }: EventRow): void {
    const hour = recorded_at.slice(0, HOUR_LENGTH);
    // Sorts by account, customer, meter and hour.
    const key = [account_id, customer_id, meter, hour].join("\0");
    const sum = this.#sums.get(key);
    if (sum === undefined) this.#sums.set(key, { account_id, customer_id, meter, hour, units, requests: 1 });
    else {
      sum.units += units;
      sum.requests++;
    }
  }

  /** Returns the hash of the sums, as `rollupHash` computes it from the ledger. */
  sumsHash(beforeDay: string): string {
    const inOrder = [...this.#sums].toSorted(([first], [second]) => (first < second ? -1 : 1)).map(([, sum]) => sum);
    const hash = new TextHash();
    for (const sum of inOrder) if (sum.hour < beforeDay) hash.update(rollupText(sum));
    for (const sum of inOrder) if (sum.hour >= beforeDay) hash.update(rollupText(sum));
    return hash.hex();
  }
}

type SumRow = { -readonly [Name in keyof Parameters<typeof rollupText>[0]]: Parameters<typeof rollupText>[0][Name] };
