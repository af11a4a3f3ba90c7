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
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openLedger } from "../../src/ledger/openLedger.ts";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import { startInProcessWorker } from "../ledger/inProcessWorker.ts";
import { newReceipt } from "../ledger/receipt.ts";

vi.mock("../../src/ledger/openLedger.ts", () => ({ openLedger: vi.fn<typeof openLedger>() }));

const run = promisify(execFile);
const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

let data: string;
let printed = "";
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-cli-"));
  vi.stubEnv("ISOTHERM_DATA", data);
  vi.stubEnv("ISOTHERM_DATABASE_URL", undefined);
  vi.mocked(openLedger).mockImplementation(({ data: folder = "" }) => openHere(folder));
  printed = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
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

function openHere(folder: string): Promise<Ledger> {
  return SqliteLedger.open({ data: folder, now: Date.now, startWorker: startInProcessWorker });
}

async function withLedger<T>(use: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await openHere(data);
  try {
    return await use(ledger);
  } finally {
    await ledger.close();
  }
}

/** What a command prints. */
async function said(command: Command, ...words: string[]): Promise<string> {
  printed = "";
  await command.parseAsync(words, { from: "user" });
  return printed;
}

async function saidJson(command: Command, ...words: string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await said(command, ...words, "--json")) as Record<string, unknown>;
}

function typeIn(text: string): void {
  vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([text]) as unknown as typeof process.stdin);
}

async function makeAccount(): Promise<string> {
  const { account_id } = await saidJson(accountsCommand(), "create", "--name", "Bank of Somewhere");
  return String(account_id);
}

describe("isotherm accounts", () => {
  test("makes, lists and suspends them, in words and in JSON", async () => {
    expect(await said(accountsCommand(), "create", "--name", "First")).toMatch(/^Account [0-9a-f-]{36}: First\n$/);
    const second = await makeAccount();
    expect(await said(accountsCommand(), "list")).toMatch(new RegExp(`First[^]*${second}[^]*Bank of Somewhere`));
    const { items } = await saidJson(accountsCommand(), "list");
    expect(items).toMatchObject([
      { name: "First", suspended_at: null },
      { account_id: second, name: "Bank of Somewhere", suspended_at: null },
    ]);
    expect(await said(accountsCommand(), "suspend", second)).toMatch(/is suspended since 20/);
    expect(await saidJson(accountsCommand(), "suspend", second)).toMatchObject({
      suspended_at: expect.stringMatching(/^20/) as string,
    });
    expect(await said(accountsCommand(), "suspend", second, "--lift")).toMatch(/may ask/);
    await expect(said(accountsCommand(), "suspend", "nobody")).rejects.toMatchObject({ code: "account_not_found" });
  });

  test("makes a ledger where there is none; the other commands do not", async () => {
    await said(accountsCommand(), "create", "--name", "First");
    expect(vi.mocked(openLedger).mock.lastCall).toEqual([{ data }, { mustExist: false }]);
    await said(accountsCommand(), "list");
    expect(vi.mocked(openLedger).mock.lastCall).toEqual([{ data }, { mustExist: true }]);
    vi.mocked(openLedger).mockRejectedValue(new Error("stop here"));
    await expect(said(keysCommand(), "list", "--database", "postgres://x/y")).rejects.toThrow("stop here");
    expect(vi.mocked(openLedger).mock.lastCall).toEqual([{ database: "postgres://x/y" }, { mustExist: true }]);
  });
});

describe("isotherm keys", () => {
  test("shows a new key once, and lists it without", async () => {
    const account = await makeAccount();
    const text = await said(keysCommand(), "create", "--account", account, "--name", "nightly");
    const [secret = ""] = /iso_sk_[0-9A-Za-z]{64}/.exec(text) ?? [];
    expect(text).toMatch(/shown this once/);
    const { api_key, ...key } = await saidJson(keysCommand(), "create", "--account", account);
    expect(api_key).toMatch(/^iso_sk_/);
    expect(key).toMatchObject({ account_id: account, name: null, revoked_at: null });
    const listed = await said(keysCommand(), "list");
    expect(listed).toMatch(/nightly[^]*works/);
    expect((await saidJson(keysCommand(), "list", "--account", account))["items"]).toHaveLength(2);
    expect(listed).not.toContain(secret);
    expect(listed).not.toContain(String(api_key));
  });

  test("checks a key that is typed in, and exits with 1 when it does not work", async () => {
    const account = await makeAccount();
    const issued = await saidJson(keysCommand(), "create", "--account", account);
    const secret = String(issued["api_key"]);
    const keyId = String(issued["key_id"]);
    const check = async (typed: string): Promise<unknown> => {
      typeIn(typed);
      process.exitCode = undefined;
      const { status } = await saidJson(keysCommand(), "check");
      expect(process.exitCode).toBe(status === "valid" ? undefined : 1);
      process.exitCode = undefined;
      return status;
    };
    expect(await check(`${secret}\n`)).toBe("valid");
    expect(await check(secret.slice(0, -1) + (secret.endsWith("A") ? "B" : "A"))).toBe("mistyped");
    expect(await check(newKey())).toBe("unknown");
    // A key of another service has no checksum that could be wrong.
    expect(await check(`other_sk_${"b2".repeat(32)}`)).toBe("unknown");
    expect(await check("hunter2")).toBe("malformed");
    await said(accountsCommand(), "suspend", account);
    expect(await check(secret)).toBe("account_suspended");
    await said(accountsCommand(), "suspend", account, "--lift");
    await said(keysCommand(), "revoke", keyId);
    expect(await check(secret)).toBe("revoked");
    typeIn(secret);
    expect(await said(keysCommand(), "check")).toMatch(new RegExp(`revoked since .*${keyId}.*Bank of Somewhere`));
    for (const typed of ["", " \n", "x".repeat(5000)]) {
      typeIn(typed);
      await expect(said(keysCommand(), "check")).rejects.toMatchObject({ code: "invalid_request" });
    }
  });

  test("takes in a key from elsewhere, without showing it", async () => {
    const account = await makeAccount();
    const secret = `other_sk_${"a1".repeat(32)}`;
    typeIn(`${secret}\n`);
    expect(await said(keysCommand(), "create", "--account", account, "--import")).not.toContain(secret);
    typeIn(secret);
    expect(await said(keysCommand(), "check")).toMatch(/^It works/);
    typeIn("");
    await expect(said(keysCommand(), "create", "--account", account, "--import")).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/no key on standard input.*keys create.*--import/) as string,
    });
  });

  test("rotates with an overlap in hours", async () => {
    const account = await makeAccount();
    const old = await saidJson(keysCommand(), "create", "--account", account);
    const keyId = String(old["key_id"]);
    const text = await said(keysCommand(), "rotate", keyId, "--overlap", "0.5");
    expect(text).toMatch(/iso_sk_[^]*works for 0\.5 more hours/);
    const { items } = await saidJson(keysCommand(), "list");
    const [first, second] = items as { created_at: string; expires_at: string; replaced_by: string; key_id: string }[];
    expect(first?.replaced_by).toBe(second?.key_id);
    expect(Date.parse(first?.expires_at ?? "") - Date.parse(second?.created_at ?? "")).toBe(1_800_000);
    const gone = await said(keysCommand(), "rotate", second?.key_id ?? "", "--overlap", "0");
    expect(gone).toMatch(/does not work any more/);
    typeIn(/iso_sk_[0-9A-Za-z]{64}/.exec(text)?.[0] ?? "");
    expect((await saidJson(keysCommand(), "check"))["status"]).toBe("expired");
    expect(await said(keysCommand(), "list")).toMatch(/works until[^]*ended/);
  });
});

describe("isotherm customers and usage", () => {
  test("list, sum up and audit what was recorded", async () => {
    const account = await makeAccount();
    await withLedger(async (ledger) => {
      const { key } = await ledger.createKey({ accountId: account });
      for (const internalId of ["one", "two"]) {
        const { customer } = await ledger.registerCustomer({ accountId: account, internalId });
        const { customerId } = customer;
        const use = { accountId: account, customerId, keyId: key.keyId, route: "/" } as const;
        await ledger.record({ ...use, receipt: newReceipt(), meter: "hazard_values", units: 3 });
        await ledger.record({ ...use, receipt: newReceipt(), meter: "hazard_values", units: 4 });
      }
    });
    const listed = await saidJson(customersCommand(), "list", "--account", account);
    expect(listed).toMatchObject({ items: [{ internal_id: "one" }, { internal_id: "two", archived_at: null }] });
    expect(await said(customersCommand(), "list", "--account", account)).toMatch(/one[^]*two/);
    const report = ["report", "--account", account];
    expect(await saidJson(usageCommand(), ...report, "--group-by", "meter")).toEqual({
      items: [{ meter: "hazard_values", requests: 4, units: 14 }],
    });
    expect(await said(usageCommand(), ...report)).toMatch(/internal id[^]*hazard_values +│ 2 +│ 7/);
    expect(await said(usageCommand(), ...report, "--group-by", "day")).toMatch(/period[^]*20\d\d-\d\d-\d\d +│ 4 +│ 14/);
    expect(await saidJson(usageCommand(), ...report, "--to", "2020-01-01")).toEqual({ items: [] });
    await expect(said(usageCommand(), ...report, "--from", "1.1.2026")).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(said(usageCommand(), "report", "--account", "nobody")).rejects.toMatchObject({
      code: "account_not_found",
    });
    // A customer that was mistyped, or is another account's, is not one without usage.
    const [first] = listed["items"] as { customer_id: string }[];
    const customerId = first?.customer_id ?? "";
    expect(await said(usageCommand(), ...report, "--customer", customerId)).toMatch(/one[^]*│ 2 +│ 7/);
    for (const [whose, customer] of [
      [account, randomUUID()],
      [account, "nobody"],
      [await makeAccount(), customerId],
    ] as const) {
      await expect(said(usageCommand(), "report", "--account", whose, "--customer", customer)).rejects.toMatchObject({
        code: "customer_not_found",
        message: expect.stringContaining(customer) as string,
      });
    }

    expect(await said(usageCommand(), "audit")).toBe("all is well: 4 answers, 2 sums\n");
    expect(process.exitCode).toBeUndefined();
    const database = new Database(join(data, "ledger.sqlite"));
    database.exec("update usage_rollup set units = units + 1");
    database.close();
    expect(await said(usageCommand(), "audit")).toMatch(/THEY DIFFER[^]*│ 7 +│ 8/);
    expect(process.exitCode).toBe(1);
    const { differences } = await saidJson(usageCommand(), "audit");
    expect(differences).toMatchObject([{ event_units: 7, rollup_units: 8 }, {}]);
  });
});

test("more customers than a page holds are all listed and summed up", async () => {
  const account = await makeAccount();
  await withLedger(async (ledger) => {
    const { keyId } = (await ledger.createKey({ accountId: account })).key;
    for (let i = 0; i < 501; i++) {
      const { customerId } = (await ledger.registerCustomer({ accountId: account, internalId: `${i}` })).customer;
      const use = { accountId: account, customerId, keyId, meter: "hazard_values", units: 1, route: "/" } as const;
      await ledger.record({ ...use, receipt: newReceipt() });
    }
  });
  expect((await saidJson(customersCommand(), "list", "--account", account))["items"]).toHaveLength(501);
  const report = ["report", "--account", account, "--group-by", "customer"];
  expect((await saidJson(usageCommand(), ...report))["items"]).toHaveLength(501);
});

describe("as it is installed", () => {
  const isotherm = (...words: string[]): Promise<{ stdout: string; stderr: string }> =>
    run(process.execPath, [CLI, ...words], { env: { ...process.env, ISOTHERM_DATA: data } });

  test("exports every event as CSV and as JSON lines", async () => {
    const account = await makeAccount();
    const receipts = Array.from({ length: 1500 }, () => newReceipt());
    await withLedger(async (ledger) => {
      const { keyId } = (await ledger.createKey({ accountId: account })).key;
      const { customerId } = (await ledger.registerCustomer({ accountId: account, internalId: "one" })).customer;
      const use = { accountId: account, customerId, keyId, meter: "hazard_values", units: 2, route: "/a,b" } as const;
      await Promise.all(receipts.map((receipt) => ledger.record({ ...use, receipt })));
    });
    const { stdout } = await isotherm("usage", "export");
    const [head, ...lines] = stdout.trimEnd().split("\n");
    expect(head).toBe("seq,recorded_at,receipt,account_id,customer_id,key_id,meter,units,route,atlas_release");
    expect(lines.map((line) => line.split(",")[2])).toEqual(receipts);
    expect(lines[0]).toMatch(/^1,20[^,]+Z,[^,]+,[^,]+,[^,]+,[^,]+,hazard_values,2,"\/a,b",$/);
    // Nothing stands in a file where nothing was answered.
    await expect(isotherm("usage", "export", "--from", "2026-13-01")).rejects.toMatchObject({ code: 1, stdout: "" });
    const json = (await isotherm("usage", "export", "--json", "--account", account)).stdout.trimEnd().split("\n");
    expect(json.map((line) => (JSON.parse(line) as { receipt: string }).receipt)).toEqual(receipts);
  });

  test("says what is wrong in a line, and exits with 1", async () => {
    const absent = join(data, "absent");
    await expect(isotherm("keys", "list", "--data", absent)).rejects.toMatchObject({
      code: 1,
      stderr: `isotherm: There is no ledger in ${absent}. Create one with isotherm accounts create.\n`,
    });
    await expect(isotherm("usage", "report", "--account", "x", "--group-by", "week")).rejects.toMatchObject({
      stderr: expect.stringMatching(/customer, meter, day, month/) as string,
    });
  });

  test("revokes a key for a running service, whose authenticator then refuses it", async () => {
    const account = await makeAccount();
    await withLedger(async (ledger) => {
      // With a constant clock, only a change notification can invalidate the authenticator's cache.
      const authenticator = new Authenticator(ledger, { now: () => 0 });
      const { secret, key } = await ledger.createKey({ accountId: account });
      await authenticator.authenticate(secret, "192.0.2.1");
      const told = new Promise<void>((resolve) => ledger.onChange(resolve));
      await isotherm("keys", "revoke", key.keyId);
      await told;
      await expect(authenticator.authenticate(secret, "192.0.2.1")).rejects.toMatchObject({ code: "api_key_revoked" });
    });
  });

  test("checks a key from a pipe", async () => {
    const account = await makeAccount();
    const { secret } = await withLedger((ledger) => ledger.createKey({ accountId: account }));
    const child = spawn(process.execPath, [CLI, "keys", "check", "--data", data]);
    child.stdin.end(`${secret}\n`);
    let text = "";
    for await (const piece of child.stdout.setEncoding("utf8")) text += piece as string;
    expect(text).toMatch(/^It works\. Key .* of account .*Bank of Somewhere/);
  });
});
