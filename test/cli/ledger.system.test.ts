import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import type { Command } from "commander";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { accountsCommand } from "../../src/cli/accounts.ts";
import { customersCommand } from "../../src/cli/customers.ts";
import { keysCommand } from "../../src/cli/keys.ts";
import { usageCommand } from "../../src/cli/usage.ts";
import { Authenticator } from "../../src/ledger/authenticator.ts";
import { newKey } from "../../src/ledger/keys.ts";
import type { MaintainedLedger } from "../../src/ledger/ledger.ts";
import { openLedger } from "../../src/ledger/openLedger.ts";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import { startInProcessWorker } from "../ledger/inProcessWorker.ts";
import { newReceipt } from "../ledger/receipt.ts";

vi.mock("../../src/ledger/openLedger.ts", () => ({ openLedger: vi.fn<typeof openLedger>() }));

const run = promisify(execFile);
const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

let data: string;
let stdoutText = "";
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-cli-"));
  vi.stubEnv("ISOTHERM_DATA", data);
  vi.stubEnv("ISOTHERM_DATABASE_URL", undefined);
  vi.mocked(openLedger).mockImplementation(({ data: folder = "" }) => openInProcess(folder));
  stdoutText = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdoutText += String(text);
    return true;
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.mocked(openLedger).mockReset();
  process.exitCode = undefined;
  await rm(data, { recursive: true, force: true });
});

function openInProcess(folder: string): Promise<MaintainedLedger> {
  return SqliteLedger.open({ data: folder, now: Date.now, startWorker: startInProcessWorker });
}

async function withLedger<T>(act: (ledger: MaintainedLedger) => Promise<T>): Promise<T> {
  const ledger = await openInProcess(data);
  try {
    return await act(ledger);
  } finally {
    await ledger.close();
  }
}

/** Runs a command and returns its standard output. */
async function outputOf(command: Command, ...words: string[]): Promise<string> {
  stdoutText = "";
  await command.parseAsync(words, { from: "user" });
  return stdoutText;
}

async function jsonOf(command: Command, ...words: string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await outputOf(command, ...words, "--json")) as Record<string, unknown>;
}

function setStdin(text: string): void {
  vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([text]) as unknown as typeof process.stdin);
}

async function createAccount(): Promise<string> {
  const { account_id } = await jsonOf(accountsCommand(), "create", "--name", "Example Bank");
  return String(account_id);
}

describe("isotherm accounts", () => {
  test("creates, lists and suspends accounts, as text and as JSON", async () => {
    expect(await outputOf(accountsCommand(), "create", "--name", "First")).toMatch(/^Account [0-9a-f-]{36}: First\n$/);
    const second = await createAccount();
    expect(await outputOf(accountsCommand(), "list")).toMatch(new RegExp(`First[^]*${second}[^]*Example Bank`));
    const { items } = await jsonOf(accountsCommand(), "list");
    expect(items).toMatchObject([
      { name: "First", suspended_at: null },
      { account_id: second, name: "Example Bank", suspended_at: null },
    ]);
    expect(await outputOf(accountsCommand(), "suspend", second)).toMatch(/has been suspended since 20/);
    expect(await jsonOf(accountsCommand(), "suspend", second)).toMatchObject({
      suspended_at: expect.stringMatching(/^20/) as string,
    });
    expect(await outputOf(accountsCommand(), "suspend", second, "--lift")).toMatch(/is active/);
    await expect(outputOf(accountsCommand(), "suspend", "nobody")).rejects.toMatchObject({ code: "account_not_found" });
  });

  test("create creates a missing ledger; the other commands do not", async () => {
    await outputOf(accountsCommand(), "create", "--name", "First");
    expect(vi.mocked(openLedger).mock.lastCall).toEqual([{ data }, { mustExist: false }]);
    await outputOf(accountsCommand(), "list");
    expect(vi.mocked(openLedger).mock.lastCall).toEqual([{ data }, { mustExist: true }]);
    vi.mocked(openLedger).mockRejectedValue(new Error("not opened"));
    await expect(outputOf(keysCommand(), "list", "--database", "postgres://x/y")).rejects.toThrow("not opened");
    expect(vi.mocked(openLedger).mock.lastCall).toEqual([{ database: "postgres://x/y" }, { mustExist: true }]);
  });
});

describe("isotherm keys", () => {
  test("shows a new key once and does not list it", async () => {
    const account = await createAccount();
    const text = await outputOf(keysCommand(), "create", "--account", account, "--name", "nightly");
    const [secret = ""] = /iso_sk_[0-9A-Za-z]{64}/.exec(text) ?? [];
    expect(text).toMatch(/not shown again/);
    const { api_key, ...key } = await jsonOf(keysCommand(), "create", "--account", account);
    expect(api_key).toMatch(/^iso_sk_/);
    expect(key).toMatchObject({ account_id: account, name: null, revoked_at: null });
    const list = await outputOf(keysCommand(), "list");
    expect(list).toMatch(/nightly[^]*valid/);
    expect((await jsonOf(keysCommand(), "list", "--account", account))["items"]).toHaveLength(2);
    expect(list).not.toContain(secret);
    expect(list).not.toContain(String(api_key));
  });

  test("checks a key from standard input and exits with 1 if the key is not valid", async () => {
    const account = await createAccount();
    const issued = await jsonOf(keysCommand(), "create", "--account", account);
    const secret = String(issued["api_key"]);
    const keyId = String(issued["key_id"]);
    const check = async (input: string): Promise<unknown> => {
      setStdin(input);
      process.exitCode = undefined;
      const { status } = await jsonOf(keysCommand(), "check");
      expect(process.exitCode).toBe(status === "valid" ? undefined : 1);
      process.exitCode = undefined;
      return status;
    };
    expect(await check(`${secret}\n`)).toBe("valid");
    expect(await check(secret.slice(0, -1) + (secret.endsWith("A") ? "B" : "A"))).toBe("mistyped");
    expect(await check(newKey())).toBe("unknown");
    // Keys of other services have no checksum.
    expect(await check(`other_sk_${"b2".repeat(32)}`)).toBe("unknown");
    expect(await check("hunter2")).toBe("malformed");
    await outputOf(accountsCommand(), "suspend", account);
    expect(await check(secret)).toBe("account_suspended");
    await outputOf(accountsCommand(), "suspend", account, "--lift");
    await outputOf(keysCommand(), "revoke", keyId);
    expect(await check(secret)).toBe("revoked");
    setStdin(secret);
    expect(await outputOf(keysCommand(), "check")).toMatch(new RegExp(`revoked at .*${keyId}.*Example Bank`));
    for (const input of ["", " \n", "x".repeat(5000)]) {
      setStdin(input);
      await expect(outputOf(keysCommand(), "check")).rejects.toMatchObject({ code: "invalid_request" });
    }
  });

  test("imports a key without showing it", async () => {
    const account = await createAccount();
    const secret = `other_sk_${"a1".repeat(32)}`;
    setStdin(`${secret}\n`);
    expect(await outputOf(keysCommand(), "create", "--account", account, "--import")).not.toContain(secret);
    setStdin(secret);
    expect(await outputOf(keysCommand(), "check")).toMatch(/^The key is valid/);
    setStdin("");
    await expect(outputOf(keysCommand(), "create", "--account", account, "--import")).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/contains no key.*keys create.*--import/) as string,
    });
  });

  test("rotates with an overlap in hours", async () => {
    const account = await createAccount();
    const old = await jsonOf(keysCommand(), "create", "--account", account);
    const keyId = String(old["key_id"]);
    const text = await outputOf(keysCommand(), "rotate", keyId, "--overlap", "0.5");
    expect(text).toMatch(/iso_sk_[^]*stays valid for 0\.5 hours/);
    const { items } = await jsonOf(keysCommand(), "list");
    const [first, second] = items as { created_at: string; expires_at: string; replaced_by: string; key_id: string }[];
    expect(first?.replaced_by).toBe(second?.key_id);
    expect(Date.parse(first?.expires_at ?? "") - Date.parse(second?.created_at ?? "")).toBe(1_800_000);
    const rotatedText = await outputOf(keysCommand(), "rotate", second?.key_id ?? "", "--overlap", "0");
    expect(rotatedText).toMatch(/is no longer valid/);
    setStdin(/iso_sk_[0-9A-Za-z]{64}/.exec(text)?.[0] ?? "");
    expect((await jsonOf(keysCommand(), "check"))["status"]).toBe("expired");
    expect(await outputOf(keysCommand(), "list")).toMatch(/valid until[^]*expired/);
  });
});

describe("isotherm customers and usage", () => {
  test("list customers, sum up usage and audit it", async () => {
    const account = await createAccount();
    await withLedger(async (ledger) => {
      const { key } = await ledger.createKey({ accountId: account });
      for (const internalId of ["one", "two"]) {
        const { customer } = await ledger.registerCustomer({ accountId: account, internalId });
        const { customerId } = customer;
        const entry = { accountId: account, customerId, keyId: key.keyId, route: "/" } as const;
        await ledger.record({ ...entry, receipt: newReceipt(), meter: "hazard_values", units: 3 });
        await ledger.record({ ...entry, receipt: newReceipt(), meter: "hazard_values", units: 4 });
      }
    });
    const list = await jsonOf(customersCommand(), "list", "--account", account);
    expect(list).toMatchObject({ items: [{ internal_id: "one" }, { internal_id: "two", archived_at: null }] });
    expect(await outputOf(customersCommand(), "list", "--account", account)).toMatch(/one[^]*two/);
    const report = ["report", "--account", account];
    expect(await jsonOf(usageCommand(), ...report, "--group-by", "meter")).toEqual({
      items: [{ meter: "hazard_values", requests: 4, units: 14 }],
    });
    expect(await outputOf(usageCommand(), ...report)).toMatch(/internal id[^]*hazard_values +│ 2 +│ 7/);
    expect(await outputOf(usageCommand(), ...report, "--group-by", "day")).toMatch(
      /period[^]*20\d\d-\d\d-\d\d +│ 4 +│ 14/,
    );
    expect(await jsonOf(usageCommand(), ...report, "--to", "2020-01-01")).toEqual({ items: [] });
    await expect(outputOf(usageCommand(), ...report, "--from", "1.1.2026")).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(outputOf(usageCommand(), "report", "--account", "nobody")).rejects.toMatchObject({
      code: "account_not_found",
    });
    // An unknown customer, or one of another account, is an error rather than zero usage.
    const [first] = list["items"] as { customer_id: string }[];
    const customerId = first?.customer_id ?? "";
    expect(await outputOf(usageCommand(), ...report, "--customer", customerId)).toMatch(/one[^]*│ 2 +│ 7/);
    for (const [accountId, customer] of [
      [account, randomUUID()],
      [account, "nobody"],
      [await createAccount(), customerId],
    ] as const) {
      await expect(
        outputOf(usageCommand(), "report", "--account", accountId, "--customer", customer),
      ).rejects.toMatchObject({
        code: "customer_not_found",
        message: expect.stringContaining(customer) as string,
      });
    }

    expect(await outputOf(usageCommand(), "audit")).toMatch(
      /^No differences: 4 records, 2 sums\nChain: 4 batches verified, head 4:[0-9a-f]{64}\n$/,
    );
    expect(process.exitCode).toBeUndefined();
    const database = new Database(join(data, "ledger.sqlite"));
    database.exec("update usage_rollup set units = units + 1");
    database.close();
    expect(await outputOf(usageCommand(), "audit")).toMatch(/DIFFERENCES FOUND[^]*│ 7 +│ 8/);
    expect(process.exitCode).toBe(1);
    const { differences } = await jsonOf(usageCommand(), "audit");
    expect(differences).toMatchObject([{ event_units: 7, rollup_units: 8 }, {}]);
  });
});

test("lists and sums up more customers than fit on a page", async () => {
  const account = await createAccount();
  await withLedger(async (ledger) => {
    const { keyId } = (await ledger.createKey({ accountId: account })).key;
    for (let i = 0; i < 501; i++) {
      const { customerId } = (await ledger.registerCustomer({ accountId: account, internalId: `${i}` })).customer;
      const entry = { accountId: account, customerId, keyId, meter: "hazard_values", units: 1, route: "/" } as const;
      await ledger.record({ ...entry, receipt: newReceipt() });
    }
  });
  expect((await jsonOf(customersCommand(), "list", "--account", account))["items"]).toHaveLength(501);
  const report = ["report", "--account", account, "--group-by", "customer"];
  expect((await jsonOf(usageCommand(), ...report))["items"]).toHaveLength(501);
});

describe("the built command", () => {
  const isotherm = (...words: string[]): Promise<{ stdout: string; stderr: string }> =>
    run(process.execPath, [CLI, ...words], { env: { ...process.env, ISOTHERM_DATA: data } });

  test("exports every event as CSV and as JSON lines", async () => {
    const account = await createAccount();
    const receipts = Array.from({ length: 1500 }, () => newReceipt());
    await withLedger(async (ledger) => {
      const { keyId } = (await ledger.createKey({ accountId: account })).key;
      const { customerId } = (await ledger.registerCustomer({ accountId: account, internalId: "one" })).customer;
      const entry = { accountId: account, customerId, keyId, meter: "hazard_values", units: 2, route: "/a,b" } as const;
      await Promise.all(receipts.map((receipt) => ledger.record({ ...entry, receipt })));
    });
    const { stdout } = await isotherm("usage", "export");
    const [head, ...lines] = stdout.trimEnd().split("\n");
    expect(head).toBe("seq,recorded_at,receipt,account_id,customer_id,key_id,meter,units,route,atlas_release");
    expect(lines.map((line) => line.split(",")[2])).toEqual(receipts);
    expect(lines[0]).toMatch(/^1,20[^,]+Z,[^,]+,[^,]+,[^,]+,[^,]+,hazard_values,2,"\/a,b",$/);
    // A rejected query writes nothing.
    await expect(isotherm("usage", "export", "--from", "2026-13-01")).rejects.toMatchObject({ code: 1, stdout: "" });
    const json = (await isotherm("usage", "export", "--json", "--account", account)).stdout.trimEnd().split("\n");
    expect(json.map((line) => (JSON.parse(line) as { receipt: string }).receipt)).toEqual(receipts);
  });

  test("prints an error as a single line and exits with 1", async () => {
    const absent = join(data, "absent");
    await expect(isotherm("keys", "list", "--data", absent)).rejects.toMatchObject({
      code: 1,
      stderr: `isotherm: There is no ledger in ${absent}. Create one with isotherm accounts create.\n`,
    });
    await expect(isotherm("usage", "report", "--account", "x", "--group-by", "week")).rejects.toMatchObject({
      stderr: expect.stringMatching(/customer, meter, day, month/) as string,
    });
  });

  test("revokes a key that a running service then rejects", async () => {
    const account = await createAccount();
    await withLedger(async (ledger) => {
      // With a constant clock, only a change notification can invalidate the authenticator's cache.
      const authenticator = new Authenticator(ledger, { now: () => 0 });
      const { secret, key } = await ledger.createKey({ accountId: account });
      await authenticator.authenticate(secret, "192.0.2.1");
      const changed = new Promise<void>((resolve) => ledger.onChange(() => resolve()));
      await isotherm("keys", "revoke", key.keyId);
      await changed;
      await expect(authenticator.authenticate(secret, "192.0.2.1")).rejects.toMatchObject({ code: "api_key_revoked" });
    });
  });

  test("checks a key from a pipe", async () => {
    const account = await createAccount();
    const { secret } = await withLedger((ledger) => ledger.createKey({ accountId: account }));
    const child = spawn(process.execPath, [CLI, "keys", "check", "--data", data]);
    child.stdin.end(`${secret}\n`);
    let text = "";
    for await (const piece of child.stdout.setEncoding("utf8")) text += piece as string;
    expect(text).toMatch(/^The key is valid\. Key .* of account .*Example Bank/);
  });
});
