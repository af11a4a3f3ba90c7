/**
 * Pruning that is killed at any time loses no record: each one is in the archive or in the ledger, and the audit succeeds.
 * A full run has ISOTHERM_DURABILITY_PRUNINGS=50.
 */
import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type * as openLedgerModule from "../../src/ledger/openLedger.ts";
import { describeWithPostgres, postgresOfSuite } from "../ledger/postgresServer.ts";
import { newReceipt } from "../ledger/receipt.ts";
import { randomFrom } from "../seededRandom.ts";
import { dataFolder } from "./dataFolder.ts";
import { type LedgerLocation, newAccount, runCli, sizeSetting, withLedger } from "./service.ts";

const PRUNINGS = sizeSetting("PRUNINGS", 1);
const EVENTS_PER_DAY = 3_000;
/** Each pruning has a new day to archive, and the last day remains. */
const DAY_COUNT = PRUNINGS + 2;
const DAY_MS = 86_400_000;
const START_MS = Date.parse("2026-03-01T12:00:00Z");
const TIMEOUT_MS = 120_000 + PRUNINGS * 60_000;
const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

const { openLedger } = (await import(
  new URL("../../dist/ledger/openLedger.js", import.meta.url).href
)) as typeof openLedgerModule;

const data = dataFolder("pruning");

/** Records 3,000 events on each day. @returns the receipts */
async function recordDays({ data: folder, database }: LedgerLocation): Promise<ReadonlySet<string>> {
  let nowMs = START_MS;
  const now = (): number => nowMs;
  const ledger = await (database === undefined
    ? openLedger({ data: folder }, { now })
    : openLedger({ database }, { now, anchorFolder: folder }));
  const { accountId, keyId, customerIds } = await newAccount(ledger, { name: "Clients", internalIds: ["one"] });
  const customerId = customerIds[0] ?? "";
  const receipts: string[] = [];
  const entry = { accountId, keyId, customerId, meter: "hazard_values", units: 1, route: "/" } as const;
  for (let day = 0; day < DAY_COUNT; day++) {
    const today = Array.from({ length: EVENTS_PER_DAY }, () => newReceipt());
    await Promise.all(today.map((receipt) => ledger.record({ ...entry, receipt })));
    receipts.push(...today);
    nowMs += DAY_MS;
  }
  await ledger.close();
  return new Set(receipts);
}

/** Returns the receipts in the archives; by default in all complete ones. */
async function archivedReceipts(folder: string, archiveNames?: readonly string[]): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const archives = archiveNames ?? names.filter((name) => name.endsWith(".csv"));
  const texts = await Promise.all(archives.map((name) => readFile(join(folder, name), "utf8")));
  return texts.flatMap((text) => {
    const [header = "", ...lines] = text.trimEnd().split("\n");
    const column = header.split(",").indexOf("receipt");
    return lines.map((line) => line.split(",")[column] ?? "");
  });
}

async function campaign(location: LedgerLocation): Promise<void> {
  const archive = join(data(), "archive");
  const receipts = await recordDays(location);
  const prune = ["usage", "prune", "--archive", archive, "--before"];
  const random = randomFrom(31);
  const ledgerReceipts = (): Promise<readonly string[]> =>
    withLedger(location, async (ledger) => {
      const found = [];
      for await (const { receipt } of ledger.events({})) found.push(receipt);
      return found;
    });
  let undeletedRounds = 0;
  for (let round = 0; round < PRUNINGS; round++) {
    const day = new Date(START_MS + (1 + round) * DAY_MS).toISOString().slice(0, 10);
    const flags = location.database === undefined ? [] : ["--database", location.database];
    const child = spawn(process.execPath, [CLI, ...prune, day, "--data", location.data, ...flags], { stdio: "ignore" });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    const isWriting = async (): Promise<boolean> =>
      (await readdir(archive).catch(() => [])).some((name) => name.endsWith(`.writing-${child.pid}`));
    // Archiving and deleting take less than a second.
    while (child.exitCode === null && !(await isWriting())) await delay(1);
    await delay(random.between({ min: 0, max: 600 }));
    child.kill("SIGKILL");
    await exited;
    const archived = await archivedReceipts(archive);
    const found = new Set([...archived, ...(await ledgerReceipts())]);
    expect([...receipts].filter((receipt) => !found.has(receipt))).toEqual([]);
    const plan = JSON.parse(await runCli([...prune, day, "--dry-run", "--json"], location)) as {
      readonly undeleted_count: number;
    };
    if (plan.undeleted_count > 0) undeletedRounds++;
    const audit = JSON.parse(await runCli(["usage", "audit", "--json"], location)) as { readonly chain: object };
    expect(audit.chain).toMatchObject({ problems: [] });
  }
  const lastDay = new Date(START_MS + (DAY_COUNT - 1) * DAY_MS).toISOString().slice(0, 10);
  await runCli([...prune, lastDay], location);
  // An archive that was interrupted before it was recorded is not listed; a later one repeats its records.
  const { chain } = JSON.parse(await runCli(["usage", "audit", "--json"], location)) as {
    readonly chain: { readonly archives: readonly { readonly name: string }[] };
  };
  const archived = await archivedReceipts(
    archive,
    chain.archives.map(({ name }) => name),
  );
  const kept = await ledgerReceipts();
  console.log(`pruning: ${PRUNINGS} kills, after ${undeletedRounds} of which archived events were not deleted yet`);
  expect(archived).toHaveLength((DAY_COUNT - 1) * EVENTS_PER_DAY);
  expect(kept).toHaveLength(EVENTS_PER_DAY);
  expect(new Set([...archived, ...kept])).toEqual(receipts);
  expect(await runCli(["usage", "audit"], location)).toMatch(/^INCOMPLETE: 3000 records.*\nChain: /);
}

test(`loses nothing with SQLite: killed ${PRUNINGS} times`, () => campaign({ data: data() }), TIMEOUT_MS);

describeWithPostgres("with PostgreSQL", () => {
  const server = postgresOfSuite();

  test(
    `loses nothing: killed ${PRUNINGS} times`,
    async () => campaign({ data: data(), database: await server().newDatabase() }),
    TIMEOUT_MS,
  );
});
