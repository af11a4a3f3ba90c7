import type { TaskExecutor } from "../../pool/executor.ts";
import type { SliceReport } from "../../pool/poolWorker.ts";
import type { BulkJob } from "../admission/jobs.ts";
import type { RequestWork } from "../admission/jobs.ts";
import type { JobAdmission } from "../admission/jobs.ts";
import type { Slot } from "../admission/resources.ts";
import type { RequestBody } from "../http/bodyBuffer.ts";
import { type Caller, type HostLimits, jsonReply } from "../route.ts";
import type { BulkReply } from "../bulkRoute.ts";
import { elementsBytes, responseBytes } from "../http/elementEncoder.ts";
import { BULK_ROUTES } from "./bulkRoutes.ts";
import { HTTP, HTTP_JOIN, HTTP_SHARD, HTTP_WARM_UP, type HttpPayload, type QueryShard } from "./bulkTasks.ts";

/** A request that is answered by worker threads. */
export interface BulkRequest {
  /** Path template of the route. */
  readonly route: string;
  /** The query string without the question mark, still percent-encoded. */
  readonly queryText: string;
  readonly path: Readonly<Record<string, string>>;
  /** Its parts are in memory that all threads share if it is long, so that they are not copied for the worker. */
  readonly body?: Pick<RequestBody, "parts" | "sizeBytes">;
  /** What the request is, as far as it is known before it has been parsed. */
  readonly work: RequestWork;
  /** A query of one location, which is sent to the worker that has its tiles. */
  readonly query?: unknown;
  readonly caller: Caller;
  readonly requestId: string;
  /** Holds the request's body. */
  readonly slot: Slot;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface BulkRequestsOptions {
  readonly executor: TaskExecutor;
  /** Returns the index of the worker that has the tiles of a query, if there is one. */
  readonly ownerOf: (query: unknown) => number | undefined;
  readonly limits: HostLimits;
  /** Path below which clients reach the service. */
  readonly prefix: string;
  readonly jobs: JobAdmission;
}

/** Tenant of the warm-up, which belongs to no account. */
const HOST = "";

/** Answers large requests in worker threads, with the responses that the event loop would give. */
export class BulkRequests {
  readonly #executor: TaskExecutor;
  readonly #ownerOf: BulkRequestsOptions["ownerOf"];
  readonly #limits: HostLimits;
  readonly #prefix: string;
  readonly #jobs: JobAdmission;

  constructor({ executor, ownerOf, limits, prefix, jobs }: BulkRequestsOptions) {
    this.#executor = executor;
    this.#ownerOf = ownerOf;
    this.#limits = limits;
    this.#prefix = prefix;
    this.#jobs = jobs;
  }

  /**
   * @throws Fault as the route throws them; `overloaded` if there is too much work or after the deadline;
   *   WorkerDeathError if a worker ends during the request; the signal's reason
   */
  answer(request: BulkRequest): Promise<BulkReply> {
    return this.#jobs.run(request, (job, signal) => this.#run(request, job, signal));
  }

  /** Starts the workers and warms up each. @throws Fault, Error if one cannot be started */
  async warmUp(): Promise<void> {
    const { workerCount } = this.#executor;
    await Promise.all(
      Array.from({ length: workerCount }, (_, worker) =>
        this.#executor.run(HTTP_WARM_UP, undefined, { worker, tenant: HOST }),
      ),
    );
  }

  async #run(request: BulkRequest, job: BulkJob, signal: AbortSignal): Promise<BulkReply> {
    const { route, caller, requestId, queryText, path, body, query } = request;
    const { parsedBytes } = request.slot;
    const payload: HttpPayload = {
      route,
      queryText,
      path,
      ...(body === undefined ? {} : { body: body.parts }),
      parsedBytes,
      caller,
      requestId,
      limits: this.#limits,
      prefix: this.#prefix,
      workerCount: this.#executor.workerCount,
    };
    const result = await this.#executor.run(HTTP, payload, {
      worker: query === undefined ? undefined : this.#ownerOf(query),
      tenant: caller.accountId,
      signal,
      onSlice: (slice) => this.#jobs.recordSlice(job, 0, slice),
    });
    if (result.kind === "answered") return result;
    const { shards, work } = result;
    const kind = `${route} ${work.cellVectorCount > 0 ? "circles" : "points"}`;
    this.#jobs.setWork(job, { ...work, kind, bodyBytes: body?.sizeBytes ?? 0 });
    const endTurn = await this.#jobs.takeTurn(job, signal);
    try {
      return await this.#runShards(request, shards, job, signal);
    } finally {
      endTurn();
    }
  }

  async #runShards(
    { route, requestId, caller, slot: { parsedBytes } }: BulkRequest,
    shards: readonly QueryShard[],
    job: BulkJob,
    signal: AbortSignal,
  ): Promise<BulkReply> {
    const tenant = caller.accountId;
    this.#jobs.startParts(
      job,
      shards.map(({ positions, bytes }) => ({ totalCount: positions.length, payloadBytes: bytes.length })),
    );
    const results = await Promise.all(
      shards.map(async ({ worker, positions, bytes }, part) => {
        const onSlice = (slice: SliceReport): void => this.#jobs.recordSlice(job, part, slice);
        const payload = { route, requestId, prefix: this.#prefix, bytes, parsedBytes };
        const result = await this.#executor.run(HTTP_SHARD, payload, { worker, tenant, signal, onSlice });
        this.#jobs.completePart(job, part, elementsBytes(result.elements));
        return { ...result, positions };
      }),
    );
    const parts = results.map(({ positions, elements }) => ({ ...elements, positions }));
    this.#jobs.startJoin(job, responseBytes(parts));
    const response = await this.#executor.run(HTTP_JOIN, parts, {
      tenant,
      signal,
      transfer: parts.flatMap(({ chunks }) => chunks.map(({ buffer }) => buffer)),
      onSlice: ({ busyMs }) => job.addBusyMs(busyMs),
    });
    const bulk = BULK_ROUTES.get(route);
    const refusedCount = results.reduce((sum, each) => sum + each.refusedCount, 0);
    const units = results.reduce((sum, each) => sum + each.units, 0);
    return jsonReply([response], units, bulk?.kind === "queries" ? bulk.headers(refusedCount) : undefined);
  }
}
