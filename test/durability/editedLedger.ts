/** A ledger with two prunings, whose copies the tests of tampering edit, and its archives. */
import { expect } from "vitest";
import type { ArchiveContent, ArchivedEvent } from "../../src/ledger/chainReport.ts";
import type { ArchivedBatch, MaintainedLedger } from "../../src/ledger/ledger.ts";
import { newReceipt } from "../ledger/receipt.ts";
import type { SeededRandom } from "../seededRandom.ts";
import { newAccount, type TestAccount } from "./service.ts";

export const START_MS = Date.parse("2026-03-30T12:00:00Z");
const HOUR_MS = 3_600_000;

/** A clock that tests set. */
export interface SettableClock {
  nowMs: number;
}

/** An archive in memory. */
interface MemoryArchive {
  readonly sha256: string;
  readonly events: readonly ArchivedEvent[];
}

/** Archives by name. */
export class MemoryArchives {
  readonly #contents = new Map<string, MemoryArchive>();

  readonly read = (name: string): Promise<ArchiveContent | undefined> =>
    Promise.resolve(contentOf(this.#contents.get(name)));

  /** Returns a function that reads the archives, one of them with changes. */
  changed(changedName: string, change: (archive: MemoryArchive) => MemoryArchive | undefined): typeof this.read {
    return (name) => {
      const archive = this.#contents.get(name);
      return Promise.resolve(contentOf(archive !== undefined && name === changedName ? change(archive) : archive));
    };
  }

  readonly write = async (
    batches: AsyncIterable<ArchivedBatch>,
  ): Promise<{ readonly name: string; readonly sha256: string }> => {
    const events: ArchivedEvent[] = [];
    for await (const { batch, hash, events: entries } of batches) {
      for (const entry of entries) {
        const event = {
          seq: entry.seq,
          receipt: entry.receipt,
          account_id: entry.accountId,
          customer_id: entry.customerId,
          key_id: entry.keyId,
          meter: entry.meter,
          units: entry.units,
          recorded_at: entry.recordedAt,
          route: entry.route,
          atlas_release: entry.atlasRelease ?? null,
        };
        events.push({ batch, hash, event });
      }
    }
    const name = `archive-${this.#contents.size + 1}.csv`;
    const sha256 = String(this.#contents.size + 1).repeat(64);
    this.#contents.set(name, { sha256, events });
    return { name, sha256 };
  };
}

function contentOf(archive: MemoryArchive | undefined): ArchiveContent | undefined {
  return archive === undefined ? undefined : { ...archive, events: eachOf(archive.events) };
}

async function* eachOf<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** Records batches, one of them with a wrong clock, prunes those of the first two days, and records more. */
export async function recordUsage(
  ledger: MaintainedLedger,
  clock: SettableClock,
  random: SeededRandom,
  { isPruned = true, batchCount = 40 }: { readonly isPruned?: boolean; readonly batchCount?: number } = {},
): Promise<MemoryArchives> {
  const archives = new MemoryArchives();
  const account = await newAccount(ledger, { name: "Clients", internalIds: ["one", "two"] });
  await recordBatches(ledger, clock, random, { account, count: 2 });
  await recordWithWrongClock(ledger, clock, account);
  await recordBatches(ledger, clock, random, { account, count: batchCount - 2 });
  for (const before of isPruned ? ["2026-03-31", "2026-04-01"] : []) {
    const plan = await ledger.prunePlan({ before });
    expect(plan.eventCount).toBeGreaterThan(3);
    await ledger.prune(plan, archives.write);
    await recordBatches(ledger, clock, random, { account, count: 3 });
  }
  return archives;
}

/** Records batches of 1 to 6 entries, one every two hours. */
async function recordBatches(
  ledger: MaintainedLedger,
  clock: SettableClock,
  random: SeededRandom,
  { account, count }: { readonly account: TestAccount; readonly count: number },
): Promise<void> {
  const { accountId, keyId, customerIds } = account;
  for (let batch = 0; batch < count; batch++) {
    clock.nowMs += 2 * HOUR_MS;
    const entries = Array.from({ length: 1 + random.below(6) }, () => ({
      receipt: newReceipt(),
      accountId,
      customerId: random.pick(customerIds),
      keyId,
      meter: random.pick(["hazard_values", "company_results"] as const),
      units: 1 + random.below(50),
      route: random.pick(["/api/v1/hazard-risk", "/api/v1/hazard-risk/batch"]),
      ...(random.chance(0.5) ? { atlasRelease: "2026-1" } : {}),
    }));
    await Promise.all(entries.map((entry) => ledger.record(entry)));
  }
}

async function recordWithWrongClock(
  ledger: MaintainedLedger,
  clock: SettableClock,
  { accountId, keyId, customerIds: [customerId = ""] }: TestAccount,
): Promise<void> {
  const { nowMs } = clock;
  clock.nowMs += 10 * 365 * 24 * HOUR_MS;
  const entry = { accountId, keyId, customerId, meter: "hazard_values", units: 5, route: "/" } as const;
  await ledger.record({ ...entry, receipt: newReceipt() });
  clock.nowMs = nowMs;
  await ledger.resetClock();
}
