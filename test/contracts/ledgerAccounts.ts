import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Authenticator } from "../../src/ledger/authenticator.ts";
import { newKey, digestOf } from "../../src/ledger/keys.ts";
import { fault, HOUR_MS, type TestLedger } from "./testLedger.ts";

/** Tests of accounts, keys and notifications of changes. */
export function describeAccountsAndKeys(contract: TestLedger): void {
  const { now, withOther, newAccount } = contract;

  describe("accounts", () => {
    test("lists accounts as they were created", async () => {
      const first = await contract.ledger.createAccount({ name: "Bank of Somewhere" });
      const second = await contract.ledger.createAccount({ name: "Zürich 再保険 🌊" });
      expect(first).toEqual({
        accountId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        name: "Bank of Somewhere",
        createdAt: expect.stringMatching(/^2026-0[34]-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      });
      const listedAccounts = (await contract.ledger.listAccounts()).filter(({ accountId }) =>
        [first.accountId, second.accountId].includes(accountId),
      );
      expect(new Set(listedAccounts)).toEqual(new Set([first, second]));
    });

    test.each(["", "x".repeat(201), "two\nlines", "\ud800"])("rejects the account name %j", async (name) => {
      await expect(contract.ledger.createAccount({ name })).rejects.toEqual(fault("invalid_request", /name/));
    });

    test("suspends and reactivates accounts, keeping the time of the first suspension", async () => {
      const { accountId, secret } = await newAccount();
      const { suspendedAt } = await contract.ledger.setAccountSuspended(accountId, true);
      expect(suspendedAt).toBeDefined();
      contract.nowMs += 1000;
      expect(await contract.ledger.setAccountSuspended(accountId, true)).toMatchObject({ suspendedAt });
      expect((await contract.ledger.findKey(digestOf(secret)))?.account.suspendedAt).toBe(suspendedAt);
      expect(await contract.ledger.setAccountSuspended(accountId, false)).not.toHaveProperty("suspendedAt");
      expect((await contract.ledger.findKey(digestOf(secret)))?.account).not.toHaveProperty("suspendedAt");
      await expect(contract.ledger.setAccountSuspended(randomUUID(), true)).rejects.toEqual(fault("account_not_found"));
    });
  });

  describe("keys", () => {
    test("finds keys by digest, and never returns the secret again", async () => {
      const account = await contract.ledger.createAccount({ name: "Holder" });
      const { secret, key } = await contract.ledger.createKey({ accountId: account.accountId, name: "batch" });
      expect(await contract.ledger.findKey(digestOf(secret))).toEqual({ key, account });
      expect(key).toMatchObject({ accountId: account.accountId, name: "batch" });
      expect(await contract.ledger.findKey(digestOf(newKey()))).toBeUndefined();
      expect(await contract.ledger.listKeys({ accountId: account.accountId })).toEqual([key]);
      expect(JSON.stringify(await contract.ledger.listKeys())).not.toContain(secret);
    });

    test("finds keys by id, including revoked ones", async () => {
      const account = await contract.ledger.createAccount({ name: "Holder" });
      const { key } = await contract.ledger.createKey({ accountId: account.accountId });
      await contract.ledger.createKey({ accountId: account.accountId });
      expect(await contract.ledger.findKeyById(key.keyId)).toEqual({ key, account });
      expect(await contract.ledger.findKeyById(randomUUID())).toBeUndefined();
      const { revokedAt } = await contract.ledger.revokeKey(key.keyId);
      expect((await contract.ledger.findKeyById(key.keyId))?.key).toEqual({ ...key, revokedAt });
    });

    test("has one secret for each purpose", async () => {
      const secret = await contract.ledger.signingSecret("map tiles");
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      expect(await contract.ledger.signingSecret("map tiles")).toBe(secret);
      expect(await contract.ledger.signingSecret("other")).not.toBe(secret);
    });

    test("imports a key issued elsewhere once, without checking its checksum", async () => {
      const { accountId } = await contract.ledger.createAccount({ name: "Newcomer" });
      const secret = `iso_sk_${"Az09".repeat(16).split("").toSorted().join("")}`;
      const { key } = await contract.ledger.createKey({ accountId, secret });
      expect((await contract.ledger.findKey(digestOf(secret)))?.key).toEqual(key);
      await expect(contract.ledger.createKey({ accountId, secret })).rejects.toEqual(
        fault("invalid_request", /already has this key/),
      );
      await expect(contract.ledger.createKey({ accountId, secret: secret.slice(1) + "-" })).rejects.toEqual(
        fault("invalid_request"),
      );
      await expect(contract.ledger.createKey({ accountId: randomUUID() })).rejects.toEqual(fault("account_not_found"));
    });

    test("rotates a key once, with an overlap", async () => {
      const { keyId, secret } = await newAccount();
      const { key, secret: successor } = await contract.ledger.rotateKey({ keyId, overlapS: 3600 });
      const rotatedKey = (await contract.ledger.findKey(digestOf(secret)))?.key;
      expect(rotatedKey).toMatchObject({ keyId, replacedBy: key.keyId });
      expect(Date.parse(rotatedKey?.expiresAt ?? "") - Date.parse(key.createdAt)).toBe(HOUR_MS);
      expect((await contract.ledger.findKey(digestOf(successor)))?.key).toEqual(key);
      await expect(contract.ledger.rotateKey({ keyId, overlapS: 0 })).rejects.toEqual(
        fault("invalid_request", /rotated/),
      );
      await expect(contract.ledger.rotateKey({ keyId: key.keyId, overlapS: -1 })).rejects.toEqual(
        fault("invalid_request"),
      );
      await expect(contract.ledger.rotateKey({ keyId: randomUUID(), overlapS: 0 })).rejects.toEqual(
        fault("key_not_found"),
      );
    });

    test("a key rotated without overlap is rejected immediately, even if the clock steps back", async () => {
      const { keyId, secret, entry } = await newAccount();
      contract.nowMs += HOUR_MS;
      await contract.ledger.record(entry());
      contract.nowMs -= HOUR_MS;
      await contract.ledger.rotateKey({ keyId, overlapS: 0 });
      const authenticator = new Authenticator(contract.ledger, { now });
      const result: unknown = await (async () => authenticator.authenticate(secret, "192.0.2.1"))().catch(
        (error: unknown) => error,
      );
      authenticator.close();
      contract.nowMs += HOUR_MS;
      expect(result).toEqual(fault("api_key_revoked"));
    });

    test("revokes keys permanently, and still finds them", async () => {
      const { keyId, secret } = await newAccount();
      const { revokedAt } = await contract.ledger.revokeKey(keyId);
      expect(revokedAt).toBeDefined();
      contract.nowMs += 1000;
      expect(await contract.ledger.revokeKey(keyId)).toMatchObject({ keyId, revokedAt });
      expect((await contract.ledger.findKey(digestOf(secret)))?.key).toMatchObject({ keyId, revokedAt });
      await expect(contract.ledger.rotateKey({ keyId, overlapS: 0 })).rejects.toEqual(
        fault("invalid_request", /revoked/),
      );
      await expect(contract.ledger.revokeKey(randomUUID())).rejects.toEqual(fault("key_not_found"));
    });

    test("notifies listeners of changes, including those made by another instance", async () => {
      const { keyId } = await newAccount();
      await withOther(async (other) => {
        const notified = new Promise<void>((resolve) => other.onChange(() => resolve()));
        await contract.ledger.revokeKey(keyId);
        await notified;
      });
      let count = 0;
      const unsubscribe = contract.ledger.onChange(() => count++);
      await contract.ledger.revokeKey(keyId);
      expect(count).toBeGreaterThan(0);
      unsubscribe();
      const countBefore = count;
      await contract.ledger.revokeKey(keyId);
      expect(count).toBe(countBefore);
    });
  });

  test("notifies listeners of each commit with its number of rows", async () => {
    const { entry } = await newAccount();
    const commits: { readonly rowCount: number; readonly durationMs: number }[] = [];
    const unsubscribe = contract.ledger.onCommit((commit) => commits.push(commit));
    const rowCount = (): number => commits.reduce((sum, commit) => sum + commit.rowCount, 0);
    await Promise.all(Array.from({ length: 50 }, () => contract.ledger.record(entry({ units: 1 }))));
    await expect.poll(rowCount).toBe(50);
    // Entries that are queued during the first commit are committed together.
    expect(commits.length).toBeLessThan(50);
    for (const { durationMs } of commits) expect(durationMs).toBeGreaterThan(0);
    unsubscribe();
    await contract.ledger.record(entry({ units: 1 }));
    await contract.ledger.listAccounts();
    expect(rowCount()).toBe(50);
  });

  test("notifies an instance that records continuously of a revocation", async () => {
    const { accountId, keyId, entry } = await newAccount();
    await withOther(async (other) => {
      const stop = new AbortController();
      let count = 0;
      other.onChange(() => stop.abort());
      const recordUntilNotified = async (): Promise<void> => {
        for (; !stop.signal.aborted; count++) await other.record(entry({ units: 1 }));
      };
      const recordings = Array.from({ length: 64 }, recordUntilNotified);
      await contract.ledger.revokeKey(keyId);
      await Promise.all(recordings);
      expect(await contract.ledger.usage({ accountId, groupBy: [], limit: 1 })).toEqual({
        items: [{ requests: count, units: count }],
      });
    });
  });
}
