import { isFault } from "../../errors.ts";
import type { LocalAtlas } from "../../hazard/answer.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { neighborhoodOfQuery, shardByOwner } from "../../pool/sharding.ts";
import { handle, type TaskContext, type TaskHandlers } from "../../pool/taskKinds.ts";
import { TimeSlice } from "../../concurrency/timeSlice.ts";
import { assumedCostMs } from "../admission/jobs.ts";
import { ElementEncoder, joinResponse } from "../http/elementEncoder.ts";
import { decodeJson } from "../../text/json/json.ts";
import { jsonReply, type Route, type RouteContext, type Services, toReply } from "../route.ts";
import { ROUTES } from "../routes/routeList.ts";
import { warmUp } from "../warmUp.ts";
import type { BulkReply, ProblemContext, QueriesBulkRoute } from "../bulkRoute.ts";
import { BULK_ROUTES } from "./bulkRoutes.ts";
import { collectingAfter } from "./garbageCollection.ts";
import {
  HTTP,
  HTTP_JOIN,
  HTTP_SHARD,
  HTTP_WARM_UP,
  type BatchWork,
  type HttpPayload,
  type HttpResult,
  type QueryShard,
  type ShardPayload,
} from "./bulkTasks.ts";

/** Batches up to this size are answered where they are parsed, if one time slice is enough. */
const SINGLE_WORKER_QUERIES_MAX = 64;
/** A single worker answers batches of a lower assumed cost at once; for others it first asks whether there is time. */
const UNCHECKED_COST_MS_MAX = 50;
const encoder = new TextEncoder();

/** Returns the handlers of the host's tasks. */
export function bulkHandlers(atlas: LocalAtlas): TaskHandlers {
  return new Map([
    handle(HTTP, async (payload, context) => {
      const result = await collectingAfter(payload.parsedBytes, () => answerRequest(atlas, payload, context));
      const parts = result.kind === "answered" ? result.body : result.shards.map(({ bytes }) => bytes);
      return { result, transfer: parts.map(({ buffer }) => buffer as ArrayBuffer) };
    }),
    handle(HTTP_SHARD, async (payload, context) => {
      const encoded = await collectingAfter(payload.parsedBytes, () => answerShard(atlas, payload, context));
      const { elements, units, refusedCount } = encoded;
      return { result: { elements, units, refusedCount }, transfer: elements.chunks.map(({ buffer }) => buffer) };
    }),
    handle(HTTP_JOIN, async (parts) => {
      const result = joinResponse(parts);
      return { result, transfer: [result.buffer] };
    }),
    handle(HTTP_WARM_UP, async (_, { signal }) => {
      await warmUp(atlas, signal);
      return { result: undefined };
    }),
  ]);
}

async function answerRequest(atlas: LocalAtlas, payload: HttpPayload, context: TaskContext): Promise<HttpResult> {
  const { queryText, path, limits, body, workerCount, requestId, prefix } = payload;
  const route = ROUTES.find((candidate) => candidate.path === payload.route);
  if (route === undefined) throw new Error(`There is no route ${payload.route}.`);
  const request = route.parse({
    queryText,
    path,
    limits,
    ...(body === undefined ? {} : { body: decodeJson(body) }),
  });
  const bulk = BULK_ROUTES.get(payload.route);
  if (bulk === undefined) {
    return { kind: "answered", ...(await answerInOneSlice(route, request, routeContext(atlas, payload, context))) };
  }
  if (bulk.kind === "whole") return { kind: "answered", ...(await bulk.answer(request, context)) };

  const queries = bulk.queriesOf(request);
  const requestQueries = { queries, requestId, prefix };
  const short =
    workerCount > 1 && queries.length <= SINGLE_WORKER_QUERIES_MAX
      ? await answerShortBatch(atlas, bulk, requestQueries, context)
      : undefined;
  const work = short === undefined ? await estimateBatchWork(atlas, bulk, queries, context) : undefined;
  if (work !== undefined && (workerCount > 1 || assumedCostMs({ ...work, bodyBytes: 0 }) > UNCHECKED_COST_MS_MAX)) {
    return { kind: "sharded", shards: createShards(atlas, queries, workerCount), work };
  }
  const answered = short ?? (await answerQueries(atlas, bulk, requestQueries, context));
  const { units, refusedCount } = answered;
  return { kind: "answered", ...jsonReply([answered.response()], units, bulk.headers(refusedCount)) };
}

async function answerShard(
  atlas: LocalAtlas,
  { route, requestId, prefix, bytes }: ShardPayload,
  context: TaskContext,
): Promise<ElementEncoder> {
  const bulk = BULK_ROUTES.get(route);
  if (bulk?.kind !== "queries") throw new Error(`Requests of ${route} have no queries.`);
  const queries = JSON.parse(new TextDecoder().decode(bytes)) as readonly unknown[];
  return answerQueries(atlas, bulk, { queries, requestId, prefix }, context);
}

/** Returns the context of a route in a worker. Workers have no ledger: routes that need it run on the event loop. */
function routeContext(
  atlas: LocalAtlas,
  { caller, requestId, limits, prefix }: HttpPayload,
  { signal, timeSlice }: TaskContext,
): RouteContext {
  const services: Services = {
    atlas,
    limits,
    prefix,
    get ledger(): Ledger {
      throw new Error("Worker threads have no ledger.");
    },
  };
  return { services, caller, requestId, signal, timeSlice };
}

async function answerInOneSlice(
  route: Route<unknown, unknown>,
  request: unknown,
  context: RouteContext,
): Promise<BulkReply> {
  const answer = await route.handle(request, context);
  const reply = toReply(route, answer);
  const { body } = reply;
  if (typeof body === "object" && Symbol.asyncIterator in body) {
    throw new Error(`The response of ${route.path} is a stream, which a worker cannot send.`);
  }
  return { ...reply, body: typeof body === "string" ? [encoder.encode(body)] : body };
}

interface RequestQueries extends ProblemContext {
  readonly queries: readonly unknown[];
}

/** Answers queries as the library does, and encodes each result immediately. */
async function answerQueries(
  atlas: LocalAtlas,
  bulk: QueriesBulkRoute<unknown, unknown>,
  { queries, ...problemContext }: RequestQueries,
  { timeSlice, signal, reportProgress }: TaskContext,
): Promise<ElementEncoder> {
  const totalCount = queries.length;
  const encoded = new ElementEncoder(totalCount);
  let doneCount = 0;
  await bulk.answer(
    atlas,
    queries,
    { signal },
    {
      timeSlice,
      onElement(element, index) {
        encoded.add(index, bulk.encode(element, problemContext));
        doneCount++;
        reportProgress({ doneCount, totalCount, partialResultBytes: encoded.allocatedBytes });
      },
    },
  );
  return encoded;
}

/** Thrown to end a short batch that takes more than one time slice. */
const SLICE_EXPIRED = new Error("The time slice has expired.");

/** Answers a batch within the current time slice. @returns undefined if the slice was too short */
async function answerShortBatch(
  atlas: LocalAtlas,
  bulk: QueriesBulkRoute<unknown, unknown>,
  queries: RequestQueries,
  context: TaskContext,
): Promise<ElementEncoder | undefined> {
  const timeSlice = new TimeSlice({ nextSlice: () => Promise.reject(SLICE_EXPIRED) });
  try {
    return await answerQueries(atlas, bulk, queries, { ...context, timeSlice });
  } catch (error) {
    if (error === SLICE_EXPIRED) return undefined;
    throw error;
  }
}

/** Estimates what the queries take. Invalid queries take nothing beyond their element. */
async function estimateBatchWork(
  atlas: LocalAtlas,
  bulk: QueriesBulkRoute<unknown, unknown>,
  queries: readonly unknown[],
  { timeSlice }: TaskContext,
): Promise<BatchWork> {
  let cellVectorCount = 0;
  let coldTileVectorCount = 0;
  for (const query of queries) {
    if (!hasRadius(query)) continue;
    try {
      const work = bulk.estimateWork(atlas, query);
      cellVectorCount += work.cellVectorCount;
      coldTileVectorCount += work.coldTileVectorCount;
    } catch (error) {
      if (!isFault(error)) throw error;
    }
    if (timeSlice.isExpired) await timeSlice.yield();
  }
  return { elementCount: queries.length, cellVectorCount, coldTileVectorCount };
}

function hasRadius(query: unknown): boolean {
  return typeof query === "object" && query !== null && "radius" in query && query.radius !== 0;
}

function createShards(atlas: LocalAtlas, queries: readonly unknown[], workerCount: number): readonly QueryShard[] {
  const neighborhoodOf = atlas.neighborhoodOf.bind(atlas);
  return shardByOwner(queries.length, workerCount, (i) => neighborhoodOfQuery(neighborhoodOf, queries[i]))
    .map((positions, worker) => ({ worker, positions: positions.slice(), bytes: encodeQueries(queries, positions) }))
    .filter(({ positions }) => positions.length > 0);
}

function encodeQueries(queries: readonly unknown[], positions: Uint32Array): Uint8Array {
  return encoder.encode(JSON.stringify(Array.from(positions, (position) => queries[position])));
}
