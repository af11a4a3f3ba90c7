import { randomBytes } from "node:crypto";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { UsageEntry } from "./ledger.ts";
import { type Answer, type Order, packError, type ThreadSetup } from "./sqliteMessages.ts";
import { isStorageFailure, SqliteStore } from "./sqliteStore.ts";

/** Half of what a revocation may take, with as much again for what is under way. */
const LOOK_EVERY_MS = 500;
/** Entries of one transaction: with more, the first would wait for the last. */
const BATCH_COUNT_MAX = 5_000;

type RecordOrder = Extract<Order, { readonly kind: "record" }>;

/** Opens the ledger and carries out what the port brings, until it is told to close or the storage fails. */
export async function serveLedger(port: MessagePort, setup: ThreadSetup): Promise<void> {
  try {
    const newSecret = (): string => randomBytes(32).toString("hex");
    const store = await SqliteStore.open({ ...setup, newSecret });
    new Desk(port, store).open(setup);
  } catch (error) {
    port.postMessage({ kind: "refused", id: 0, error: packError(error) } satisfies Answer);
    port.close();
  }
}

/** One order after the other, but for entries: all that wait are recorded together. */
class Desk {
  readonly #port: MessagePort;
  readonly #store: SqliteStore;
  readonly #entries: RecordOrder[] = [];
  readonly #others: Exclude<Order, RecordOrder>[] = [];
  #isWorking = false;
  #isOpen = true;
  #looking: NodeJS.Timeout | undefined;
  #lookedMs = 0;

  constructor(port: MessagePort, store: SqliteStore) {
    this.#port = port;
    this.#store = store;
  }

  open({ isReport }: ThreadSetup): void {
    if (!isReport) {
      this.#store.hasChanged();
      this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
      this.#lookedMs = performance.now();
    }
    this.#port.on("message", (order: Order) => {
      this.#take(order);
      if (!this.#isWorking) void this.#work();
    });
    this.#tell({ kind: "done", id: 0, result: undefined });
  }

  #take(order: Order): void {
    if (order.kind === "record") this.#entries.push(order);
    else this.#others.push(order);
  }

  /** Takes in whatever has come meanwhile, without going back to the event loop. */
  #takeAll(): void {
    for (;;) {
      const waiting = receiveMessageOnPort(this.#port);
      if (waiting === undefined) return;
      this.#take(waiting.message as Order);
    }
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    while (this.#isOpen) {
      this.#takeAll();
      // With much to do there is no way back to the event loop, where the timer waits.
      if (this.#looking !== undefined && performance.now() - this.#lookedMs > LOOK_EVERY_MS) this.#look();
      if (this.#entries.length > 0) this.#record();
      // What was to be recorded before the end is more than one transaction takes.
      if (this.#entries.length > 0 && this.#others[0]?.kind === "close") continue;
      const other = this.#others.shift();
      if (other !== undefined) await this.#do(other);
      else if (this.#entries.length === 0) break;
    }
    this.#isWorking = false;
  }

  #record(): void {
    const orders: RecordOrder[] = [];
    const entries: UsageEntry[] = [];
    while (entries.length < BATCH_COUNT_MAX) {
      const order = this.#entries.shift();
      if (order === undefined) break;
      orders.push(order);
      for (const entry of order.entries) entries.push(entry);
    }
    try {
      const startMs = performance.now();
      const outcomes = this.#store.record(entries, orders.at(-1)?.nowMs ?? 0);
      const commit = { rowCount: entries.length, durationMs: performance.now() - startMs };
      let next = 0;
      const recorded = orders.map(({ id, entries: own }) => ({
        id,
        outcomes: outcomes.slice(next, (next += own.length)),
      }));
      this.#tell({ kind: "recorded", orders: recorded, commit });
    } catch (error) {
      if (isStorageFailure(error)) this.#break(error);
      else for (const { id } of orders) this.#tell({ kind: "refused", id, error: packError(error) });
    }
  }

  async #do(order: Exclude<Order, RecordOrder>): Promise<void> {
    const { id } = order;
    if (order.kind === "close") {
      // What came before it has been done; what comes after it is not heard.
      this.#stop();
      this.#store.close();
      this.#tell({ kind: "done", id, result: undefined });
      this.#port.close();
      return;
    }
    try {
      const result = await this.#store.ask(order.name, order.argument as never, order.nowMs);
      this.#tell({ kind: "done", id, result });
    } catch (error) {
      if (isStorageFailure(error)) this.#break(error);
      else this.#tell({ kind: "refused", id, error: packError(error) });
    }
  }

  #look(): void {
    this.#lookedMs = performance.now();
    try {
      if (this.#store.hasChanged()) this.#tell({ kind: "changed" });
    } catch (error) {
      if (isStorageFailure(error)) this.#break(error);
    }
  }

  /** The file is left as it is, not even closed: closing would write. */
  #break(error: unknown): void {
    this.#stop();
    this.#tell({ kind: "broken", error: packError(error) });
    this.#port.close();
  }

  #stop(): void {
    this.#isOpen = false;
    clearInterval(this.#looking);
  }

  #tell(answer: Answer): void {
    this.#port.postMessage(answer, []);
  }
}
