/**
 * Tampering: random edits of a ledger, by statements and by changes of its files, are all found by the audit. A full run
 * has ISOTHERM_DURABILITY_EDITS=1000.
 */
import { cp, mkdir, readdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { anchorPath } from "../../src/ledger/anchor.ts";
import type { AuditOptions } from "../../src/ledger/chainReport.ts";
import type { AuditReport, MaintainedLedger } from "../../src/ledger/ledger.ts";
import type * as openLedgerModule from "../../src/ledger/openLedger.ts";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import { startInProcessWorker } from "../ledger/inProcessWorker.ts";
import { describeWithPostgres, postgresOfSuite } from "../ledger/postgresServer.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { dataFolder } from "./dataFolder.ts";
import { recordUsage, START_MS } from "./editedLedger.ts";
import { postgresEditor, sqliteEditor } from "./ledgerEditors.ts";
import { LEDGER_EDITS } from "./ledgerEdits.ts";
import { PRUNE_EDITS } from "./pruneEdits.ts";
import { sizeSetting } from "./service.ts";

/** Edits of the tables by name. */
const TABLE_EDITS = { ...LEDGER_EDITS, ...PRUNE_EDITS };
const EDITS = sizeSetting("EDITS", 20);
const TIMEOUT_MS = 120_000 + EDITS * 2_000;

const { openLedger } = (await import(
  new URL("../../dist/ledger/openLedger.js", import.meta.url).href
)) as typeof openLedgerModule;

const data = dataFolder("tampering");

interface Detection {
  readonly isDetected: boolean;
  /** Whether comparing sums, as releases without the chain did, is enough. */
  readonly bySums: boolean;
}

async function detect(audit: () => Promise<AuditReport>): Promise<Detection> {
  try {
    const { chain, differences, sumDifferences } = await audit();
    const bySums = differences.length + sumDifferences.length > 0;
    return { isDetected: bySums || chain.problems.length > 0, bySums };
  } catch {
    return { isDetected: true, bySums: true };
  }
}

/** Makes `count` random edits, each of a fresh copy. @returns the names of the edits that were not detected */
async function campaign(
  editNames: readonly string[],
  count: number,
  tryEdit: (name: string, random: SeededRandom) => Promise<Detection | undefined>,
): Promise<readonly string[]> {
  const random = randomFrom(11);
  const missed: string[] = [];
  let bySums = 0;
  for (let done = 0; done < count;) {
    // Every kind of edit is made, also in a short run.
    const name = editNames[done] ?? random.pick(editNames);
    const detection = await tryEdit(name, random);
    // An edit of bytes may have changed nothing that the ledger uses.
    if (detection === undefined) continue;
    done++;
    if (detection.bySums) bySums++;
    if (!detection.isDetected) missed.push(name);
  }
  console.log(`tampering: ${count - missed.length} of ${count} edits detected; ${bySums} by comparing sums alone`);
  return missed;
}

describe("an edited SQLite ledger", () => {
  const FILE_EDITS: Readonly<Record<string, (folder: string, random: SeededRandom) => Promise<void>>> = {
    "truncate the file": async (folder, random) => {
      const file = join(folder, "ledger.sqlite");
      await rm(`${file}-wal`, { force: true });
      await truncate(file, random.below((await stat(file)).size));
    },
    "overwrite a part of the file": async (folder, random) => overwrite(join(folder, "ledger.sqlite"), random),
    "overwrite a part of the WAL": async (folder, random) => overwrite(join(folder, "ledger.sqlite-wal"), random),
    "truncate the WAL": async (folder, random) => {
      const file = join(folder, "ledger.sqlite-wal");
      await truncate(file, random.below((await stat(file)).size));
    },
    "delete the WAL": (folder) => rm(join(folder, "ledger.sqlite-wal")),
    "delete the ledger": async (folder) => {
      for (const name of await readdir(folder)) if (name.startsWith("ledger.sqlite")) await rm(join(folder, name));
    },
  };

  async function overwrite(file: string, random: SeededRandom): Promise<void> {
    const bytes = await readFile(file);
    const start = random.below(bytes.length);
    for (let i = start; i < Math.min(start + 64, bytes.length); i++) bytes[i] = random.below(256);
    await writeFile(file, bytes);
  }

  const TABLES = [
    "usage_rollup",
    "usage_daily",
    "usage_total",
    "usage_prune",
    "usage_carried",
    "usage_event",
    "usage_batch",
  ] as const;

  /** Returns all usage that the ledger holds, and its id; undefined if it cannot be read. */
  function usageIn(folder: string): string | undefined {
    try {
      const database = new Database(join(folder, "ledger.sqlite"), { fileMustExist: true });
      try {
        database.pragma("query_only = on");
        const queries = [...TABLES.map((table) => `select * from ${table}`), "select ledger_id from ledger_state"];
        return JSON.stringify(queries.map((query) => database.prepare(query).all()));
      } finally {
        database.close();
      }
    } catch {
      return undefined;
    }
  }

  test(
    `is found by the audit: ${EDITS} random edits`,
    async () => {
      const base = join(data(), "base");
      const withLog = join(data(), "withLog");
      const copy = join(data(), "copy");
      const clock = { nowMs: START_MS };
      const ledger = await openLedger({ data: base }, { now: () => clock.nowMs });
      const archives = await recordUsage(ledger, clock, randomFrom(10));
      const { batch } = await ledger.chainHead();
      // Copied while the ledger is open and most of it is in the WAL, as after a power failure.
      await expect
        .poll(async () => readFile(anchorPath(base, undefined), "utf8"), { timeout: 5_000 })
        .toContain(`"batch":${batch}`);
      await cp(base, withLog, { recursive: true });
      await ledger.close();
      const unchanged = usageIn(base);
      const audit = async (options?: AuditOptions): Promise<AuditReport> => {
        // In this process, because starting worker threads takes much longer than the audit.
        const opened = await SqliteLedger.open({ data: copy, now: Date.now, startWorker: startInProcessWorker });
        await opened.startChain({
          anchorPath: anchorPath(copy, undefined),
          isChecked: false,
          hasOtherAnchors: false,
        });
        try {
          return await opened.audit(options);
        } finally {
          await opened.close();
        }
      };

      const isUndisturbed = async (source: string): Promise<Detection> => {
        await cp(source, copy, { recursive: true });
        const detection = await detect(() => audit({ readArchive: archives.read }));
        await rm(copy, { recursive: true });
        return detection;
      };
      expect(await isUndisturbed(base)).toEqual({ isDetected: false, bySums: false });
      expect(await isUndisturbed(withLog)).toEqual({ isDetected: false, bySums: false });

      const names = [...Object.keys(TABLE_EDITS), ...Object.keys(FILE_EDITS)];
      const missed = await campaign(names, EDITS, async (name, random) => {
        const fileEdit = FILE_EDITS[name];
        await cp(name.includes("WAL") ? withLog : base, copy, { recursive: true });
        try {
          if (fileEdit !== undefined) {
            await fileEdit(copy, random);
            const detection = await detect(audit);
            return detection.isDetected || usageIn(copy) !== unchanged ? detection : undefined;
          }
          const editor = sqliteEditor(copy);
          await TABLE_EDITS[name]?.(editor, random);
          await editor.close();
          expect(usageIn(copy) === unchanged, name).toBe(false);
          return await detect(audit);
        } finally {
          await rm(copy, { recursive: true, force: true });
        }
      });
      expect(missed).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test("is rejected when it is opened, if it has vanished, lost its end or was replaced", async () => {
    const folder = join(data(), "ledger");
    const older = join(data(), "older");
    const clock = { nowMs: START_MS };
    const now = (): number => clock.nowMs;
    const ledger = await openLedger({ data: folder }, { now });
    await recordUsage(ledger, clock, randomFrom(10));
    await ledger.close();
    await cp(folder, older, { recursive: true });
    const newer = await openLedger({ data: folder }, { now });
    await recordUsage(newer, clock, randomFrom(12)).catch(() => undefined);
    await newer.close();

    const opening = (): Promise<MaintainedLedger> => openLedger({ data: folder }, { now });
    await rename(join(folder, "ledger.sqlite"), join(data(), "moved.sqlite"));
    await expect(opening()).rejects.toMatchObject({
      code: "ledger_unavailable",
      message: expect.stringMatching(/does not exist/) as string,
    });
    expect((await readdir(folder)).toSorted()).toEqual(["ledger-anchor-prunings.jsonl", "ledger-anchor.json"]);

    await cp(join(older, "ledger.sqlite"), join(folder, "ledger.sqlite"));
    await expect(opening()).rejects.toMatchObject({
      message: expect.stringMatching(/batches are missing.*accept-restored/) as string,
    });

    await rm(join(folder, "ledger.sqlite"));
    await mkdir(join(data(), "other"));
    await (await openLedger({ data: join(data(), "other") }, { now })).close();
    await cp(join(data(), "other", "ledger.sqlite"), join(folder, "ledger.sqlite"));
    await expect(opening()).rejects.toMatchObject({
      message: expect.stringMatching(/belongs to another ledger/) as string,
    });

    await cp(join(older, "ledger.sqlite"), join(folder, "ledger.sqlite"));
    const restored = await openLedger({ data: folder }, { now, isChainChecked: false });
    const head = await restored.acceptRestored();
    await restored.close();
    const accepted = await opening();
    expect(await accepted.chainHead()).toEqual(head);
    await accepted.close();
    expect(await readFile(join(folder, "ledger-anchor.json"), "utf8")).toMatch(/"replaced":\[\{/);
  });
});

describeWithPostgres("an edited PostgreSQL ledger", () => {
  const server = postgresOfSuite();

  test(
    `is found by the audit: ${EDITS} random edits`,
    async () => {
      const base = await server().newDatabase();
      const baseName = new URL(base).pathname.slice(1);
      const copy = `${base}_copy`;
      const clock = { nowMs: START_MS };
      const ledger = await openLedger({ database: base }, { now: () => clock.nowMs, anchorFolder: data() });
      const archives = await recordUsage(ledger, clock, randomFrom(10));
      await ledger.close();
      for (const suffix of [".json", "-prunings.jsonl"]) {
        const [from, to] = [base, copy].map((database) => anchorPath(data(), database).replace(/\.json$/, suffix));
        await rename(from ?? "", to ?? "");
      }
      const admin = new pg.Client(base.replace(/[^/]+$/, "postgres"));
      await admin.connect();
      const audit = async (options?: AuditOptions): Promise<AuditReport> => {
        const opened = await openLedger({ database: copy }, { isChainChecked: false, anchorFolder: data() });
        try {
          return await opened.audit(options);
        } finally {
          await opened.close();
        }
      };
      const tryEdit = async (name: string | undefined, random: SeededRandom): Promise<Detection> => {
        await admin.query(`create database ${baseName}_copy template ${baseName}`);
        const editor = await postgresEditor(copy);
        if (name !== undefined) await TABLE_EDITS[name]?.(editor, random);
        await editor.close();
        const detection = await detect(() => audit(name === undefined ? { readArchive: archives.read } : {}));
        await admin.query(`drop database ${baseName}_copy with (force)`);
        return detection;
      };
      try {
        expect(await tryEdit(undefined, randomFrom(0))).toEqual({ isDetected: false, bySums: false });
        expect(await campaign(Object.keys(TABLE_EDITS), EDITS, tryEdit)).toEqual([]);
      } finally {
        await admin.end();
      }
    },
    TIMEOUT_MS,
  );
});
