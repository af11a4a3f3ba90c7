import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import type { Recorded, UsageEntry } from "../../src/ledger/ledger.ts";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import type { Answer, Order } from "../../src/ledger/sqliteMessages.ts";
import { newReceipt } from "./receipts.ts";

type RecordOrder = Extract<Order, { readonly kind: "record" }>;

let orders: Order[];
let answer: (answer: Answer) => void;
let ledger: SqliteLedger;
beforeEach(async () => {
  orders = [];
  // A thread that answers when the test does.
  const startThread = () => ({
    port: {
      on: (_event: string, take: (answer: Answer) => void) => {
        answer = take;
        queueMicrotask(() => take({ kind: "done", id: 0, result: undefined }));
      },
      postMessage: (order: Order) => {
        orders.push(order);
        if (order.kind === "close") queueMicrotask(() => answer({ kind: "done", id: order.id, result: undefined }));
      },
    } as never,
    setAwaited: () => undefined,
    onEnd: () => undefined,
    end: () => Promise.resolve(),
  });
  ledger = await SqliteLedger.open({ data: "", now: () => 0, startThread });
});

const [accountId, customerId, keyId] = [randomUUID(), randomUUID(), randomUUID()];
function record(units: number): Promise<Recorded> {
  const entry: UsageEntry = {
    receipt: newReceipt(),
    accountId,
    customerId,
    keyId,
    meter: "hazard_values",
    units,
    route: "/",
  };
  return ledger.record(entry);
}

/** The units of each order that the thread was given. */
const given = (): readonly (readonly number[])[] =>
  orders.map((order) => (order.kind === "record" ? order.entries.map(({ units }) => units) : []));

/** The thread has recorded one of the orders. */
function done(order: Order | undefined): void {
  const { id, entries } = order as RecordOrder;
  const outcomes = entries.map(({ units }) => ({ units, isReplay: false }));
  answer({ kind: "recorded", orders: [{ id, outcomes }], commit: { rowCount: entries.length, durationMs: 1 } });
}

describe("entries for the thread of a ledger", () => {
  test("that come in one turn go together", async () => {
    void record(1);
    void record(2);
    expect(given()).toStrictEqual([]);
    await nextTurn();
    expect(given()).toStrictEqual([[1, 2]]);
  });

  test("that come while it records wait for one another, and go when it has answered", async () => {
    const records: Promise<Recorded>[] = [];
    for (const units of [1, 2, 3]) {
      records.push(record(units));
      await nextTurn();
    }
    expect(given()).toStrictEqual([[1]]);
    done(orders[0]);
    await nextTurn();
    expect(given()).toStrictEqual([[1], [2, 3]]);
    done(orders[1]);
    expect(await Promise.all(records)).toStrictEqual([1, 2, 3].map((units) => ({ units, isReplay: false })));
    // And then it is as in the beginning.
    void record(4);
    await nextTurn();
    expect(given().at(-1)).toStrictEqual([4]);
  });

  test("that wait go when what was before them is refused, and before the end, once each", async () => {
    const refused = record(1);
    await nextTurn();
    void record(2);
    answer({ kind: "refused", id: (orders[0] as RecordOrder).id, error: { message: "no" } });
    await expect(refused).rejects.toMatchObject({ code: "usage_not_recorded" });
    expect(given()).toStrictEqual([[1], [2]]);
    void record(3);
    const closed = ledger.close();
    await nextTurn();
    expect(given()).toStrictEqual([[1], [2], [3]]);
    done(orders[1]);
    done(orders[2]);
    await closed;
    expect(orders.map(({ kind }) => kind)).toStrictEqual(["record", "record", "record", "close"]);
  });

  test("that come in the turn in which it is closed go once", async () => {
    const recorded = record(1);
    const closed = ledger.close();
    await nextTurn();
    expect(given()).toStrictEqual([[1]]);
    done(orders[0]);
    expect(await recorded).toStrictEqual({ units: 1, isReplay: false });
    await closed;
  });
});
