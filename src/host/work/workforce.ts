import type { Atlas } from "../../hazard/answer.ts";
import { type Pool, PooledAtlas } from "../../pool/pool.ts";
import { Refusal } from "../problems/problem.ts";
import type { HostLimits } from "../routes/route.ts";
import { areInOrder, type Piece, wrapped } from "./pieces.ts";
import { SLICED } from "./sliced.ts";
import {
  doneOf,
  type GiveOutcome,
  type HostTask,
  type OutcomeOf,
  type ReadTask,
  type TaskOf,
  type TurnTask,
} from "./tasks.ts";
import {
  DEFAULT_WORK_LIMITS,
  type Job,
  type Running,
  type ShareState,
  type ShedReason,
  Workload,
  type WorkLimits,
} from "./workload.ts";

/** An answer of status 200, in JSON. */
export interface WorkAnswer {
  readonly parts: readonly Uint8Array[];
  readonly units: number;
  /** Beyond those of the route. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers requests in other threads, as the event loop would. */
export interface Workforce {
  /**
   * @throws Fault, Refusal as the route throws them; Refusal `overloaded` where there is too much to do, or where the
   *   answer took too long; Error where a worker died over it; the signal's reason
   */
  answer(job: Job): Promise<WorkAnswer>;
  /** Starts the workers and has each do what is slow the first time. @throws Fault, Error where they cannot be started */
  warmUp(): Promise<void>;
  /** What it has to do at the moment, and what it has met with so far. */
  readonly state: WorkState;
  /** Takes no more work, and resolves when what it has is done. */
  close(): Promise<void>;
}

export interface WorkState {
  readonly jobCount: number;
  /** Of bodies that are being worked on and of answers that are growing. */
  readonly heldBytes: number;
  /** Worker threads that have ended without having been told to. */
  readonly workerDeathCount: number;
}

/** How long a worker stays with one request before the next one's turn comes. */
const TURN_MS = 5;
/** Turns of a request that a worker has before it: one in work and one in line. */
const TURNS_AHEAD = 2;
/** On whose behalf workers are warmed up: no account's. */
const WARM_UP = "";

/**
 * The workers of a pool as the host's workforce. Requests are answered in turns of a few milliseconds, accounts take turns
 * (src/pool/fairQueue.ts), and what could not be done in time is refused before it is begun.
 *
 * @param options `onShed` is told of each refusal
 */
export function workforceOf(options: WorkforceOptions): Workforce {
  return new PoolWorkforce(options);
}

/**
 * The workforce behind an atlas that was opened with workers.
 * @returns undefined where it has none: then all is done on the event loop
 */
export function workforceBehind(
  atlas: Atlas,
  options: Omit<WorkforceOptions, "pool" | "ownerOf">,
): Workforce | undefined {
  if (!(atlas instanceof PooledAtlas)) return undefined;
  return workforceOf({ ...options, pool: atlas.pool, ownerOf: (place) => atlas.ownerOf(place) });
}

interface WorkforceOptions {
  readonly pool: Pool;
  /** Which worker keeps the tiles of a place. */
  readonly ownerOf?: ((place: unknown) => number) | undefined;
  readonly limits: HostLimits;
  readonly workLimits?: Partial<WorkLimits> | undefined;
  readonly onShed?: ((reason: ShedReason) => void) | undefined;
}

type Given = Exclude<GiveOutcome, undefined>;

class PoolWorkforce implements Workforce {
  readonly #pool: Pool;
  readonly #ownerOf: ((place: unknown) => number) | undefined;
  readonly #limits: HostLimits;
  readonly #deadlineMs: number;
  readonly #load: Workload;
  #isClosed = false;
  #onIdle: () => void = () => undefined;

  constructor({ pool, ownerOf, limits, workLimits, onShed }: WorkforceOptions) {
    this.#pool = pool;
    this.#ownerOf = ownerOf;
    this.#limits = limits;
    const bounds = { ...DEFAULT_WORK_LIMITS, ...workLimits };
    this.#deadlineMs = bounds.deadlineMs;
    this.#load = new Workload({
      workerCount: pool.workerCount,
      limits: bounds,
      onShed: onShed ?? (() => undefined),
    });
  }

  get state(): WorkState {
    const { jobCount, heldBytes } = this.#load;
    return { jobCount, heldBytes, workerDeathCount: this.#pool.deathCount };
  }

  async answer(job: Job): Promise<WorkAnswer> {
    job.signal.throwIfAborted();
    if (this.#isClosed) throw new Refusal("overloaded", "The service is stopping; ask again in a moment.");
    const running: Running = { job, bodyBytes: job.body?.length ?? 0, stop: new AbortController(), spentMs: 0 };
    this.#load.admit(running);
    const { stop } = running;
    const leave = (): void => stop.abort(job.signal.reason);
    job.signal.addEventListener("abort", leave, { once: true });
    const deadline = setTimeout(() => stop.abort(this.#load.tooLate()), this.#deadlineMs);
    const work = this.#work(running).finally(() => {
      if (stop.signal.aborted) this.#drop(running);
      clearTimeout(deadline);
      job.signal.removeEventListener("abort", leave);
      this.#load.leave(running);
      if (this.#load.jobCount === 0) this.#onIdle();
    });
    // A turn that is in work is finished, but nobody waits for it.
    return orAborted(work, stop.signal);
  }

  async warmUp(): Promise<void> {
    const task: HostTask = { kind: "warm" };
    const workers = Array.from({ length: this.#pool.workerCount }, (_, worker) => worker);
    await Promise.all(workers.map((worker) => this.#pool.do({ task, worker, party: WARM_UP })));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#load.jobCount > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  async #work(running: Running): Promise<WorkAnswer> {
    const { route, caller, requestId, queryText, path, body, place } = running.job;
    const about: TaskOf = { route, caller, requestId, limits: this.#limits };
    const bytes = body === undefined ? undefined : ofItsOwn(body);
    const read: ReadTask = {
      ...about,
      kind: "read",
      queryText,
      path,
      ...(bytes === undefined ? {} : { body: bytes }),
      workerCount: this.#pool.workerCount,
      turnMs: TURN_MS,
    };
    const worker = place === undefined ? undefined : this.#ownerOf?.(place);
    const outcome = await this.#do(running, read, {
      ...(worker === undefined ? {} : { worker }),
      handOver: bytes === undefined ? [] : [bytes.buffer as ArrayBuffer],
    });
    if (outcome.kind === "answered") {
      this.#load.learn(running);
      return { parts: outcome.parts, units: outcome.units, headers: outcome.headers };
    }

    const shares = outcome.shares.map((share): ShareState => ({
      share,
      isSent: false,
      leftCount: share.positions.length,
      sizeBytes: 0,
    }));
    running.shares = shares;
    const given = await this.#settled(
      running,
      shares.map((state) => this.#carryOut(running, about, state)),
    );
    this.#load.learn(running);
    const units = given.reduce((sum, each) => sum + each.units, 0);
    const refusedCount = given.reduce((sum, each) => sum + each.refusedCount, 0);
    return {
      parts: await this.#partsOf(running, given),
      units,
      headers: SLICED.get(route)?.headers?.(refusedCount) ?? {},
    };
  }

  /** Has one worker answer its share, turn by turn. */
  async #carryOut(running: Running, about: TaskOf, state: ShareState): Promise<Given> {
    const { share } = state;
    const { worker } = share;
    const isAlone = running.shares?.length === 1;
    for (;;) {
      // Two at a time, so that no turn of its account's is missed while the last one is heard of.
      await this.#settled(
        running,
        Array.from({ length: TURNS_AHEAD }, () => this.#takeTurns(running, about, state)),
      );
      const given = await this.#do(running, { kind: "give", requestId: about.requestId, isAlone }, { worker });
      if (given !== undefined) return given;
      // The worker has died, and what it had made with it.
      state.isSent = false;
      state.leftCount = share.positions.length;
    }
  }

  async #takeTurns(running: Running, about: TaskOf, state: ShareState): Promise<void> {
    const { share } = state;
    while (state.leftCount > 0 && !running.stop.signal.aborted) {
      const isFirst = !state.isSent;
      state.isSent = true;
      const turn: TurnTask = { ...about, kind: "turn", turnMs: TURN_MS, ...(isFirst ? { share } : {}) };
      const left = await this.#do(running, turn, { worker: share.worker });
      if (left === undefined) state.isSent = false;
      else {
        state.leftCount = left.leftCount;
        state.sizeBytes = left.sizeBytes;
      }
    }
  }

  async #partsOf(running: Running, given: readonly Given[]): Promise<readonly Uint8Array[]> {
    const pieces: Piece[] = [];
    for (const { made } of given) {
      if ("whole" in made) return [made.whole];
      pieces.push(made.piece);
    }
    if (areInOrder(pieces)) return wrapped(pieces);
    const handOver = pieces.map(({ bytes }) => bytes.buffer);
    return [await this.#do(running, { kind: "join", pieces }, { handOver })];
  }

  async #do<Task extends HostTask>(
    running: Running,
    task: Task,
    how: { readonly worker?: number; readonly handOver?: readonly ArrayBuffer[] },
  ): Promise<OutcomeOf<Task>> {
    const { job, stop } = running;
    // Without buffers to hand over, a task whose worker dies before it is begun can be told to the next.
    const { handOver = [] } = how;
    const { outcome, tookMs } = await this.#pool.do({
      task,
      worker: how.worker,
      party: job.caller.accountId,
      signal: stop.signal,
      ...(handOver.length === 0 ? {} : { handOver }),
    });
    running.spentMs += tookMs;
    return doneOf(task, outcome);
  }

  /** What all come to. Where one fails, no further turn is begun for the others either. @throws what failed first */
  async #settled<Value>({ stop }: Running, all: readonly Promise<Value>[]): Promise<Value[]> {
    for (const each of all) each.catch((error: unknown) => stop.abort(error));
    const settled = await Promise.allSettled(all);
    stop.signal.throwIfAborted();
    return settled.map((each) => {
      if (each.status === "rejected") throw each.reason;
      return each.value;
    });
  }

  /** The workers need not keep what nobody will ask for. */
  #drop({ job, shares = [] }: Running): void {
    const task: HostTask = { kind: "drop", requestId: job.requestId };
    for (const { share } of shares) {
      const { worker } = share;
      // Where that fails, the worker is gone, and the share with it.
      this.#pool.do({ task, worker, party: job.caller.accountId }).catch(() => undefined);
    }
  }
}

/** Bytes that can be handed over without anybody else's going with them. */
function ofItsOwn(bytes: Uint8Array): Uint8Array {
  const isWhole = bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.byteLength;
  return isWhole ? bytes : new Uint8Array(bytes);
}

/** What a promise comes to, unless the signal comes first; then its reason is thrown. */
function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
