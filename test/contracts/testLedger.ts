import { afterAll, beforeAll, expect } from "vitest";
import type { AuditReport, Ledger, MaintainedLedger, RecordedEntry, UsageEntry } from "../../src/ledger/ledger.ts";
import { newReceipt } from "../ledger/receipt.ts";

/** An initially empty storage for a ledger. */
export interface LedgerFixture {
  open(options?: { readonly now?: () => number }): Promise<MaintainedLedger>;
  /** Runs a SQL statement directly on the storage, bypassing the ledger. */
  execute(statement: string): Promise<void>;
  readonly dispose: () => Promise<void>;
}

export interface TestAccount {
  readonly accountId: string;
  readonly keyId: string;
  readonly secret: string;
  readonly customerId: string;
  entry(overrides?: Partial<UsageEntry>): UsageEntry;
}

const START_MS = Date.parse("2026-03-31T23:59:59.000Z");
export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;

/** Matches a fault with a code and a message. */
export function fault(code: string, message: RegExp = /./): unknown {
  return expect.objectContaining({ name: "Fault", code, message: expect.stringMatching(message) as unknown });
}

/** The ledger under test, with its clock. It is open while the tests of its `describe` block run. */
export class TestLedger {
  nowMs = START_MS;
  readonly createFixture: () => Promise<LedgerFixture>;
  #fixture: LedgerFixture | undefined;
  #ledger: MaintainedLedger | undefined;

  constructor(createFixture: () => Promise<LedgerFixture>) {
    this.createFixture = createFixture;
    beforeAll(async () => {
      this.#fixture = await createFixture();
      this.#ledger = await this.#fixture.open({ now: this.now });
    });
    afterAll(async () => {
      await this.ledger.close();
      await this.fixture.dispose();
    });
  }

  get fixture(): LedgerFixture {
    return this.#fixture ?? expect.fail("The ledger is not open yet.");
  }

  get ledger(): MaintainedLedger {
    return this.#ledger ?? expect.fail("The ledger is not open yet.");
  }

  readonly now = (): number => this.nowMs;

  async reopen(): Promise<void> {
    await this.ledger.close();
    this.#ledger = await this.fixture.open({ now: this.now });
  }

  /** Opens a second instance of the ledger for the duration of `use`. */
  readonly withOther = async <T>(use: (other: Ledger) => Promise<T>, clock = this.now): Promise<T> => {
    const other = await this.fixture.open({ now: clock });
    try {
      return await use(other);
    } finally {
      await other.close();
    }
  };

  /** Creates an account with a key and a customer. */
  readonly newAccount = async (name = "Someone"): Promise<TestAccount> => {
    const { accountId } = await this.ledger.createAccount({ name });
    const { key, secret } = await this.ledger.createKey({ accountId });
    const { customer } = await this.ledger.registerCustomer({ accountId, internalId: "first" });
    const entry = (overrides: Partial<UsageEntry> = {}): UsageEntry => ({
      receipt: newReceipt(),
      accountId,
      customerId: customer.customerId,
      keyId: key.keyId,
      meter: "hazard_values",
      units: 7,
      route: "/api/v1/hazard-risk",
      atlasRelease: "2026-1",
      ...overrides,
    });
    return { accountId, keyId: key.keyId, secret, customerId: customer.customerId, entry };
  };

  readonly eventsOf = async (accountId: string): Promise<readonly RecordedEntry[]> => {
    const events = [];
    for await (const event of this.ledger.events({ accountId })) events.push(event);
    return events;
  };

  readonly expectConsistent = async (): Promise<AuditReport> => {
    const report = await this.ledger.audit();
    expect(report.differences).toEqual([]);
    expect(report.chain.problems).toEqual([]);
    return report;
  };
}
