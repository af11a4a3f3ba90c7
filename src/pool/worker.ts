import { Fault, isFault } from "../errors.ts";
import type { Atlas } from "../hazard/answer.ts";
import type { Order, PackedFault, Report } from "./messages.ts";

/** What a worker thread is to this room: a way to hear and to tell. */
export interface WorkerPort {
  onOrder(take: (order: Order) => void): void;
  tell(report: Report, handOver: readonly ArrayBuffer[]): void;
}

/** Works off the orders of one thread, one after the other: the pool keeps their order in its own hands. */
export function serveOrders(port: WorkerPort, atlas: Atlas): void {
  let before: Promise<void> = Promise.resolve();
  port.onOrder((order) => {
    before = before.then(async () => {
      try {
        await carryOut(port, atlas, order);
      } catch (error) {
        port.tell(reportOf(order.id, error), []);
      }
    });
  });
  port.tell({ kind: "ready", id: 0 }, []);
}

/** What is told of work that could not be done. */
export function reportOf(id: number, error: unknown): Report {
  if (isFault(error)) return { kind: "refused", id, fault: packFault(error) };
  return { kind: "failed", id, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

async function carryOut(port: WorkerPort, atlas: Atlas, order: Order): Promise<void> {
  const { id } = order;
  if (order.kind === "sample") {
    const { values, reasons } = await atlas.sample(order);
    port.tell({ kind: "sampled", id, values, reasons }, [values.buffer as ArrayBuffer, reasons.buffer as ArrayBuffer]);
    return;
  }
  const results = await atlas.hazardRiskBatch(order.queries);
  const packed = results.map((result) => ("error" in result ? { refused: packFault(result.error) } : result));
  port.tell({ kind: "answered", id, results: packed }, []);
}

function packFault({ code, message, details, items }: Fault): PackedFault {
  return { code, message, details, items };
}

export function unpackFault({ code, message, details, items }: PackedFault): Fault {
  return new Fault(code, message, { details, items });
}
