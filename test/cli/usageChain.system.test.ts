/** The commands that audit, archive and repair recorded usage. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import type * as openLedgerModule from "../../src/ledger/openLedger.ts";
import { newAccount } from "../durability/service.ts";
import { newReceipt } from "../ledger/receipt.ts";

const run = promisify(execFile);
const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const { openLedger } = (await import(
  new URL("../../dist/ledger/openLedger.js", import.meta.url).href
)) as typeof openLedgerModule;

const DAY_MS = 86_400_000;
const START_MS = Date.parse("2026-03-01T12:00:00Z");

let folder: string;
let data: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-chain-"));
  data = join(folder, "data");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Records three entries, one a day from a day on. */
async function recordDays(firstDay: number): Promise<void> {
  let nowMs = START_MS + firstDay * DAY_MS;
  const ledger = await openLedger({ data }, { now: () => nowMs });
  const { accountId, keyId, customerIds } = await newAccount(ledger, { name: "Bank", internalIds: ["one"] });
  for (let day = 0; day < 3; day++) {
    const entry = { accountId, keyId, customerId: customerIds[0] ?? "", meter: "hazard_values", route: "/" } as const;
    await ledger.record({ ...entry, receipt: newReceipt(), units: 5 });
    nowMs += DAY_MS;
  }
  await ledger.close();
}

async function isotherm(...parameters: string[]): Promise<string> {
  return (await run(process.execPath, [CLI, ...parameters, "--data", data], { env: { PATH: process.env["PATH"] } }))
    .stdout;
}

const failing = (...parameters: string[]): Promise<unknown> =>
  isotherm(...parameters).then(
    () => expect.fail("The command succeeded."),
    (error: unknown) => error,
  );

test("audit prints the head, finds an earlier one again, and exits with 1 after a change of an event", async () => {
  await recordDays(0);
  const head = (await isotherm("usage", "audit", "--head")).trim();
  expect(head).toMatch(/^3:[0-9a-f]{64}$/);
  await recordDays(4);
  expect(await isotherm("usage", "audit", "--expect", head)).toMatch(
    /^No differences: 6 records, 6 sums\nChain: 6 batches verified, head 6:[0-9a-f]{64}\nAnchor: batch 6, written 20/,
  );
  const forged = `3:${"0".repeat(64)}`;
  expect(await failing("usage", "audit", "--expect", forged)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/does not contain 3:0+: that batch has another hash/) as string,
  });
  expect(await failing("usage", "audit", "--expect", "3:abc")).toMatchObject({
    stderr: expect.stringMatching(/BATCH:HASH/) as string,
  });

  const database = new Database(join(data, "ledger.sqlite"));
  database.exec("drop trigger usage_event_no_update; update usage_event set route = '/x' where seq = 2");
  database.close();
  expect(await failing("usage", "audit")).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^DIFFERENCES FOUND[^]*Batch 2 was changed: its events/) as string,
  });
  const { stdout } = (await failing("usage", "audit", "--json")) as { readonly stdout: string };
  expect(JSON.parse(stdout)).toMatchObject({ chain: { problems: [{ code: "batch_changed", batch: 2 }] } });
  // The service and the other commands reject the ledger, too.
  expect(await failing("accounts", "list")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/does not match its hash chain: Batch 2 was changed/) as string,
  });
});

test("prune shows what it would archive, archives it, and its file has the SHA-256 that the audit prints", async () => {
  await recordDays(0);
  const archive = join(folder, "archive");
  const prune = ["usage", "prune", "--before", "2026-03-03", "--archive", archive];
  expect(await isotherm(...prune, "--dry-run")).toMatch(
    /^Would archive 2 records in 2 batches before 2026-03-03, up to 2:/,
  );
  await expect(readdir(archive)).rejects.toThrow(/ENOENT/);
  expect(await isotherm("usage", "audit")).toMatch(/^No differences: 3 records/);

  expect(await isotherm(...prune)).toMatch(/^Archived 2 records in 2 batches .*\nHead: 4:[0-9a-f]{64}\n$/);
  const [name = ""] = await readdir(archive);
  expect(name).toBe("usage-before-2026-03-03-batches-1-2.csv");
  const text = await readFile(join(archive, name), "utf8");
  expect(text.split("\n").map((line) => line.split(",").length)).toEqual([12, 12, 12, 1]);
  expect(text).toMatch(/^seq,recorded_at,receipt.*,batch,batch_hash\n1,2026-03-01T12/);
  const audit = await isotherm("usage", "audit");
  expect(audit).toMatch(
    /^INCOMPLETE: 1 records, 3 sums without differences, but 2 archived records were not verified\nChain: 2 batches verified, head 4:/,
  );
  expect(audit).toContain(`in ${name}, SHA-256 ${createHash("sha256").update(text).digest("hex")}\n`);
  expect(await isotherm("usage", "report", "--account", await accountId(), "--json")).toMatch(
    /"requests": 3,\s+"units": 15/,
  );
  expect(await isotherm(...prune)).toMatch(/^There are no records to archive before 2026-03-03\n/);
});

test("audit verifies the archives in a folder, and finds one that is changed or missing", async () => {
  await recordDays(0);
  const archive = join(folder, "archive");
  const head = (await isotherm("usage", "audit", "--head")).trim();
  await isotherm("usage", "prune", "--before", "2026-03-03", "--archive", archive);
  const audit = ["usage", "audit", "--expect", head];
  // The head was printed before the pruning, which it therefore does not prove.
  expect(await failing(...audit)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^INCOMPLETE: 1 records[^\n]*\nThe pruning in batch 4 was recorded after 3:[0-9a-f]{64}, which[^]*were not verified; give the folder of the archives with --archive\.\n$/,
    ) as string,
  });
  const newHead = (await isotherm("usage", "audit", "--head")).trim();
  expect(await isotherm("usage", "audit", "--expect", newHead)).toMatch(/^INCOMPLETE: 1 records/);
  expect(await isotherm(...audit, "--archive", archive)).toMatch(/^No differences[^]*SHA-256 [0-9a-f]{64}\n$/);
  expect(JSON.parse(await isotherm(...audit, "--archive", archive, "--json"))).toMatchObject({
    chain: { are_archives_verified: true, problems: [] },
  });

  const [name = ""] = await readdir(archive);
  const path = join(archive, name);
  const text = await readFile(path, "utf8");
  const problem = async (): Promise<unknown> => {
    const { stdout } = (await failing(...audit, "--archive", archive)) as { readonly stdout: string };
    return stdout.split("\n").find((line) => line.includes("does not match the ledger"));
  };
  await writeFile(path, text.replace(",5,/,", ",6,/,"));
  expect(await problem()).toMatch(/its SHA-256 is [0-9a-f]{64} instead of/);
  await rm(path);
  expect(await problem()).toMatch(/there is no such file/);
  // The name of an archive comes from the ledger and must not lead out of the folder.
  await writeFile(join(folder, name), text);
  renameArchive(`../${name}`);
  expect(await problem()).toMatch(/there is no such file/);
});

/** Changes the name of the archive in the ledger. */
function renameArchive(name: string): void {
  const database = new Database(join(data, "ledger.sqlite"));
  database.prepare("update usage_prune set archive_name = ?").run(name);
  database.close();
}

test("prune does not replace another file", async () => {
  await recordDays(0);
  await writeFile(join(folder, "usage-before-2026-03-03-batches-1-2.csv"), "other");
  expect(await failing("usage", "prune", "--before", "2026-03-03", "--archive", folder)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/exists and has other contents/) as string,
  });
  expect(await isotherm("usage", "audit")).toMatch(/^No differences: 3 records/);
  expect((await readdir(folder)).toSorted()).toEqual(["data", "usage-before-2026-03-03-batches-1-2.csv"]);
});

test("an older ledger that was restored is rejected until it is accepted", async () => {
  await recordDays(0);
  await cp(join(data, "ledger.sqlite"), join(folder, "backup.sqlite"));
  await recordDays(4);
  await cp(join(folder, "backup.sqlite"), join(data, "ledger.sqlite"));
  expect(await failing("accounts", "list")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/The last 3 batches are missing.*isotherm usage accept-restored/) as string,
  });
  expect(await failing("usage", "audit")).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/The last 3 batches are missing/) as string,
  });
  expect(await isotherm("usage", "accept-restored")).toMatch(/^The ledger is accepted with head 3:/);
  expect(await isotherm("usage", "audit")).toMatch(/^No differences: 3 records/);
  expect(await isotherm("accounts", "list")).toMatch(/Bank/);
});

test("reset-clock sets the time of the ledger back", async () => {
  const nowMs = Date.now() + 30 * 365 * DAY_MS;
  const ledger = await openLedger({ data }, { now: () => nowMs });
  await ledger.createAccount({ name: "Future" });
  await ledger.close();
  expect(await isotherm("usage", "reset-clock")).toMatch(/^The time of the ledger was set from 205\d-.* to 20[23]\d-/);
});

async function accountId(): Promise<string> {
  const { items } = JSON.parse(await isotherm("accounts", "list", "--json")) as {
    readonly items: readonly { readonly account_id: string }[];
  };
  return items[0]?.account_id ?? "";
}
