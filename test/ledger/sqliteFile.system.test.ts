/** Tests specific to the embedded ledger: its file, SQLite settings and disk failures. */
import { execFile, spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type * as openLedgerModule from "../../src/ledger/openLedger.ts";
import { type ClientRequest, checkHistory } from "./history.ts";
import { newReceipt } from "./receipt.ts";

const run = promisify(execFile);
const BUILT = new URL("../../dist/ledger/openLedger.js", import.meta.url).href;
const { openLedger } = (await import(BUILT)) as typeof openLedgerModule;

let folder: string;
let data: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-ledger-"));
  data = join(folder, "data");
  file = join(data, "ledger.sqlite");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function withLedger<T>(act: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await openLedger({ data });
  try {
    return await act(ledger);
  } finally {
    await ledger.close();
  }
}

/** Opens the ledger as an unprivileged user. @returns@returns "opened", or the code and message of the error */
async function openUnprivileged(options: { readonly mustExist?: boolean } = {}): Promise<string> {
  const program = `
    const { openLedger } = await import(${JSON.stringify(BUILT)});
    await openLedger({ data: ${JSON.stringify(data)} }, ${JSON.stringify(options)}).then(
      () => console.log("opened"),
      (error) => console.log(error.code, error.message),
    );`;
  const node = [process.execPath, "--input-type=module", "-e", program] as const;
  // Root bypasses file permissions.
  const isRoot = process.getuid?.() === 0;
  const [command, ...rest] = isRoot ? (["runuser", "-u", "nobody", "--", ...node] as const) : node;
  return (await run(command, rest, { cwd: "/" })).stdout;
}

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe("the ledger file", () => {
  test("is accessible only to its owner, as are its folder and the WAL files", async () => {
    await withLedger(async (ledger) => {
      await ledger.createAccount({ name: "Someone" });
      expect(await modeOf(data)).toBe("700");
      for (const name of ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"]) {
        expect(await modeOf(join(data, name)), name).toBe("600");
      }
    });
  });

  test("is a single self-contained file after closing", async () => {
    const account = await withLedger((ledger) => ledger.createAccount({ name: "Someone" }));
    await expect(stat(`${file}-wal`)).rejects.toThrow(/ENOENT/);
    const database = new Database(file, { readonly: true });
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(database.prepare("select account_id from account").all()).toEqual([{ account_id: account.accountId }]);
    database.close();
  });

  test("does not contain keys in plain text", async () => {
    const { secret } = await withLedger(async (ledger) => {
      const { accountId } = await ledger.createAccount({ name: "Someone" });
      return ledger.createKey({ accountId });
    });
    const { stdout } = await run("strings", ["-n", "20", file]).catch(() => run("cat", [file]));
    expect(stdout).toContain("usage_event");
    expect(stdout).not.toContain(secret.slice(10, 40));
  });

  test("that is not a database is rejected and left unchanged", async () => {
    await mkdir(data);
    await writeFile(file, "This is not a SQLite file.\n".repeat(400));
    await expect(openLedger({ data })).rejects.toMatchObject({
      code: "ledger_unavailable",
      message: expect.stringMatching(/ledger\.sqlite.*not a SQLite database.*NOTADB/) as string,
    });
    expect((await stat(file)).size).toBe(10_800);
  });

  test("of another program is rejected and left unchanged", async () => {
    await mkdir(data);
    const database = new Database(file);
    database.exec("create table account (mine text)");
    database.close();
    await expect(openLedger({ data })).rejects.toMatchObject({
      code: "ledger_unavailable",
      message: expect.stringMatching(/another program/) as string,
    });
    const again = new Database(file);
    expect(again.prepare("select name from sqlite_master").all()).toEqual([{ name: "account" }]);
    again.close();
  });

  test("that is damaged is rejected", async () => {
    await withLedger((ledger) => ledger.createAccount({ name: "Someone" }));
    const { size } = await stat(file);
    const bytes = Buffer.alloc(size, 0xa5);
    const database = new Database(file, { readonly: true });
    database.serialize().subarray(0, 100).copy(bytes);
    database.close();
    await writeFile(file, bytes);
    await expect(openLedger({ data })).rejects.toMatchObject({
      code: "ledger_unavailable",
      message: expect.stringMatching(/damaged.*backup.*CORRUPT/) as string,
    });
  });

  test("is rejected if it is a folder, or if its folder is a file", async () => {
    await mkdir(file, { recursive: true });
    await expect(openLedger({ data })).rejects.toMatchObject({ code: "ledger_unavailable" });
    await writeFile(join(folder, "plain"), "");
    for (const path of ["plain", "plain/below"]) {
      await expect(openLedger({ data: join(folder, path) })).rejects.toMatchObject({
        code: "ledger_unavailable",
        message: expect.stringMatching(
          /cannot be opened: its path contains a file where a folder is expected/,
        ) as string,
      });
    }
  });

  test("that is not writable is rejected", async () => {
    await withLedger((ledger) => ledger.createAccount({ name: "Someone" }));
    await chmod(file, 0o444);
    await chmod(data, 0o555);
    await chmod(folder, 0o755);
    const result = await openUnprivileged();
    await chmod(data, 0o755);
    expect(result).toMatch(/^ledger_unavailable .*cannot be written/);
  });

  test("in an inaccessible folder is not reported as missing", async () => {
    await withLedger((ledger) => ledger.createAccount({ name: "Someone" }));
    await chmod(data, 0);
    await chmod(folder, 0o755);
    const result = await openUnprivileged({ mustExist: true });
    await chmod(data, 0o700);
    expect(result).toMatch(/^ledger_unavailable .*cannot be written; check the owner and mode/);
  });

  test("is not written to when it is opened, so that reports work with a full disk", async () => {
    await withLedger(async (ledger) => {
      await ledger.createAccount({ name: "Someone" });
      const database = new Database(file, { readonly: true });
      const dataVersion = (): unknown => database.pragma("data_version", { simple: true });
      const before = dataVersion();
      await withLedger((other) => other.listAccounts());
      expect(dataVersion()).toBe(before);
      database.close();
    });
  });

  test("waits for the write lock of another program", async () => {
    await withLedger(async (ledger) => {
      const database = new Database(file);
      database.exec("begin immediate");
      const creating = ledger.createAccount({ name: "Delayed" });
      const first = await Promise.race([creating, new Promise((resolve) => setTimeout(() => resolve("waiting"), 100))]);
      expect(first).toBe("waiting");
      database.exec("commit");
      database.close();
      expect(await creating).toMatchObject({ name: "Delayed" });
    });
  });

  test("that stays locked fails calls with ledger_unavailable, and works again once it is unlocked", async () => {
    await withLedger(async (ledger) => {
      const { accountId } = await ledger.createAccount({ name: "Someone" });
      const database = new Database(file);
      database.exec("begin immediate");
      const busy = { code: "ledger_unavailable", message: expect.stringMatching(/another program/i) as string };
      await expect(ledger.registerCustomer({ accountId, internalId: "one" })).rejects.toMatchObject(busy);
      await expect(ledger.setAccountSuspended(accountId, true)).rejects.toMatchObject(busy);
      database.exec("rollback");
      database.close();
      expect(await ledger.registerCustomer({ accountId, internalId: "one" })).toMatchObject({ isNew: true });
      expect(ledger.failure).toBeUndefined();
    });
  }, 30_000);
});

describe("durability", () => {
  test("opening sets WAL mode regardless of the mode of the file", async () => {
    await withLedger((ledger) => ledger.createAccount({ name: "Someone" }));
    const database = new Database(file);
    expect(database.pragma("journal_mode = delete", { simple: true })).toBe("delete");
    database.close();
    await withLedger(async (ledger) => {
      await ledger.createAccount({ name: "Another" });
      expect(new Database(file, { readonly: true }).pragma("journal_mode", { simple: true })).toBe("wal");
    });
  });

  test("an entry is in the file when recording resolves", async () => {
    await withLedger(async (ledger) => {
      const { accountId } = await ledger.createAccount({ name: "Someone" });
      const { key } = await ledger.createKey({ accountId });
      const { customer } = await ledger.registerCustomer({ accountId, internalId: "one" });
      for (let i = 0; i < 20; i++) {
        const receipt = newReceipt();
        const { customerId } = customer;
        const use = { receipt, accountId, customerId, keyId: key.keyId, units: 1, route: "/" };
        await ledger.record({ ...use, meter: "hazard_values" });
        const other = new Database(file, { readonly: true });
        expect(other.prepare("select count(*) as count from usage_event where receipt = ?").get(receipt)).toEqual({
          count: 1,
        });
        other.close();
      }
    });
  });
});

describe("a full disk", () => {
  test("loses no recorded entry and stops the ledger, which works again after a restart", async () => {
    const program = fileURLToPath(new URL("recordUntilFull.mjs", import.meta.url));
    // Limits the file size to 1000 KiB: creating the tables writes about 105 KiB, and each transaction 8 to 14 pages of
    // 4 KiB. With SIGXFSZ ignored, writes above the limit fail instead of ending the program.
    const shell = 'trap "" XFSZ; ulimit -f 1000; exec "$0" "$@"';
    const { stdout, stderr, status } = spawnSync("bash", ["-c", shell, process.execPath, program, data], {
      encoding: "utf8",
      maxBuffer: 1 << 26,
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    const finalState = lines.pop();
    expect(finalState).toEqual({
      failure: expect.stringMatching(/^SQLITE_(IOERR|FULL)/) as string,
      record: "usage_not_recorded",
      findKey: "ledger_unavailable",
    });
    const log = lines as ClientRequest[];
    const count = (outcome: string): number => log.filter((request) => request.outcome === outcome).length;
    expect(count("ok")).toBeGreaterThan(100);
    expect(count("unknown")).toBeGreaterThan(0);
    expect(count("ok") + count("unknown")).toBe(log.length);
    await withLedger(async (ledger) => {
      expect(await checkHistory(log, ledger)).toEqual([]);
      const [request] = log;
      if (request === undefined) throw new Error("The log is empty.");
      const { keyId = "" } = (await ledger.listKeys())[0] ?? {};
      expect(await ledger.record({ ...request, receipt: newReceipt(), keyId, route: "/" })).toMatchObject({
        isReplay: false,
      });
    });
  });
});
