import type { Atlas } from "../../hazard/answer.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { neighbourhoodOf, type Neighbourhoods, shareOut } from "../../pool/owners.ts";
import type { TaskDoer } from "../../pool/worker.ts";
import { decodeJson, encodeJson } from "../http/json.ts";
import { joined, onePiece, type Piece, pieceOf } from "./pieces.ts";
import { Refusal } from "../problems/problem.ts";
import type { Route, RouteContext, Services } from "../routes/route.ts";
import { ROUTES } from "../routes/routeList.ts";
import { SLICED } from "./sliced.ts";
import type { Sliced, WrittenElement } from "./slicedRoute.ts";
import {
  type GiveOutcome,
  type HostTask,
  type PackedOutcome,
  packRefusal,
  type ReadOutcome,
  type ReadTask,
  type Share,
  type TaskOf,
  type TurnOutcome,
  type TurnTask,
} from "./tasks.ts";
import { warmUp } from "../warmUp.ts";

/** Elements that are in work at the same time: enough to keep reads busy. */
const ELEMENTS_PARALLEL = 16;
/** A turn of more would be over in time anyway, or nearly. */
const ELEMENTS_PER_TURN = 128;
/** So few elements are answered where they were read, if there is time: the way to their owners would take longer. */
const ELEMENTS_AT_ONCE = 64;
const encoder = new TextEncoder();

interface Opened {
  readonly atlas: Atlas;
  readonly neighbourhoods: Neighbourhoods;
}

interface Done {
  readonly done: unknown;
  readonly handOver: readonly ArrayBuffer[];
}

/** Whoever does the host's tasks in a worker thread, with what the thread has opened. */
export function hostTasks(opened: Opened): TaskDoer {
  const worker = new HostWorker(opened);
  return async (task) => {
    try {
      const { done, handOver } = await worker.do(task as HostTask);
      return { outcome: { done } satisfies PackedOutcome, handOver };
    } catch (error) {
      if (error instanceof Refusal) return { outcome: packRefusal(error), handOver: [] };
      throw error;
    }
  };
}

/** A share under way. */
interface Begun {
  readonly positions: Uint32Array;
  readonly rest: unknown;
  readonly elements: readonly unknown[];
  readonly pieces: Piece[];
  answeredCount: number;
  sizeBytes: number;
  units: number;
  refusedCount: number;
}

class HostWorker {
  readonly #opened: Opened;
  /** By the request's id. */
  readonly #shares = new Map<string, Begun>();

  constructor(opened: Opened) {
    this.#opened = opened;
  }

  async do(task: HostTask): Promise<Done> {
    switch (task.kind) {
      case "read": {
        const outcome = await this.#read(task);
        const parts = outcome.kind === "answered" ? outcome.parts : outcome.shares.map(({ bytes }) => bytes);
        return { done: outcome, handOver: parts.map(({ buffer }) => buffer as ArrayBuffer) };
      }
      case "turn":
        return { done: await this.#takeTurn(task), handOver: [] };
      case "give": {
        const given = this.#give(task);
        const bytes = given === undefined ? [] : ["whole" in given.made ? given.made.whole : given.made.piece.bytes];
        return { done: given, handOver: bytes.map(({ buffer }) => buffer as ArrayBuffer) };
      }
      case "drop":
        this.#shares.delete(task.requestId);
        return { done: undefined, handOver: [] };
      case "join": {
        const whole = joined(task.pieces);
        return { done: whole, handOver: [whole.buffer] };
      }
      case "warm":
        await warmUp(this.#opened.atlas, new AbortController().signal);
        return { done: undefined, handOver: [] };
      default:
        throw new Error(`There is no task ${JSON.stringify(task satisfies never)}.`);
    }
  }

  async #read(task: ReadTask): Promise<ReadOutcome> {
    const { queryText, path, limits, body, workerCount } = task;
    const route = ROUTES.find((each) => each.path === task.route);
    if (route === undefined) throw new Error(`There is no route ${task.route}.`);
    const request = route.parse({
      queryText,
      path,
      limits,
      ...(body === undefined ? {} : { body: decodeJson(body) }),
    });
    const sliced = SLICED.get(task.route);
    if (sliced === undefined) return answerWhole(route, request, this.#contextOf(task));

    const elements = sliced.elementsOf(request);
    const rest = sliced.restOf(request);
    if (elements.length <= ELEMENTS_AT_ONCE && (workerCount === 1 || !sliced.isPlaced)) {
      const begun = begunOf(Uint32Array.from(elements.keys()), { rest, elements });
      const left = await answerTurn(sliced, begun, { turnMs: task.turnMs, context: this.#contextOf(task) });
      if (left === 0) {
        const { units, refusedCount, pieces } = begun;
        return { kind: "answered", parts: [joined(pieces)], units, headers: sliced.headers?.(refusedCount) ?? {} };
      }
    }
    const positions = sliced.isPlaced
      ? shareOut(this.#numbersOf(elements), workerCount)
      : inEqualParts(elements.length, workerCount);
    const shares = positions.map((own, worker): Share => {
      const chosen = Array.from(own, (position) => elements[position]);
      return { worker, positions: own, bytes: encoder.encode(JSON.stringify({ rest, elements: chosen })) };
    });
    return { kind: "cut", shares: shares.filter((share) => share.positions.length > 0) };
  }

  async #takeTurn(task: TurnTask): Promise<TurnOutcome> {
    const { requestId, share, turnMs } = task;
    if (share !== undefined) this.#shares.set(requestId, begunOf(share.positions, contentOf(share)));
    const begun = this.#shares.get(requestId);
    if (begun === undefined) return undefined;
    const sliced = SLICED.get(task.route);
    if (sliced === undefined) throw new Error(`The route ${task.route} is not one that is sliced.`);
    const leftCount = await answerTurn(sliced, begun, { turnMs, context: this.#contextOf(task) });
    return { leftCount, sizeBytes: begun.sizeBytes };
  }

  #give({ requestId, isAlone }: HostTask & { readonly kind: "give" }): GiveOutcome {
    const begun = this.#shares.get(requestId);
    if (begun === undefined) return undefined;
    this.#shares.delete(requestId);
    const { pieces, units, refusedCount } = begun;
    return { made: isAlone ? { whole: joined(pieces) } : { piece: onePiece(pieces) }, units, refusedCount };
  }

  #numbersOf(elements: readonly unknown[]): Float64Array {
    const { neighbourhoods } = this.#opened;
    return Float64Array.from(elements, (element) => neighbourhoodOf(neighbourhoods, element));
  }

  #contextOf({ caller, requestId, limits }: TaskOf): RouteContext {
    const services: Services = {
      atlas: this.#opened.atlas,
      limits,
      get ledger(): Ledger {
        throw new Error("A worker has no ledger: a route that asks it is not answered here.");
      },
    };
    // What is in work here is short: it is the turns to come that are not begun when nobody waits any more.
    return { services, caller, requestId, signal: new AbortController().signal };
  }
}

async function answerWhole(
  route: Route<unknown, unknown>,
  request: unknown,
  context: RouteContext,
): Promise<ReadOutcome> {
  const answer = await route.handle(request, context);
  const reply = route.reply?.(answer);
  const body = reply?.body ?? encodeJson(answer);
  if (typeof body === "object" && Symbol.asyncIterator in body) {
    throw new Error(`The answer of ${route.path} comes bit by bit, which is not for a worker.`);
  }
  return {
    kind: "answered",
    parts: typeof body === "string" ? [encoder.encode(body)] : body,
    units: route.metered?.units(answer) ?? 0,
    headers: reply?.headers ?? {},
  };
}

interface ShareContent {
  readonly rest?: unknown;
  readonly elements: readonly unknown[];
}

function contentOf({ bytes }: Share): ShareContent {
  return JSON.parse(new TextDecoder().decode(bytes)) as ShareContent;
}

function begunOf(positions: Uint32Array, { rest, elements }: ShareContent): Begun {
  return { positions, rest, elements, pieces: [], answeredCount: 0, sizeBytes: 0, units: 0, refusedCount: 0 };
}

/**
 * Answers elements until none is left or the turn is over.
 * @returns how many are left
 */
async function answerTurn(
  sliced: Sliced<unknown, unknown>,
  begun: Begun,
  { turnMs, context }: { readonly turnMs: number; readonly context: RouteContext },
): Promise<number> {
  const { elements, rest, positions, answeredCount: first } = begun;
  const startMs = performance.now();
  const end = Math.min(elements.length, first + ELEMENTS_PER_TURN);
  const answers: WrittenElement[] = [];
  let next = first;
  const work = async (): Promise<void> => {
    // The first is always begun, so that every turn gets somewhere.
    while (next < end && (next === first || performance.now() - startMs < turnMs)) {
      const index = next++;
      try {
        answers[index - first] = await sliced.answer(elements[index], rest, context);
      } catch (error) {
        next = end;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: ELEMENTS_PARALLEL }, work));
  if (answers.length > 0) {
    const piece = pieceOf(
      positions.subarray(first, first + answers.length),
      answers.map(({ text }) => text),
    );
    begun.pieces.push(piece);
    begun.sizeBytes += piece.bytes.length;
    begun.answeredCount += answers.length;
    begun.units += answers.reduce((units, answer) => units + answer.units, 0);
    begun.refusedCount += answers.filter(({ isRefused }) => isRefused).length;
  }
  return elements.length - begun.answeredCount;
}

/** The first so many, the next so many, ... */
function inEqualParts(count: number, partCount: number): readonly Uint32Array[] {
  const size = Math.ceil(count / partCount);
  return Array.from({ length: partCount }, (_, part) => {
    const from = Math.min(count, part * size);
    return Uint32Array.from({ length: Math.min(size, count - from) }, (_unused, i) => from + i);
  });
}
