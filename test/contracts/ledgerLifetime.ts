import { describe, expect, test } from "vitest";
import { digestOf } from "../../src/ledger/keys.ts";
import { fault, type TestLedger } from "./testLedger.ts";

/** Tests of opening and closing. */
export function describeLifetime(contract: TestLedger): void {
  const { now, newAccount, eventsOf } = contract;

  describe("opening and closing", () => {
    test("a reopened ledger has everything that was recorded", async () => {
      const { accountId, customerId, secret, entry } = await newAccount();
      await contract.ledger.record(entry());
      const signingSecret = await contract.ledger.signingSecret("map tiles");
      await contract.reopen();
      expect(await contract.ledger.signingSecret("map tiles")).toBe(signingSecret);
      expect(contract.ledger.failure).toBeUndefined();
      expect((await contract.ledger.findKey(digestOf(secret)))?.account.accountId).toBe(accountId);
      expect(await contract.ledger.findCustomer({ accountId, customerId })).toMatchObject({ internalId: "first" });
      expect(await eventsOf(accountId)).toMatchObject([{ units: 7 }]);
    });

    test("concurrent first opens create the ledger once", async () => {
      const emptyFixture = await contract.createFixture();
      try {
        const ledgers = await Promise.all(Array.from({ length: 4 }, () => emptyFixture.open()));
        await Promise.all(ledgers.map((ledger, i) => ledger.createAccount({ name: `account ${i}` })));
        expect(await ledgers[0]?.listAccounts()).toHaveLength(4);
        const secrets = await Promise.all(ledgers.map((ledger) => ledger.signingSecret("map tiles")));
        expect(new Set(secrets).size).toBe(1);
        await Promise.all(ledgers.map((ledger) => ledger.close()));
      } finally {
        await emptyFixture.dispose();
      }
    });

    test("rejects a ledger written by a newer release", async () => {
      const emptyFixture = await contract.createFixture();
      try {
        await (await emptyFixture.open()).close();
        await emptyFixture.execute("insert into migration (version, name, applied_at) values (1000, 'far future', '')");
        await expect(emptyFixture.open()).rejects.toEqual(fault("configuration_invalid", /newer release.*1000/));
      } finally {
        await emptyFixture.dispose();
      }
    });

    test("a closed ledger rejects calls, and can be closed twice", async () => {
      const closing = await contract.fixture.open({ now });
      const { entry } = await newAccount();
      const recording = closing.record(entry());
      await Promise.all([closing.close(), closing.close()]);
      expect(await recording).toEqual({ units: 7, isReplay: false });
      await expect(closing.record(entry())).rejects.toThrow(/closed/);
      await expect(closing.listAccounts()).rejects.toThrow(/closed/);
    });
  });
}
