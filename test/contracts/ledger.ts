import { describe } from "vitest";
import { describeAccountsAndKeys } from "./ledgerAccounts.ts";
import { describeCustomers } from "./ledgerCustomers.ts";
import { describeIdempotency } from "./ledgerIdempotency.ts";
import { describeLifetime } from "./ledgerLifetime.ts";
import { describePruning } from "./ledgerPruning.ts";
import { describeUsage } from "./ledgerUsage.ts";
import { describeUsageQueries } from "./ledgerUsageQueries.ts";
import { type LedgerFixture, TestLedger } from "./testLedger.ts";

/** Defines the tests that every implementation of `Ledger` must pass. */
export function describeLedgerContract(name: string, createFixture: () => Promise<LedgerFixture>): void {
  describe(`${name}: ledger contract`, () => {
    const contract = new TestLedger(createFixture);
    describeAccountsAndKeys(contract);
    describeCustomers(contract);
    describeUsage(contract);
    describeUsageQueries(contract);
    describeIdempotency(contract);
    describePruning(contract);
    describeLifetime(contract);
  });
}
