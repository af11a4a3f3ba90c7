/** A workforce whose workers are on this thread, so that a test can look at every slice and hold it up. */
import type { Atlas } from "../../../src/hazard/answer.ts";
import type { HazardResult } from "../../../src/hazard/result.ts";
import type { HostLimits } from "../../../src/host/routes/route.ts";
import type { HostTask } from "../../../src/host/work/tasks.ts";
import { type Workforce, workforceBehind } from "../../../src/host/work/workforce.ts";
import { hostTasks } from "../../../src/host/work/worker.ts";
import type { Job, ShedReason, WorkLimits } from "../../../src/host/work/workload.ts";
import { Pool, type PooledAtlas } from "../../../src/pool/pool.ts";
import { ThreadHere } from "../../pool/threadHere.ts";
import { LIMITS } from "../calling.ts";
import { answerWith, atlasOf } from "../hosting.ts";

/** Numbers that differ from place to place, and none beyond 170 degrees east. */
export const PLACES_ATLAS: Atlas = atlasOf((input) => Promise.resolve(resultOf(input)));

function resultOf(input: Parameters<Atlas["hazardRisk"]>[0]): HazardResult {
  return answerWith(input, (analysis_year, { latitude, longitude, radius }) =>
    longitude > 170
      ? { analysis_year, metrics: { intensity: null, probability: null }, no_data: "outside_coverage" }
      : { analysis_year, metrics: { intensity: latitude * longitude + radius, probability: 1 / analysis_year } },
  );
}

/** Places of ten degrees of longitude are read together. */
const NEIGHBOURHOODS = {
  numberOf: (_: string, { longitude }: { readonly longitude: number }): number =>
    Number.isNaN(longitude) ? -1 : Math.floor((longitude + 180) / 10),
};

export interface Workshop {
  readonly atlas: PooledAtlas;
  readonly workforce: Workforce;
  readonly threads: readonly ThreadHere[];
  /** What the workers were told to do, in the order they began it. */
  readonly begun: HostTask[];
  readonly shed: readonly ShedReason[];
}

export interface WorkshopOptions {
  readonly workers?: number;
  readonly atlas?: Atlas;
  readonly limits?: Partial<HostLimits>;
  readonly workLimits?: Partial<WorkLimits>;
  /** Called as a worker begins a task, which waits for it. */
  readonly onBegin?: (task: HostTask, thread: ThreadHere) => unknown;
}

export function workshop(options: WorkshopOptions = {}): Workshop {
  const { workers = 2, atlas = PLACES_ATLAS, limits, workLimits, onBegin } = options;
  const threads: ThreadHere[] = [];
  const begun: HostTask[] = [];
  const shed: ShedReason[] = [];
  let clockMs = 0;
  const pool = new Pool({
    workers,
    opened: atlas,
    // Every order takes ten milliseconds or twenty, whatever the machine does meanwhile.
    nowMs: () => (clockMs += 10),
    start: () => {
      const doTask = hostTasks({ atlas, neighbourhoods: NEIGHBOURHOODS });
      const thread: ThreadHere = new ThreadHere(atlas, async (task) => {
        begun.push(task as HostTask);
        await onBegin?.(task as HostTask, thread);
        return doTask(task);
      });
      threads.push(thread);
      return thread;
    },
  });
  const pooled = pool.behind(atlas, NEIGHBOURHOODS);
  const workforce = workforceBehind(pooled, {
    limits: { ...LIMITS, ...limits },
    workLimits,
    onShed: (reason) => shed.push(reason),
  });
  if (workforce === undefined) throw new Error("An atlas with a pool has a workforce.");
  return { atlas: pooled, workforce, threads, begun, shed };
}

let lastId = 0;

/** A request of an account to a route. */
export function jobOf(
  route: string,
  body: unknown,
  { accountId = "a", signal, queryText = "" }: { accountId?: string; signal?: AbortSignal; queryText?: string } = {},
): Job {
  return {
    route,
    queryText,
    path: {},
    body: typeof body === "string" ? new TextEncoder().encode(body) : new TextEncoder().encode(JSON.stringify(body)),
    caller: { accountId, keyId: "key", customerId: "customer" },
    requestId: `00000000-0000-7000-8000-${String(++lastId).padStart(12, "0")}`,
    signal: signal ?? new AbortController().signal,
  };
}

export function textOf(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString("utf8");
}
