import { join } from "node:path";
import { type MessagePort, Worker } from "node:worker_threads";
import { Fault } from "../errors.ts";
import { checkEntry, idempotencyKeyReused, type Outcome, usageNotRecorded } from "./entry.ts";
import { type Commit, type Recorded, SQLITE_FILE_NAME, type UsageEntry } from "./ledger.ts";
import { LedgerCalls } from "./ledgerCalls.ts";
import { type ArgumentOf, type MethodName, REPORTING, type ResultOf } from "./methods.ts";
import { type Answer, type Order, type ThreadSetup, unpackError } from "./sqliteMessages.ts";

/** A thread of the ledger, as whoever starts it hands it over. */
export interface LedgerThread {
  readonly port: Pick<MessagePort, "on" | "postMessage">;
  /** Whether anybody waits for the thread: only then it keeps the program running. */
  setAwaited(isAwaited: boolean): void;
  /** The thread ended, or could not start. */
  onEnd(take: (error: Error) => void): void;
  end(): Promise<unknown>;
}

export interface SqliteLedgerOptions {
  /** The data folder, which is made where it is not. */
  readonly data: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly startThread?: (setup: ThreadSetup) => LedgerThread;
}

/** The embedded ledger: a SQLite file, worked on by one thread that records and one, when it is needed, that reports. */
export class SqliteLedger extends LedgerCalls {
  readonly #now: () => number;
  readonly #startReporter: () => Promise<ThreadClient>;
  readonly #writer: ThreadClient;
  #reporter: Promise<ThreadClient> | undefined;
  /** The thread records, so that what comes meanwhile would only wait there; each message costs as much as several entries. */
  #isRecording = false;
  #waiting: { readonly entry: UsageEntry; resolve(recorded: Recorded): void; reject(error: Error): void }[] = [];
  #closing: Promise<void> | undefined;

  private constructor(writer: ThreadClient, { now }: SqliteLedgerOptions, startReporter: () => Promise<ThreadClient>) {
    super();
    this.#writer = writer;
    this.#now = now;
    this.#startReporter = startReporter;
    writer.onChange = () => this.announceChange();
    writer.onCommit = (commit) => this.announceCommit(commit);
    writer.onBroken = (error) => this.fail(error);
  }

  /** @throws Fault as `SqliteStore.open` does */
  static async open(options: SqliteLedgerOptions): Promise<SqliteLedger> {
    const { data, now, startThread = startWorker } = options;
    const file = join(data, SQLITE_FILE_NAME);
    const start = async (isReport: boolean): Promise<ThreadClient> => {
      const client = new ThreadClient(startThread({ file, isReport, nowMs: now() }));
      await client.ready;
      return client;
    };
    return new SqliteLedger(await start(false), options, () => start(true));
  }

  record(entry: UsageEntry): Promise<Recorded> {
    checkEntry(entry);
    if (this.failure !== undefined) return Promise.reject(usageNotRecorded(this.failure));
    if (this.#closing !== undefined) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      // What comes in the same turn of the event loop goes to the thread together.
      if (this.#waiting.length === 0 && !this.#isRecording) setImmediate(() => void this.#send());
      this.#waiting.push({ entry, resolve, reject });
    });
  }

  async #send(): Promise<void> {
    const sent = this.#waiting;
    if (sent.length === 0) return;
    this.#waiting = [];
    this.#isRecording = true;
    try {
      const entries = sent.map(({ entry }) => entry);
      const outcomes = (await this.#writer.send({ kind: "record", nowMs: this.#now(), entries })) as Outcome[];
      sent.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i];
        if (outcome === undefined) reject(new Error("The ledger's thread answered too little."));
        else if ("refusal" in outcome) reject(idempotencyKeyReused());
        else resolve(outcome);
      });
    } catch (error) {
      for (const { reject } of sent) reject(usageNotRecorded(error));
    } finally {
      this.#isRecording = false;
      if (this.#waiting.length > 0) void this.#send();
    }
  }

  protected async ask<Name extends MethodName>(name: Name, argument: ArgumentOf<Name>): Promise<ResultOf<Name>> {
    if (this.#closing !== undefined) throw closedError();
    const client = REPORTING.has(name) ? await this.#reporting() : this.#writer;
    return (await client.send({ kind: "ask", nowMs: this.#now(), name, argument })) as ResultOf<Name>;
  }

  #reporting(): Promise<ThreadClient> {
    if (this.#reporter === undefined) {
      const reporter = this.#startReporter();
      this.#reporter = reporter;
      // One that cannot start, or has ended, is not kept: the next call tries again.
      const forget = (): void => {
        if (this.#reporter === reporter) this.#reporter = undefined;
      };
      reporter.then((client) => {
        client.onBroken = forget;
      }, forget);
    }
    return this.#reporter;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#waiting.length > 0) await this.#send();
    const reporter = await this.#reporter?.catch(() => undefined);
    await reporter?.close();
    await this.#writer.close();
  }
}

type Unnumbered = Order extends infer Each ? (Each extends Order ? Omit<Each, "id"> : never) : never;

interface OpenOrder {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** One thread, and the orders that it has not answered. */
class ThreadClient {
  readonly ready: Promise<unknown>;
  onChange: () => void = () => undefined;
  onCommit: (commit: Commit) => void = () => undefined;
  onBroken: (error: Error) => void = () => undefined;
  readonly #thread: LedgerThread;
  readonly #open = new Map<number, OpenOrder>();
  #lastId = 0;
  #end: Error | undefined;
  #isClosing = false;

  constructor(thread: LedgerThread) {
    this.#thread = thread;
    this.ready = new Promise((resolve, reject) => this.#open.set(0, { resolve, reject }));
    thread.setAwaited(true);
    thread.port.on("message", (answer: Answer) => this.#hear(answer));
    thread.onEnd((error) => this.#over(error));
  }

  send(order: Unnumbered): Promise<unknown> {
    if (this.#end !== undefined) return Promise.reject(brokenFault(this.#end));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#thread.port.postMessage({ ...order, id }, []);
      if (this.#open.size === 0) this.#thread.setAwaited(true);
      this.#open.set(id, { resolve, reject });
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    // One that has broken down is ended as it is.
    if (this.#end === undefined) await this.send({ kind: "close" }).catch(() => undefined);
    await this.#thread.end();
  }

  #hear(answer: Answer): void {
    if (answer.kind === "changed") this.onChange();
    else if (answer.kind === "broken") this.#over(unpackError(answer.error));
    else if (answer.kind === "recorded") {
      for (const { id, outcomes } of answer.orders) this.#close(id)?.resolve(outcomes);
      this.onCommit(answer.commit);
    } else if (answer.kind === "refused") this.#close(answer.id)?.reject(unpackError(answer.error));
    else this.#close(answer.id)?.resolve(answer.result);
  }

  /** An order that has been answered. */
  #close(id: number): OpenOrder | undefined {
    const order = this.#open.get(id);
    this.#open.delete(id);
    if (this.#open.size === 0) this.#thread.setAwaited(false);
    return order;
  }

  #over(error: Error): void {
    if (this.#end !== undefined) return;
    this.#end = error;
    const open = [...this.#open.values()];
    this.#open.clear();
    this.#thread.setAwaited(false);
    if (!this.#isClosing) this.onBroken(error);
    for (const { reject } of open) reject(brokenFault(error));
  }
}

function startWorker(setup: ThreadSetup): LedgerThread {
  // The program's own flags are not for this thread: some, such as --input-type, it would not start with.
  const options = { workerData: setup, execArgv: [] };
  const worker = new Worker(new URL("./sqliteMain.js", import.meta.url), options);
  return {
    port: worker as unknown as LedgerThread["port"],
    setAwaited: (isAwaited) => (isAwaited ? worker.ref() : worker.unref()),
    onEnd: (take) => {
      worker.on("error", take);
      worker.on("exit", (code) => take(new Error(`A thread of the ledger ended with code ${code}.`)));
    },
    end: () => worker.terminate(),
  };
}

function brokenFault(cause: Error): Fault {
  return new Fault("ledger_unavailable", `The ledger has stopped: ${cause.message}.`, { cause });
}

function closedError(): Error {
  return new Error("The ledger is closed.");
}
