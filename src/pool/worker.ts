import type { Atlas } from "../hazard/answer.ts";
import { packFault, reportOf } from "./errors.ts";
import type { Order, Report, StopOrder } from "./messages.ts";

/** What a worker thread is to this room: a way to hear and to tell. */
export interface WorkerPort {
  onOrder(take: (order: Order) => void): void;
  tell(report: Report, handOver: readonly ArrayBuffer[]): void;
}

/** Does the tasks that this room knows nothing of. */
export type TaskDoer = (task: unknown) => Promise<{
  readonly outcome: unknown;
  /** Buffers in the outcome that are handed over. */
  readonly handOver: readonly ArrayBuffer[];
}>;

/** Works off the orders of one thread, one after the other: the pool keeps their order in its own hands. */
export function serveOrders(port: WorkerPort, atlas: Atlas, doTask: TaskDoer): void {
  let before: Promise<void> = Promise.resolve();
  let durationsMs: number[] = [];
  atlas.tileUse.onFetch((durationMs) => durationsMs.push(durationMs));
  /** Of the orders that are in work or wait. */
  const stops = new Map<number, AbortController>();
  port.onOrder((order) => {
    if (order.kind === "stop") {
      stops.get(order.id)?.abort();
      return;
    }
    const stop = new AbortController();
    stops.set(order.id, stop);
    before = before.then(async () => {
      try {
        await carryOut(port, { atlas, doTask, signal: stop.signal }, order);
      } catch (error) {
        port.tell(reportOf(order.id, error), []);
      }
      stops.delete(order.id);
      if (durationsMs.length === 0) return;
      port.tell({ kind: "fetched", id: 0, cachedBytes: atlas.tileUse.cachedBytes, durationsMs }, []);
      durationsMs = [];
    });
  });
  port.tell({ kind: "ready", id: 0, release: atlas.release }, []);
}

async function carryOut(
  port: WorkerPort,
  { atlas, doTask, signal }: { readonly atlas: Atlas; readonly doTask: TaskDoer; readonly signal: AbortSignal },
  order: Exclude<Order, StopOrder>,
): Promise<void> {
  const { id } = order;
  if (order.kind === "sample") {
    const { hazard, layers, latitudes, longitudes, radiusKm, method, into } = order;
    const request = { hazard, layers, latitudes, longitudes, radiusKm, method, into, signal };
    const { values, reasons } = await atlas.sample(request);
    const buffers = new Set([values.buffer as ArrayBuffer, reasons.buffer as ArrayBuffer]); // often one
    port.tell({ kind: "sampled", id, values, reasons }, [...buffers]);
  } else if (order.kind === "batch") {
    const results = await atlas.hazardRiskBatch(order.queries, { signal });
    const packed = results.map((result) => ("error" in result ? { refused: packFault(result.error) } : result));
    port.tell({ kind: "answered", id, results: packed }, []);
  } else {
    const { outcome, handOver } = await doTask(order.task);
    port.tell({ kind: "done", id, outcome }, handOver);
  }
}
