import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { CallMessage, ReplyMessage, WorkerThread } from "../../src/concurrency/threadCalls.ts";
import type { RecordResult } from "../../src/ledger/ledger.ts";
import { decodeEntries } from "../../src/ledger/entry.ts";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import type { RecordReply, RecordRequest } from "../../src/ledger/sqliteWorker.ts";
import { usageEntryOf } from "./usageEntry.ts";

type Call = Exclude<CallMessage, { readonly canceledId: number }>;

let requests: Call[];
let respond: (message: ReplyMessage) => void;
let ledger: SqliteLedger;
beforeEach(async () => {
  requests = [];
  // A fake worker whose responses the test sends.
  const startWorker = (): WorkerThread => ({
    send: (message) => {
      if ("canceledId" in message) return;
      requests.push(message);
      const { name, id } = message;
      if (name === "close") queueMicrotask(() => respond({ id, result: undefined }));
    },
    onMessage: (listener) => {
      respond = listener;
      queueMicrotask(() => listener({ id: 0, result: undefined }));
    },
    onEnd: () => undefined,
    setReferenced: () => undefined,
    end: () => Promise.resolve(),
  });
  ledger = await SqliteLedger.open({ data: "", now: () => 0, startWorker });
});

const record = (units: number): Promise<RecordResult> => ledger.record(usageEntryOf(units));

/** Returns the units of the entries of a request. */
const unitsOf = ({ argument }: Call): readonly number[] =>
  decodeEntries((argument as RecordRequest).entries).map(({ units }) => units);
const receivedUnits = (): readonly (readonly number[])[] =>
  requests.map((request) => (request.name === "record" ? unitsOf(request) : []));

/** Responds as a worker that has recorded a request. */
function respondRecorded(request: Call | undefined, durationMs = 1): void {
  if (request === undefined) throw new Error("There is no request.");
  const result: RecordReply = { commit: { rowCount: unitsOf(request).length, durationMs } };
  respond({ id: request.id, result });
}

describe("batching of entries", () => {
  test("sends entries of the same event loop turn together", async () => {
    void record(1);
    void record(2);
    expect(receivedUnits()).toStrictEqual([]);
    await nextTurn();
    expect(receivedUnits()).toStrictEqual([[1, 2]]);
    respondRecorded(requests[0]); // an entry without a response is rejected after 15 s, in another test
  });

  test("queues entries while a batch is in flight, and sends them after its response", async () => {
    const records: Promise<RecordResult>[] = [];
    for (const units of [1, 2, 3]) {
      records.push(record(units));
      await nextTurn();
    }
    expect(receivedUnits()).toStrictEqual([[1]]);
    respondRecorded(requests[0]);
    await nextTurn();
    expect(receivedUnits()).toStrictEqual([[1], [2, 3]]);
    respondRecorded(requests[1]);
    expect(await Promise.all(records)).toStrictEqual([1, 2, 3].map((units) => ({ units, isReplay: false })));
    // With no batch in flight, entries are sent in the next turn again.
    void record(4);
    await nextTurn();
    expect(receivedUnits().at(-1)).toStrictEqual([4]);
    respondRecorded(requests.at(-1));
  });

  test("sends each queued entry once, after a failed batch and before closing", async () => {
    const failing = record(1);
    await nextTurn();
    void record(2);
    respond({ id: requests[0]?.id ?? NaN, error: { name: "Error", message: "no" } });
    await expect(failing).rejects.toMatchObject({ code: "usage_not_recorded" });
    expect(receivedUnits()).toStrictEqual([[1], [2]]);
    void record(3);
    const closed = ledger.close();
    await nextTurn();
    expect(receivedUnits()).toStrictEqual([[1], [2], [3]]);
    respondRecorded(requests[1]);
    respondRecorded(requests[2]);
    await closed;
    expect(requests.map(({ name }) => name)).toStrictEqual(["record", "record", "record", "close"]);
  });

  test("sends entries of the event loop turn in which the ledger is closed exactly once", async () => {
    const recorded = record(1);
    const closed = ledger.close();
    await nextTurn();
    expect(receivedUnits()).toStrictEqual([[1]]);
    respondRecorded(requests[0]);
    expect(await recorded).toStrictEqual({ units: 1, isReplay: false });
    await closed;
  });

  test("holds a batch back until as many entries wait as were in progress, or for the time of a commit", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const recordAll = (count: number): void => {
      for (let i = 0; i < count; i++) void record(1);
    };
    const sizes = (): readonly number[] => receivedUnits().map(({ length }) => length);
    recordAll(6);
    await nextTurn();
    recordAll(2);
    respondRecorded(requests[0], 60_000);
    await nextTurn();
    expect(sizes()).toEqual([6]);
    recordAll(5);
    await nextTurn();
    expect(sizes()).toEqual([6]);
    recordAll(1);
    await nextTurn();
    expect(sizes()).toEqual([6, 8]);
    // Now fewer arrive.
    respondRecorded(requests[1], 2);
    await nextTurn();
    recordAll(1);
    await nextTurn();
    expect(sizes()).toEqual([6, 8]);
    vi.advanceTimersByTime(1);
    expect(sizes()).toEqual([6, 8]);
    vi.advanceTimersByTime(1);
    expect(sizes()).toEqual([6, 8, 1]);
    respondRecorded(requests[2]);
    await nextTurn();
    recordAll(1);
    await nextTurn();
    expect(sizes()).toEqual([6, 8, 1, 1]);
    respondRecorded(requests[3]);
  });
});
