/** Computes chunks on worker threads, or in the calling thread if there is little to compute. */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Kernel } from "../kernel/instance.ts";
import { startNodeThread } from "../concurrency/nodeThread.ts";
import { ThreadCalls, type WorkerThread } from "../concurrency/threadCalls.ts";
import { clampToleranceOf, type IngestOptions } from "./options.ts";
import { type GroupRows, ChunkComputer, type ChunkKey, type ChunkOptions } from "./chunkComputer.ts";
import { atlasRowOfSource, type Placement, withTiles } from "./bandReader.ts";
import { type GroupPlan, type HazardPlan, mapsOf } from "./plan.ts";
import type { ChunkRunner } from "./slabReader.ts";
import { storedLayerCounts } from "./supplementPlan.ts";
import type { IngestTarget } from "./target.ts";
import type { Raster, RasterSpec } from "./raster.ts";
import { SupplementComputer } from "./supplementComputer.ts";

/** By default at most this many threads, so that memory stays bounded on machines with many cores. */
const THREAD_COUNT_MAX = 4;
/** Fewer values are read in less time than threads take to start. */
const THREADED_VALUE_COUNT_MIN = 16_000_000;
/** Limits of a thread's heap; cells are in array buffers outside it. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 1024 } as const;

/** What a thread needs besides the chunks to compute. */
export interface ChunkThreadSetup {
  readonly plan: PlanDescription;
  readonly options: Pick<IngestOptions, "clampNegative" | "clampTolerance">;
  readonly placement: Placement;
}

/** Starts a thread that serves the function `compute`: it computes the chunk of a `ChunkKey`, and returns its `GroupRows`. */
export type StartChunkThread = (setup: ChunkThreadSetup) => WorkerThread;

interface RunnerOptions {
  readonly options: Pick<IngestOptions, "threads" | "signal" | "clampNegative" | "clampTolerance">;
  /** Starts a thread; replaced by tests. */
  readonly startThread?: StartChunkThread;
}

/** A chunk runner whose threads end when it is closed. */
interface ClosableRunner extends ChunkRunner {
  close(): Promise<void>;
}

/** Starts the threads that compute the chunks of a target. */
export function startChunkRunner(
  kernel: Kernel,
  { plan, window, grid, offset }: IngestTarget,
  { options, startThread = builtThreadStarter() }: RunnerOptions,
): ClosableRunner {
  const { threads, signal, clampNegative, clampTolerance } = options;
  const mapCount = plan.groups.reduce((sum, group) => sum + mapsOf(group).length, 0);
  const isLarge = window.rowCount * window.columnCount * mapCount >= THREADED_VALUE_COUNT_MIN;
  const defaultCount = isLarge ? Math.min(availableParallelism(), THREAD_COUNT_MAX) : 0;
  const threadCount = threads ?? defaultCount;
  const placement = { window, grid, offset };
  // One thread gains nothing over the calling thread, which waits for it.
  if (startThread === undefined || threadCount < 1 || (threads === undefined && threadCount === 1)) {
    return {
      concurrency: 1,
      compute: tileComputer(kernel, plan, { options, placement }),
      close: () => Promise.resolve(),
    };
  }
  const setup: ChunkThreadSetup = {
    plan: describePlan(plan),
    options: {
      ...(clampNegative === undefined ? {} : { clampNegative }),
      ...(clampTolerance === undefined ? {} : { clampTolerance }),
    },
    placement,
  };
  return new ChunkThreads(
    Array.from({ length: threadCount }, () => startThread(setup)),
    signal,
  );
}

/** Returns a function that computes chunks and encodes their tiles. */
export function tileComputer(
  kernel: Kernel,
  plan: HazardPlan,
  { options, placement }: Pick<ChunkThreadSetup, "options" | "placement">,
): (key: ChunkKey) => Promise<GroupRows> {
  const layerCounts = plan.groups.map((group) => storedLayerCounts(plan, group));
  const computer = createChunkComputer(kernel, plan, {
    atlasRowOfSource: atlasRowOfSource(placement),
    clampToleranceOf: (unit) => clampToleranceOf(options, unit),
  });
  return async (key) =>
    withTiles(await computer.compute(key), key.window, { layerCounts: layerCounts[key.group] ?? [], placement });
}

/** Returns the function that starts a thread, or undefined if this module runs from its sources. */
function builtThreadStarter(): StartChunkThread | undefined {
  const file = new URL("./chunkThreadMain.js", import.meta.url);
  if (!existsSync(fileURLToPath(file))) return undefined;
  return (setup) =>
    startNodeThread(file, "A thread that reads maps", { workerData: setup, resourceLimits: RESOURCE_LIMITS });
}

interface WaitingChunk {
  start(thread: ThreadCalls): void;
  reject(error: unknown): void;
}

/** Computes one chunk at a time on each thread, in the order of the requests. */
class ChunkThreads implements ClosableRunner {
  readonly #threads: readonly ThreadCalls[];
  readonly #idle: ThreadCalls[];
  readonly #waiting: WaitingChunk[] = [];
  readonly #signal: AbortSignal | undefined;

  constructor(threads: readonly WorkerThread[], signal: AbortSignal | undefined) {
    this.#threads = threads.map((thread) => new ThreadCalls(thread, { onFailure: (error) => this.#fail(error) }));
    this.#idle = [...this.#threads];
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort);
  }

  readonly #abort = (): void => this.#fail(this.#signal?.reason as Error);

  get concurrency(): number {
    return this.#threads.length;
  }

  async compute(key: ChunkKey): Promise<GroupRows> {
    const thread =
      this.#idle.shift() ?? (await new Promise<ThreadCalls>((start, reject) => this.#waiting.push({ start, reject })));
    try {
      return (await thread.call("compute", key)) as GroupRows;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(thread);
      else next.start(thread);
    }
  }

  /** Rejects all chunks, now and later. */
  #fail(error: Error): void {
    for (const thread of this.#threads) thread.fail(error);
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  async close(): Promise<void> {
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#fail(new Error("The threads have ended."));
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}

/** A plan whose rasters are replaced by indices into a list of descriptions. */
export interface PlanDescription {
  readonly plan: unknown;
  readonly specs: readonly RasterSpec[];
}

/** Returns the description of a plan, without its provenance. */
function describePlan(plan: HazardPlan): PlanDescription {
  const indices = new Map<Raster, number>();
  const described = replaceRasters(plan, (raster) => {
    const index = indices.get(raster) ?? indices.size;
    indices.set(raster, index);
    return index as unknown as Raster;
  });
  return { plan: described, specs: [...indices.keys()].map(({ spec }) => spec) };
}

/** Returns the plan of a description, with rasters that the caller opened from its `specs`. */
export function restorePlan({ plan }: PlanDescription, rasters: readonly Raster[]): HazardPlan {
  return replaceRasters(plan as HazardPlan, (index) => rasters[index as unknown as number] as Raster);
}

function replaceRasters(plan: HazardPlan, replace: (raster: Raster) => Raster): HazardPlan {
  const replaced = <Source extends { readonly raster: Raster }>(source: Source): Source => ({
    ...source,
    raster: replace(source.raster),
  });
  const contentOf = (content: GroupPlan["content"]): GroupPlan["content"] => {
    if (content.kind === "curves") {
      return { ...content, models: content.models.map((model) => ({ ...model, maps: model.maps.map(replaced) })) };
    }
    const metrics = Object.entries(content.metrics).map(([metric, source]) => [metric, replaced(source)]);
    return { ...content, metrics: Object.fromEntries(metrics) as (typeof content)["metrics"] };
  };
  return {
    ...plan,
    groups: plan.groups.map((group) => ({ ...group, provenance: {}, content: contentOf(group.content) })),
  };
}

/** Returns what computes the chunks of a plan: of its metrics, or of a supplement. */
function createChunkComputer(
  kernel: Kernel,
  plan: HazardPlan,
  options: ChunkOptions,
): { compute(key: ChunkKey): Promise<GroupRows> } {
  return plan.supplement === undefined
    ? new ChunkComputer(kernel, plan, options)
    : new SupplementComputer(kernel, plan, options);
}
