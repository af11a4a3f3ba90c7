import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import type { RecordResult } from "../../src/ledger/ledger.ts";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import type { LedgerWorkerMessage, LedgerWorkerRequest } from "../../src/ledger/sqliteMessages.ts";
import { usageEntryOf } from "./usageEntry.ts";

type RecordRequest = Extract<LedgerWorkerRequest, { readonly kind: "record" }>;

let requests: LedgerWorkerRequest[];
let respond: (message: LedgerWorkerMessage) => void;
let ledger: SqliteLedger;
beforeEach(async () => {
  requests = [];
  // A fake worker whose responses the test sends.
  const startWorker = () => ({
    send: (request: LedgerWorkerRequest) => {
      requests.push(request);
      const { kind, id } = request;
      if (kind === "close") queueMicrotask(() => respond({ kind: "result", id, result: undefined }));
    },
    onMessage: (listener: (message: LedgerWorkerMessage) => void) => {
      respond = listener;
      queueMicrotask(() => listener({ kind: "result", id: 0, result: undefined }));
    },
    onEnd: () => undefined,
    setReferenced: () => undefined,
    end: () => Promise.resolve(),
  });
  ledger = await SqliteLedger.open({ data: "", now: () => 0, startWorker });
});

const record = (units: number): Promise<RecordResult> => ledger.record(usageEntryOf(units));

/** Returns the units of the entries of each request that the worker has received. */
const receivedUnits = (): readonly (readonly number[])[] =>
  requests.map((request) => (request.kind === "record" ? request.entries.map(({ units }) => units) : []));

/** Responds as a worker that has recorded a request. */
function respondRecorded(request: LedgerWorkerRequest | undefined): void {
  const { id, entries } = request as RecordRequest;
  const outcomes = entries.map(({ units }) => ({ units, isReplay: false }));
  respond({ kind: "recorded", requests: [{ id, outcomes }], commit: { rowCount: entries.length, durationMs: 1 } });
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
    respond({ kind: "error", id: (requests[0] as RecordRequest).id, error: { name: "Error", message: "no" } });
    await expect(failing).rejects.toMatchObject({ code: "usage_not_recorded" });
    expect(receivedUnits()).toStrictEqual([[1], [2]]);
    void record(3);
    const closed = ledger.close();
    await nextTurn();
    expect(receivedUnits()).toStrictEqual([[1], [2], [3]]);
    respondRecorded(requests[1]);
    respondRecorded(requests[2]);
    await closed;
    expect(requests.map(({ kind }) => kind)).toStrictEqual(["record", "record", "record", "close"]);
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
});
