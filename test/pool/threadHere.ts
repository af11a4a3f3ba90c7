import type { Atlas } from "../../src/hazard/answer.ts";
import type { Order, Report } from "../../src/pool/messages.ts";
import type { WorkerThread } from "../../src/pool/poolWorker.ts";
import { serveOrders, type TaskDoer } from "../../src/pool/worker.ts";

/** What a worker does, on this thread and with the program of a real one: messages are copied and handed over alike. */
export class ThreadHere implements WorkerThread {
  /** What was asked of it, in the order it was sent. */
  readonly orders: Order[] = [];
  #isDying = false;
  #isEnded = false;
  #takeOrder: (order: Order) => void = () => undefined;
  #takeReport: (report: Report) => void = () => undefined;
  #onEnd: (error: Error) => void = () => undefined;

  constructor(atlas: Atlas, doTask: TaskDoer) {
    const port = {
      onOrder: (take: (order: Order) => void) => (this.#takeOrder = take),
      tell: (report: Report, handOver: readonly ArrayBuffer[]) => {
        const copy = structuredClone(report, { transfer: [...handOver] });
        setImmediate(() => {
          if (!this.#isEnded) this.#takeReport(copy);
        });
      },
    };
    serveOrders(port, atlas, doTask);
  }

  send(order: Order, handOver: readonly ArrayBuffer[]): void {
    const copy = structuredClone(order, { transfer: [...handOver] });
    this.orders.push(copy);
    setImmediate(() => {
      if (!this.#isDying) this.#takeOrder(copy);
    });
  }

  onReport(take: (report: Report) => void): void {
    this.#takeReport = take;
  }

  onEnd(take: (error: Error) => void): void {
    this.#onEnd = take;
  }

  setAwaited(): void {}

  end(): Promise<void> {
    this.die("A worker ended with code 1.");
    return Promise.resolve();
  }

  /** Ends after what it has told already has been heard, as threads do. */
  die(message: string): void {
    if (this.#isDying) return;
    this.#isDying = true;
    setImmediate(() => {
      this.#isEnded = true;
      this.#onEnd(new Error(message));
    });
  }
}
