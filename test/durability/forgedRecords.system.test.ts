/**
 * Records that somebody with write access to the database adds before or instead of others, so that the chain from a head
 * that is kept elsewhere stays the same: the audit finds them.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { anchorPath } from "../../src/ledger/anchor.ts";
import type { ArchivedEvent, AuditOptions, ChainHead, ChainProblem } from "../../src/ledger/chainReport.ts";
import type { AuditReport, MaintainedLedger, RecordedEntry } from "../../src/ledger/ledger.ts";
import type * as openLedgerModule from "../../src/ledger/openLedger.ts";
import { describeWithPostgres, postgresOfSuite } from "../ledger/postgresServer.ts";
import { randomFrom } from "../seededRandom.ts";
import { dataFolder } from "./dataFolder.ts";
import { type MemoryArchives, recordUsage, START_MS } from "./editedLedger.ts";
import { type LedgerEditor, postgresEditor, sqliteEditor } from "./ledgerEditors.ts";
import { events, insertEvent } from "./ledgerEdits.ts";
import { batches, forgePruning, lastDay, lowerArchivedSum } from "./pruneEdits.ts";

const { openLedger } = (await import(
  new URL("../../dist/ledger/openLedger.js", import.meta.url).href
)) as typeof openLedgerModule;

/** Later than the day of a pruning by `forgePruning`. */
const AFTER_FORGED_PRUNING_MS = Date.parse("2099-01-02T00:00:00Z");

interface Backend {
  readonly anchorFile: string;
  /** Whether all processes have the same anchor, so that an unlisted pruning is rejected. */
  readonly hasOneAnchor: boolean;
  open(options: { readonly now?: () => number; readonly isChainChecked?: boolean }): Promise<MaintainedLedger>;
  editor(): Promise<LedgerEditor>;
}

function describeForgery(newBackend: () => Promise<Backend>): void {
  /** Records usage in a new ledger, and edits it. */
  async function forge(
    edit: (editor: LedgerEditor) => Promise<void>,
    options: { readonly isPruned?: boolean } = {},
  ): Promise<Forgery> {
    const backend = await newBackend();
    const clock = { nowMs: START_MS };
    const ledger = await backend.open({ now: () => clock.nowMs });
    const archives = await recordUsage(ledger, clock, randomFrom(7), { ...options, batchCount: 20 });
    const head = await ledger.chainHead();
    await ledger.close();
    const editor = await backend.editor();
    await edit(editor);
    await editor.close();
    const withLedger = async <T>(use: (ledger: MaintainedLedger) => Promise<T>, now = Date.now): Promise<T> => {
      const opened = await backend.open({ isChainChecked: false, now });
      try {
        return await use(opened);
      } finally {
        await opened.close();
      }
    };
    return {
      head,
      archives,
      listFile: backend.anchorFile.replace(".json", "-prunings.jsonl"),
      hasOneAnchor: backend.hasOneAnchor,
      edit: async (change) => {
        const again = await backend.editor();
        await change(again);
        await again.close();
      },
      acceptRestored: () => withLedger((opened) => opened.acceptRestored()),
      audit: (query = { expectedHead: head }, now = Date.now) => withLedger((opened) => opened.audit(query), now),
      exported: () =>
        withLedger(async (opened) => {
          const found: RecordedEntry[] = [];
          for await (const event of opened.events({})) found.push(event);
          return found;
        }),
      opening: async () => (await backend.open({})).close(),
      pruning: () =>
        withLedger(async (opened) => {
          await opened.prune(await opened.prunePlan({ before: "2026-04-01" }), archives.write);
        }),
    };
  }

  interface Forgery {
    /** The head before the edit, which is kept elsewhere. */
    readonly head: ChainHead;
    readonly archives: MemoryArchives;
    readonly listFile: string;
    readonly hasOneAnchor: boolean;
    edit(change: (editor: LedgerEditor) => Promise<void>): Promise<void>;
    acceptRestored(): Promise<ChainHead>;
    audit(options?: AuditOptions, now?: () => number): Promise<AuditReport>;
    exported(): Promise<readonly RecordedEntry[]>;
    opening(): Promise<void>;
    pruning(): Promise<void>;
  }

  const problemCodes = async (
    forgery: Forgery,
    options?: AuditOptions,
    now?: () => number,
  ): Promise<readonly ChainProblem["code"][]> =>
    (await forgery.audit(options, now)).chain.problems.map(({ code }) => code);

  test.each([
    ["after the last one", 1_000_000],
    ["of events", 15],
  ])("a record of pruning in a batch %s is found, and the ledger is not opened", async (_name, batch) => {
    const forgery = await forge(
      async (editor) => {
        const all = await batches(editor);
        const last = all[batch > all.length ? all.length - 1 : batch - 5];
        if (last === undefined) throw new Error("There are too few batches.");
        await forgePruning(editor, batch, { last, isInChain: false, deletesBatches: false });
      },
      { isPruned: false },
    );
    expect(await problemCodes(forgery)).toContain("prune_record_changed");
    await expect(forgery.opening()).rejects.toMatchObject({
      code: "ledger_unavailable",
      message: expect.stringMatching(`The record of pruning in batch ${batch} was added or changed`) as string,
    });
  });

  test.each([0, -1])("an event with the number %i is found and not exported", async (seq) => {
    const forgery = await forge(async (editor) => {
      const [event] = await events(editor);
      if (event !== undefined) await insertEvent(editor, { ...event, units: 1_000_000 }, seq);
    });
    const { chain, differences } = await forgery.audit();
    expect(differences).toEqual([]);
    expect(chain.problems).toMatchObject([
      { code: "event_outside_chain", detail: `Event ${seq} was added before the first batch of the chain.` },
    ]);
    expect((await forgery.exported()).filter(({ units }) => units === 1_000_000)).toEqual([]);
  });

  test("an event among the archived ones is found and not exported", async () => {
    const forgery = await forge(async (editor) => {
      const [event] = await events(editor);
      if (event !== undefined) await insertEvent(editor, { ...event, units: 1_000_000 }, event.seq - 1);
    });
    expect(await problemCodes(forgery)).toEqual(["event_outside_chain"]);
    expect((await forgery.exported()).filter(({ units }) => units === 1_000_000)).toEqual([]);
  });

  test("sums of archived events are found in a ledger without archives", async () => {
    const forgery = await forge(
      async (editor) => {
        await editor.run(`insert into usage_carried
          select account_id, customer_id, meter, hour, -1, 0 from usage_rollup where units > 1 order by hour limit 1`);
        await editor.run(`update usage_rollup set units = units - 1
          where (customer_id, meter, hour) in (select customer_id, meter, hour from usage_carried)`);
      },
      { isPruned: false },
    );
    const { chain, differences } = await forgery.audit();
    expect(chain.problems).toMatchObject([{ code: "pruned_sums_changed" }]);
    expect(differences).toHaveLength(1);
  });

  const forgeLastPruning = async (editor: LedgerEditor): Promise<void> => {
    const last = (await batches(editor)).at(-1);
    if (last === undefined) throw new Error("There are no batches.");
    await forgePruning(editor, last.batch + 1, { last, isInChain: true, deletesBatches: true });
  };

  test("a pruning that continues the chain but never took place is found with the archives", async () => {
    const forgery = await forge(forgeLastPruning);
    const now = (): number => AFTER_FORGED_PRUNING_MS;
    // Without the list of the prunings, for example because it was lost.
    await rm(forgery.listFile);
    const { chain, differences } = await forgery.audit({}, now);
    expect(chain).toMatchObject({ problems: [], areArchivesVerified: false });
    expect(differences).toEqual([]);
    expect(chain.archives.at(-1)?.head).toEqual(forgery.head);
    const readArchive = forgery.archives.read;
    const { head: expectedHead } = forgery;
    expect(await problemCodes(forgery, { expectedHead, readArchive }, now)).toEqual(["archive_changed"]);
    // Without the archives, a head that was kept elsewhere shows that they are needed.
    expect((await forgery.audit({ expectedHead }, now)).chain.problems).toMatchObject([
      {
        code: "archive_unverified",
        detail: expect.stringMatching(
          `^The pruning in batch ${expectedHead.batch + 1} was recorded after ${expectedHead.batch}:`,
        ) as string,
      },
    ]);
  });

  test("a head after the prunings proves them without the archives", async () => {
    const forgery = await forge(() => Promise.resolve());
    expect((await forgery.audit()).chain).toMatchObject({ problems: [], areArchivesVerified: false });
  });

  test("a pruning of days in the future is found", async () => {
    const forgery = await forge(forgeLastPruning);
    expect((await forgery.audit({})).chain.problems).toMatchObject([
      { code: "prune_record_changed", detail: expect.stringMatching(/of the days before 2099-01-01, but/) as string },
      { code: "pruning_unlisted" },
    ]);
  });

  const forgePastPruning = async (editor: LedgerEditor): Promise<void> => {
    const last = (await batches(editor)).at(-1);
    if (last === undefined) throw new Error("There are no batches.");
    const beforeDay = await lastDay(editor);
    await forgePruning(editor, last.batch + 1, { last, isInChain: true, deletesBatches: true, beforeDay });
  };

  const opened = async ({ opening }: Forgery): Promise<string> => {
    const warning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    onTestFinished(() => warning.mockRestore());
    await opening();
    return warning.mock.calls.map(([message]) => String(message)).join("\n");
  };

  test("a pruning of past days that never took place is found without archives and heads", async () => {
    const forgery = await forge(forgePastPruning);
    const list = await readFile(forgery.listFile, "utf8");
    const { batch } = forgery.head;
    const { chain, differences, sumDifferences } = await forgery.audit({});
    expect([differences, sumDifferences]).toEqual([[], []]);
    const detail = expect.stringMatching(`^The pruning in batch ${batch + 1}, of .* is not listed in .*`) as string;
    expect(chain.problems).toEqual([{ code: "pruning_unlisted", batch: batch + 1, detail }]);
    expect(await problemCodes(forgery, { readArchive: forgery.archives.read })).toEqual([
      "archive_changed",
      "pruning_unlisted",
    ]);
    if (forgery.hasOneAnchor) {
      await expect(forgery.opening()).rejects.toMatchObject({ code: "ledger_unavailable", message: detail });
    } else expect(await opened(forgery)).toEqual(detail);
    expect(await readFile(forgery.listFile, "utf8")).toBe(list);
  });

  test("events of an unlisted pruning are not deleted by the next one", async () => {
    const forgery = await forge(async (editor) => {
      const all = await batches(editor);
      const [last, head] = [all.at(-4), all.at(-1)];
      if (last === undefined || head === undefined) throw new Error("There are too few batches.");
      const kept = await events(editor);
      const beforeDay = await lastDay(editor);
      await forgePruning(editor, head.batch + 1, { last, isInChain: true, deletesBatches: false, beforeDay });
      for (const event of kept.filter(({ seq }) => seq <= last.last_seq)) await insertEvent(editor, event, event.seq);
    });
    const exported = await forgery.exported();
    await expect(forgery.pruning()).rejects.toMatchObject({
      code: "ledger_unavailable",
      message: expect.stringMatching(/is not listed in/) as string,
    });
    expect(await forgery.exported()).toEqual(exported);
  });

  test("prunings of another machine are listed after an audit with the archives", async () => {
    const forgery = await forge(() => Promise.resolve());
    await writeFile(forgery.listFile, `{"format":1}\n`);
    expect(await problemCodes(forgery, {})).toEqual(["pruning_unlisted", "pruning_unlisted"]);
    const readArchive = forgery.archives.changed("archive-2.csv", () => undefined);
    expect(await problemCodes(forgery, { readArchive })).toContain("pruning_unlisted");
    expect(await problemCodes(forgery, { readArchive: forgery.archives.read })).toEqual([]);
    expect(await problemCodes(forgery, {})).toEqual([]);
    expect(await opened(forgery)).toBe("");
  });

  test("prunings are listed when the operator accepts the ledger", async () => {
    const forgery = await forge(() => Promise.resolve());
    await writeFile(forgery.listFile, `{"format":1}\n`);
    expect(await problemCodes(forgery, {})).toEqual(["pruning_unlisted", "pruning_unlisted"]);
    await forgery.acceptRestored();
    expect(await problemCodes(forgery, {})).toEqual([]);
  });

  test("a ledger of an earlier release gets a list of its prunings when it is opened", async () => {
    const forgery = await forge(() => Promise.resolve());
    await rm(forgery.listFile);
    expect(await problemCodes(forgery, {})).toEqual([]);
    await forgery.opening();
    expect(await problemCodes(forgery, {})).toEqual([]);
    await forgery.edit(forgePastPruning);
    expect(await problemCodes(forgery, {})).toEqual(["pruning_unlisted"]);
  });

  test("a sum that was changed with the record of pruning and the chain is found with the archives", async () => {
    const { archives, audit } = await forge(lowerArchivedSum);
    const { chain, differences } = await audit({ readArchive: archives.read });
    expect(differences).toEqual([]);
    expect(chain.problems.filter(({ code }) => code !== "anchor_mismatch")).toMatchObject([
      { code: "archive_changed", detail: expect.stringMatching(/^The archived records do not add up to/) as string },
      { code: "pruning_unlisted" },
    ]);
  });

  test("an archived head is found in the archives", async () => {
    const forgery = await forge(() => Promise.resolve());
    const { archives } = (await forgery.audit()).chain;
    const [first] = archives;
    const expectedHead = first?.head ?? forgery.head;
    expect((await forgery.audit({ expectedHead })).chain.problems).toMatchObject([
      { code: "head_not_found", detail: expect.stringMatching(/that batch is archived/) as string },
    ]);
    const readArchive = forgery.archives.read;
    const { chain } = await forgery.audit({ expectedHead, readArchive });
    expect(chain).toMatchObject({ problems: [], areArchivesVerified: true });
    const changed = { ...expectedHead, hash: "0".repeat(64) };
    expect(await problemCodes(forgery, { expectedHead: changed, readArchive })).toEqual(["head_not_found"]);
  });

  test("changed archives are found", async () => {
    const { archives, audit } = await forge(() => Promise.resolve());
    const problemWith = async (change: Parameters<MemoryArchives["changed"]>[1]): Promise<string | undefined> => {
      const { chain } = await audit({ readArchive: archives.changed("archive-2.csv", change) });
      expect(chain.problems.map(({ code }) => code)).toEqual(["archive_changed"]);
      return chain.problems[0]?.detail;
    };
    expect(await problemWith(() => undefined)).toMatch(
      /archive-2\.csv does not match the ledger: there is no such file/,
    );
    expect(await problemWith((content) => ({ ...content, sha256: "f".repeat(64) }))).toMatch(
      /SHA-256 is f+ instead of 2+/,
    );
    const withEvents = (
      change: (all: readonly ArchivedEvent[]) => readonly ArchivedEvent[],
    ): Promise<string | undefined> => problemWith(({ sha256, events: all }) => ({ sha256, events: change(all) }));
    expect(await withEvents(([first, ...rest]) => [changedUnits(first), ...rest])).toMatch(
      /of batch \d+ or their order/,
    );
    expect(await withEvents((all) => all.toReversed())).toMatch(/batch \d+ is missing/);
    expect(await withEvents(() => [])).toMatch(/batch \d+ is missing/);
    expect(await withEvents((all) => all.slice(0, -1))).toMatch(/batch \d+ is missing|or their order|it ends with/);
  });
}

function changedUnits(archived: ArchivedEvent | undefined): ArchivedEvent {
  if (archived === undefined) throw new Error("The archive is empty.");
  return { ...archived, event: { ...archived.event, units: archived.event.units + 1 } };
}

const data = dataFolder("forged");

describe("in a SQLite ledger", () => {
  describeForgery(() => {
    const folder = join(data(), "ledger");
    return Promise.resolve({
      anchorFile: anchorPath(folder, undefined),
      hasOneAnchor: true,
      open: (options) => openLedger({ data: folder }, options),
      editor: () => Promise.resolve(sqliteEditor(folder)),
    });
  });
});

describeWithPostgres("in a PostgreSQL ledger", () => {
  const server = postgresOfSuite();
  describeForgery(async () => {
    const database = await server().newDatabase();
    return {
      anchorFile: anchorPath(data(), database),
      hasOneAnchor: false,
      open: (options) => openLedger({ database }, { ...options, anchorFolder: data() }),
      editor: () => postgresEditor(database),
    };
  });
});
