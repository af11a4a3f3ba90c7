import { expect, test } from "vitest";
import type { Customer, CustomerRef, RecordResult } from "../../src/ledger/ledger.ts";
import { LedgerBase } from "../../src/ledger/ledgerBase.ts";
import type { ArgumentOf, MethodName, ResultOf } from "../../src/ledger/methods.ts";

const REF = { accountId: "account", customerId: "customer" };
const CUSTOMER: Customer = { ...REF, internalId: "x", createdAt: "2026-01-01T00:00:00.000Z" };
const ARCHIVED: Customer = { ...CUSTOMER, archivedAt: "2026-01-02T00:00:00.000Z" };

/** A ledger with one customer or none, which counts the calls of its storage. */
class CustomerLedger extends LedgerBase {
  readonly calls: MethodName[] = [];
  readonly waitingReportCount = 0;
  readonly #customer: Customer | undefined;

  constructor(customer: Customer | undefined) {
    super({ now: () => 0 });
    this.#customer = customer;
  }

  protected dispatch<Name extends MethodName>(name: Name, argument: ArgumentOf<Name>): Promise<ResultOf<Name>> {
    this.calls.push(name);
    expect(argument).toEqual(REF);
    return Promise.resolve((name === "archiveCustomer" ? ARCHIVED : this.#customer) as ResultOf<Name>);
  }

  protected readChainState(): Promise<never> {
    return Promise.reject(new Error("There is no chain."));
  }

  record(): Promise<RecordResult> {
    return Promise.reject(new Error("Nothing is recorded."));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

test.each([
  ["an unknown customer", undefined],
  ["an archived customer", ARCHIVED],
])("archiving %s neither writes nor invalidates caches", async (_what, customer) => {
  const ledger = new CustomerLedger(customer);
  let changeCount = 0;
  ledger.onChange(() => changeCount++);
  expect(await ledger.archiveCustomer(REF)).toEqual(customer);
  expect([ledger.calls, changeCount]).toEqual([["findCustomer"], 0]);
});

test("archiving a customer invalidates only that customer", async () => {
  const ledger = new CustomerLedger(CUSTOMER);
  const changes: (CustomerRef | undefined)[] = [];
  ledger.onChange((customer) => changes.push(customer));
  expect(await ledger.archiveCustomer(REF)).toEqual(ARCHIVED);
  expect([ledger.calls, changes]).toEqual([["findCustomer", "archiveCustomer"], [REF]]);
});
