/** Bulk requests with workers on the calling thread, so that a test can observe and delay every time slice. */
import type { HazardQueryInput, HazardResult } from "../../../src/contract/wireTypes.ts";
import type { LocalAtlas } from "../../../src/hazard/answer.ts";
import { AdmissionControl } from "../../../src/host/admission/admissionControl.ts";
import { DEFAULT_LOAD_LIMITS, type LoadLimits, type ShedReason } from "../../../src/host/admission/resources.ts";
import { bulkHandlers } from "../../../src/host/bulk/bulkHandlers.ts";
import { BulkRequests } from "../../../src/host/bulk/bulkRequests.ts";
import type { BulkReply } from "../../../src/host/bulkRoute.ts";
import type { HttpPayload, ShardPayload } from "../../../src/host/bulk/bulkTasks.ts";
import type { HostLimits } from "../../../src/host/route.ts";
import { atlasTasks } from "../../../src/pool/atlasTasks.ts";
import { Executor } from "../../../src/pool/executor.ts";
import { PooledAtlas } from "../../../src/pool/pooledAtlas.ts";
import { handlersOf, InProcessThread, type WorkerRequest } from "../../pool/inProcessThread.ts";
import { LIMITS } from "../routeCaller.ts";
import { resultWith, fakeAtlas } from "../testHost.ts";
import { NO_WORK } from "../../../src/host/pipeline.ts";

/** An atlas whose values differ between locations; east of 170 degrees it has none. */
export const LOCATIONS_ATLAS: LocalAtlas = localAtlasOf((input) => Promise.resolve(resultOf(input)));

/** Returns an atlas whose neighborhoods are ten degrees of longitude wide. */
export function localAtlasOf(hazardRisk: LocalAtlas["hazardRisk"]): LocalAtlas {
  return {
    ...fakeAtlas(hazardRisk),
    neighborhoodOf: (_, { lonDeg }) => (Number.isNaN(lonDeg) ? -1 : Math.floor((lonDeg + 180) / 10)),
  };
}

function resultOf(input: HazardQueryInput): HazardResult {
  return resultWith(input, (analysis_year, { latitude, longitude, radius }) =>
    longitude > 170
      ? { analysis_year, metrics: { intensity: null, probability: null }, no_data: "outside_coverage" }
      : { analysis_year, metrics: { intensity: latitude * longitude + radius, probability: 1 / analysis_year } },
  );
}

/** A time slice that a worker was granted. */
export interface Grant {
  readonly type: "begin" | "resume";
  readonly id: number;
  /** Kind and payload of the task. */
  readonly kind: string;
  readonly payload: HttpPayload | ShardPayload;
  readonly worker: number;
}

export interface BulkFixtureOptions {
  readonly workers?: number;
  readonly atlas?: LocalAtlas;
  readonly limits?: Partial<HostLimits>;
  readonly load?: Partial<LoadLimits>;
  /** Duration of a time slice; 0 suspends tasks at every opportunity. */
  readonly sliceMs?: number;
  /** Called when a slice is granted, which waits for it. */
  readonly onGrant?: (grant: Grant, thread: InProcessThread) => unknown;
}

/** A request to a route. */
interface BulkFixtureRequest {
  readonly route: string;
  /** JSON text, or a value to encode. */
  readonly body: unknown;
  readonly accountId?: string;
  readonly queryText?: string;
  readonly requestId?: string;
  readonly signal?: AbortSignal;
}

export interface BulkFixture {
  readonly atlas: PooledAtlas;
  readonly executor: Executor;
  readonly admission: AdmissionControl;
  readonly bulk: BulkRequests;
  readonly threads: readonly InProcessThread[];
  /** All granted time slices in order. */
  readonly grants: readonly Grant[];
  readonly shed: readonly ShedReason[];
  /** Answers a request as the pipeline does. */
  answer(request: BulkFixtureRequest): Promise<BulkReply>;
}

let lastRequest = 0;

export function bulkFixture(options: BulkFixtureOptions = {}): BulkFixture {
  const { workers = 2, atlas = LOCATIONS_ATLAS, limits, load, sliceMs = 0, onGrant } = options;
  const threads: InProcessThread[] = [];
  const grants: Grant[] = [];
  const shed: ShedReason[] = [];
  let clockMs = 0;
  const start = (): InProcessThread => {
    const worker = threads.length;
    const beginRequests = new Map<number, WorkerRequest & { readonly kind: string }>();
    const thread: InProcessThread = new InProcessThread({
      atlas,
      sliceMs,
      findHandler: handlersOf(new Map([...atlasTasks(atlas), ...bulkHandlers(atlas)])),
      onGrant(request) {
        const { type, id } = request;
        if (type === "begin") beginRequests.set(id, { kind: "", ...request });
        const task = beginRequests.get(id);
        if (type === "cancel" || task === undefined) return undefined;
        const grant = { type, id, kind: task.kind, payload: task.payload as Grant["payload"], worker };
        grants.push(grant);
        return onGrant?.(grant, thread);
      },
    });
    threads.push(thread);
    return thread;
  };
  // By this clock every slice takes 10 or 20 ms, regardless of the load of the machine.
  const executor = new Executor({ workers, opened: atlas, start, nowMs: () => (clockMs += 10) });
  const pooled = new PooledAtlas(atlas, executor);
  const admission = new AdmissionControl({
    limits: { ...DEFAULT_LOAD_LIMITS, ...load },
    workerCount: workers,
    onShed: (reason) => shed.push(reason),
  });
  const bulk = new BulkRequests({
    executor,
    ownerOf: (query) => pooled.ownerOf(query),
    limits: { ...LIMITS, ...limits },
    prefix: "",
    jobs: admission.jobs,
  });
  return {
    atlas: pooled,
    executor,
    admission,
    bulk,
    threads,
    grants,
    shed,
    async answer({ route, body, accountId = "a", queryText = "", signal = new AbortController().signal, requestId }) {
      const bytes = new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
      const slot = admission.acquire(accountId);
      try {
        admission.setBody(slot, { heldBytes: bytes.length, sizeBytes: bytes.length, valueBytes: 0 });
        return await bulk.answer({
          route,
          queryText,
          path: {},
          body: { parts: [bytes], sizeBytes: bytes.length },
          caller: { accountId, keyId: "key", customerId: "customer" },
          requestId: requestId ?? `00000000-0000-7000-8000-${String(++lastRequest).padStart(12, "0")}`,
          slot,
          work: { ...NO_WORK, kind: route, bodyBytes: bytes.length },
          signal,
        });
      } finally {
        admission.release(slot);
      }
    },
  };
}

export function textOf({ body }: Pick<BulkReply, "body">): string {
  return Buffer.concat(body).toString("utf8");
}
