import { atlasClosedFault } from "../hazard/answer.ts";
import { errorOf } from "./errors.ts";
import { FairQueue } from "./fairQueue.ts";
import type { OpenedAtlas, Order, Report, StopOrder } from "./messages.ts";

/** One worker thread, as whoever starts it hands it over. */
export interface WorkerThread {
  send(order: Order, handOver: readonly ArrayBuffer[]): void;
  onReport(take: (report: Report) => void): void;
  /** The thread ended, or could not start. */
  onEnd(take: (error: Error) => void): void;
  /** Whether anybody waits for the thread: only then it keeps the program running. */
  setAwaited(isAwaited: boolean): void;
  end(): Promise<void>;
}

type Work = Exclude<Order, StopOrder>;
export type OrderWithoutId = Work extends infer Each ? (Each extends Work ? Omit<Each, "id"> : never) : never;

/** A piece of work for a worker, and on whose behalf. */
export interface Errand {
  readonly order: OrderWithoutId;
  /** Errands of one party wait for each other; parties take turns. */
  readonly party: string;
  /** Buffers in the order that go over to the worker and are gone here. */
  readonly handOver?: readonly ArrayBuffer[];
  /** While it waits, an errand of which nobody wants the outcome is dropped. */
  readonly signal?: AbortSignal | undefined;
}

export interface Done {
  readonly report: Report;
  /** How long the worker was busy with it. */
  readonly tookMs: number;
}

interface Pending extends Errand {
  resolve(done: Done | undefined): void;
  reject(error: unknown): void;
}

/** Orders that a thread has before it: one in work, and one so that it does not wait for the next. */
const ORDERS_AHEAD = 2;
/** What an order is taken to cost until it is known. */
const COST_MS = 5;

/** One worker: its thread, what has been sent to it, and what waits for its turn. */
export class PoolWorker {
  /** The atlas that it has opened; settles when it has. */
  readonly opened: Promise<OpenedAtlas>;
  isAlive = true;
  /** Bytes of the decoded tiles that it has, as it last told. */
  cachedBytes = 0;
  readonly #thread: WorkerThread;
  readonly #nowMs: () => number;
  readonly #waiting = new FairQueue<Pending>();
  /** In the order they were sent, which is that in which the thread works them off. */
  readonly #sent = new Map<number, Pending>();
  #opened: { resolve(atlas: OpenedAtlas): void; reject(error: Error): void } | undefined;
  #isEnding = false;
  #lastId = 0;
  /** Since when the thread has been busy with what it was sent first. */
  #busySinceMs = 0;

  /**
   * @param options `onDeath` is told when the thread ends without having been told to, `onFetch` how long it took each
   *   time that the thread fetched tiles
   */
  constructor(
    thread: WorkerThread,
    options: { readonly nowMs: () => number; onDeath(): void; onFetch(durationMs: number): void },
  ) {
    this.#thread = thread;
    this.#nowMs = options.nowMs;
    this.opened = new Promise((resolve, reject) => (this.#opened = { resolve, reject }));
    this.opened.catch(() => undefined); // where another could not even be started, nobody waits for this one
    thread.setAwaited(true);
    thread.onReport((report) => {
      if (report.kind === "fetched") {
        this.cachedBytes = report.cachedBytes;
        for (const durationMs of report.durationsMs) options.onFetch(durationMs);
      } else if (report.id === 0) this.#open(report);
      else this.#settle(report);
    });
    thread.onEnd((error) => {
      if (!this.isAlive) return;
      this.isAlive = false;
      this.cachedBytes = 0;
      if (!this.#isEnding) options.onDeath();
      const why = this.#isEnding ? atlasClosedFault() : error;
      this.#opened?.reject(why);
      this.#giveUp(why);
    });
  }

  /** What it has not answered yet. */
  get load(): number {
    return this.#waiting.size + this.#sent.size;
  }

  /**
   * @returns undefined where the thread ended before it came to this errand: somebody else may do it
   * @throws Fault as the worker says; Error when the thread ends over it; the signal's reason when it was dropped
   */
  do(errand: Errand): Promise<Done | undefined> {
    if (!this.isAlive) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#waiting.add(errand.party, { ...errand, resolve, reject });
      this.#send();
    });
  }

  /** Has the thread leave off whatever it was sent with this signal; what waits is dropped when its turn comes. */
  stop(signal: AbortSignal): void {
    for (const [id, sent] of this.#sent) if (sent.signal === signal) this.#thread.send({ kind: "stop", id }, []);
  }

  end(): Promise<void> {
    this.#isEnding = true;
    return this.#thread.end();
  }

  #send(): void {
    while (this.#sent.size < ORDERS_AHEAD) {
      const next = this.#waiting.take();
      if (next === undefined) break;
      if (next.signal?.aborted === true) {
        next.reject(next.signal.reason);
        continue;
      }
      this.#waiting.charge(next.party, COST_MS);
      if (this.#sent.size === 0) this.#busySinceMs = this.#nowMs();
      const id = ++this.#lastId;
      this.#sent.set(id, next);
      try {
        this.#thread.send({ ...next.order, id }, next.handOver ?? []);
      } catch (error) {
        // What cannot be told to a worker at all.
        this.#sent.delete(id);
        next.reject(error);
      }
    }
    this.#thread.setAwaited(this.#sent.size > 0);
  }

  #open(report: Report): void {
    if (report.kind === "ready") this.#opened?.resolve(report.atlas);
    else this.#opened?.reject(errorOf(report) ?? new Error(`A worker began with ${report.kind}.`));
    this.#opened = undefined;
    this.#thread.setAwaited(this.#sent.size > 0);
  }

  #settle(report: Report): void {
    const done = this.#sent.get(report.id);
    if (done === undefined) return;
    this.#sent.delete(report.id);
    const nowMs = this.#nowMs();
    const tookMs = nowMs - this.#busySinceMs;
    this.#busySinceMs = nowMs;
    this.#waiting.charge(done.party, tookMs - COST_MS);
    this.#send();
    const error = errorOf(report);
    if (error === undefined) done.resolve({ report, tookMs });
    else done.reject(error);
  }

  /** The thread is gone: what it was busy with may be the reason, the rest is not to suffer for it. */
  #giveUp(error: Error): void {
    const [first, ...others] = this.#sent.values();
    this.#sent.clear();
    first?.reject(error);
    for (const pending of others) {
      if (pending.handOver === undefined) pending.resolve(undefined);
      else pending.reject(error); // it cannot be told again: what was handed over went with the thread
    }
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) next.resolve(undefined);
  }
}
