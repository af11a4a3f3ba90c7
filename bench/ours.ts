/** Isotherm as a contender: the one file that knows how the library is called, and what it is made of. */
import type { Blobs } from "../src/atlas/blobs.ts";
import type { CellAtlas, CellSource, Pyramid } from "../src/atlas/cellSource.ts";
import { diskBlobs } from "../src/atlas/diskBlobs.ts";
import { openPackedAtlas } from "../src/atlas/packedAtlas.ts";
import { type LayerSet, Sampler } from "../src/atlas/sampler.ts";
import { answeringAtlas } from "../src/hazard/answer.ts";
import type { Atlas, HazardResult } from "../src/index.ts";
import { type Circle, rowSpans } from "../src/kernel/geodesy.ts";
import { Kernel } from "../src/kernel/instance.ts";
import { STEPS_NODATA } from "../src/kernel/kernel.generated.ts";
import { type CircleAnswer, type CircleContender, emptyAnswer, inProcess } from "./rival.ts";
import { ASKED_LAYERS, HAZARD, LAYER_COUNT, STEPS_PER_UNIT, type Workload } from "./workload.ts";

/** Room for all tiles of a workload in every form that a kernel reads them in: what is asked twice is resident. */
const RESIDENT_CACHE_BYTES = 1.5 * 2 ** 30;
/** What `openAtlas` takes when it is told nothing. */
const DEFAULT_CACHE_BYTES = 480 * 2 ** 20;
const HEADER_CACHE_BYTES = 32 * 2 ** 20;

/** One query that needs each of the seven groups once; the baseline answers three of its nine elements. */
const ASKED = {
  hazards: [HAZARD],
  scenarios: ["baseline", "rcp4p5", "rcp8p5"],
  analysis_years: [2030, 2050, 2080],
} as const;

export type HazardQueryObject = Parameters<Atlas["hazardRisk"]>[0];

/** What was read of an atlas since it was opened. */
export interface Reads {
  /** Distinct data tiles whose cells were fetched. */
  readonly tiles: Set<string>;
  /** Distinct pyramid tiles of which bounds or totals were fetched. */
  readonly pyramidTiles: Set<string>;
  /** By the last part of a file's name: root, pyramid, tiles, json. */
  readonly ranges: Map<string, number>;
  bytes: number;
}

/** An open atlas, and its engine room. */
export interface Ours {
  readonly atlas: Atlas;
  readonly sampler: Sampler;
  /** The 21 layers. */
  readonly set: LayerSet;
  readonly reads: Reads;
}

/** Opens the workload's atlas as `openAtlas` would, counting what is read; `isSmall` with the default cache. */
export async function openOurs(workload: Workload, { isSmall = false } = {}): Promise<Ours> {
  const kernel = await Kernel.load();
  const reads: Reads = { tiles: new Set(), pyramidTiles: new Set(), ranges: new Map(), bytes: 0 };
  const packed = await openPackedAtlas(kernel, counted(diskBlobs(workload.atlasFolder), reads), {
    headerCacheBytes: HEADER_CACHE_BYTES,
  });
  const cells: CellAtlas = {
    release: packed.release,
    contentHash: packed.contentHash,
    synthetic: packed.synthetic,
    hazards: packed.hazards.map((hazard) => ({
      ...hazard,
      sources: hazard.sources.map((source) => countedSource(source, reads)),
    })),
    close: () => packed.close(),
  };
  const sampler = new Sampler(kernel, cells, { cacheBytes: isSmall ? DEFAULT_CACHE_BYTES : RESIDENT_CACHE_BYTES });
  const hazard = sampler.hazards.get(HAZARD);
  if (hazard === undefined) throw new Error(`The workload's atlas has no ${HAZARD}.`);
  const layers = ASKED_LAYERS.map(({ scenario, year, metric }) => {
    const layer = hazard.allLayers().find(({ source, group, entry }) => {
      const at = source.groups[group];
      return at?.scenario === scenario && at.year === year && entry.metric === metric;
    });
    if (layer === undefined) throw new Error(`The workload's atlas has no ${metric} of ${scenario} ${year}.`);
    return layer;
  });
  return { atlas: answeringAtlas(sampler, cells, "disk"), sampler, set: sampler.layerSet(hazard, layers), reads };
}

function counted(blobs: Blobs, reads: Reads): Blobs {
  return {
    ...blobs,
    async read(name, range) {
      const kind = name.slice(name.lastIndexOf(".") + 1);
      reads.ranges.set(kind, (reads.ranges.get(kind) ?? 0) + 1);
      reads.bytes += range.sizeBytes;
      return blobs.read(name, range);
    },
  };
}

/** The source itself but for what loads tiles, which counts. Its methods need its own private fields, so they are bound to it. */
function countedSource(source: CellSource, reads: Reads): CellSource {
  return new Proxy(source, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (name === "load") {
        return (tiles: Parameters<CellSource["load"]>[0]) => {
          for (const { tileRow, tileColumn } of tiles) reads.tiles.add(`${tileRow}/${tileColumn}`);
          return target.load(tiles);
        };
      }
      if (name === "pyramid" && target.pyramid !== undefined) return countedPyramid(target.pyramid, reads);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}

function countedPyramid(pyramid: Pyramid, reads: Reads): Pyramid {
  const count = (tiles: Parameters<Pyramid["loadBounds"]>[0]): void => {
    for (const { pyramidRow, pyramidColumn } of tiles) reads.pyramidTiles.add(`${pyramidRow}/${pyramidColumn}`);
  };
  return {
    resolve: (tiles) => pyramid.resolve(tiles),
    loadBounds(tiles) {
      count(tiles);
      return pyramid.loadBounds(tiles);
    },
    loadTotals(tiles) {
      count(tiles);
      return pyramid.loadTotals(tiles);
    },
  };
}

export function circleQuery(
  { places }: Pick<Workload, "places">,
  { place, radiusKm, method }: { readonly place: number; readonly radiusKm: number; readonly method: "max" | "mean" },
): HazardQueryObject {
  const { latDeg = 0, lonDeg = 0 } = places[place] ?? {};
  return { latitude: latDeg, longitude: lonDeg, radius: radiusKm, aggregation_method: method, ...ASKED };
}

export function circleOf({ places }: Pick<Workload, "places">, place: number, radiusKm: number): Circle {
  const { latDeg = 0, lonDeg = 0 } = places[place] ?? {};
  return { latDeg, lonDeg, radiusM: radiusKm * 1000 };
}

/** The product's own path, query object to answer object: a maximum and a mean are two questions. */
export function product({ atlas }: Ours, workload: Workload): CircleContender {
  return inProcess("Isotherm, query object to answer object", async (place, radiusKm, asked) => {
    const answer = emptyAnswer();
    for (const method of ["max", "mean"] as const) {
      if (asked !== "both" && asked !== method) continue;
      const result = await atlas.hazardRisk(circleQuery(workload, { place, radiusKm, method }));
      readSteps(result, method, answer);
    }
    return answer;
  });
}

/**
 * The engine alone: a circle laid, its maximum or mean from tiles that are in memory, one call each. Places for which
 * something is missing, or that the fast way does not serve, do not come up in the workload: they would be an error.
 */
export function engine({ set }: Ours, workload: Workload): CircleContender {
  const { field } = set.resident;
  const { grid } = field;
  return inProcess("Isotherm, kernels", (place, radiusKm, asked) => {
    const answer = emptyAnswer();
    if (!grid.lay(circleOf(workload, place, radiusKm)).isLaid) throw new Error("A circle was not laid.");
    if (asked !== "mean") {
      const found = grid.max(field);
      if (found.kind !== "found") throw new Error("A tile is not in memory.");
      for (const [layer, lane] of set.lanes.entries()) {
        const bound = found.value[lane] ?? 0;
        if (bound > 0) answer.max[layer] = bound - 1;
      }
    }
    if (asked !== "max") {
      const found = grid.sums(field);
      if (found.kind !== "found") throw new Error("A tile is not in memory.");
      for (const [layer, lane] of set.lanes.entries()) {
        const at = (lane >> 2) * 8 + (lane & 3); // four sums, then the four areas that belong to them
        answer.mean[layer] = (found.value[at] ?? Number.NaN) / (found.value[at + 4] ?? Number.NaN);
      }
    }
    return answer;
  });
}

/** The first half of every circle: which cells it has. */
export function spans({ set }: Ours, workload: Workload): { readonly contender: CircleContender; rowCount(): number } {
  const { grid } = set.resident.field;
  return {
    contender: inProcess("Isotherm, row spans", (place, radiusKm) => {
      grid.lay(circleOf(workload, place, radiusKm));
      return NO_ANSWER;
    }),
    /** Rows of a circle of 100 km, the mean over the workload. */
    rowCount() {
      const counts = workload.places.map(
        (_, place) => rowSpans(grid.kernel, grid.grid, circleOf(workload, place, 100)).spanCount,
      );
      return counts.reduce((sum, count) => sum + count, 0) / counts.length;
    },
  };
}

const NO_ANSWER = emptyAnswer();

/** The values of an answer as steps, in the order of the asked layers. */
function readSteps({ results }: HazardResult, method: "max" | "mean", answer: CircleAnswer): void {
  for (const [layer, { scenario, year, metric }] of ASKED_LAYERS.entries()) {
    const found = results[0]?.scenarios
      .find((element) => element.scenario === scenario)
      ?.analysis_years.find(({ analysis_year }) => scenario === "baseline" || analysis_year === year);
    const value = found?.metrics[metric];
    if (value === undefined) throw new Error(`The answer has no ${metric} of ${scenario} ${year}.`);
    if (value === null) continue;
    const steps = value * (STEPS_PER_UNIT[layer] ?? Number.NaN);
    answer[method][layer] = method === "max" ? Math.round(steps) : steps;
  }
}

const SAMPLE_LAYERS = ASKED_LAYERS.map(({ scenario, year, metric }) => ({ scenario, analysisYear: year, metric }));

/**
 * The bulk door: many places in, values out, without an object for each.
 *
 * @returns f64[place][21] in the layers' units, NaN where there is none
 */
export async function samplePoints(
  { atlas }: Ours,
  places: { readonly latitudes: Float64Array; readonly longitudes: Float64Array },
): Promise<Float64Array> {
  return (await atlas.sample({ hazard: HAZARD, layers: SAMPLE_LAYERS, ...places })).values;
}

/** The same for circles around the workload's places. */
export async function sampleCircles(
  { atlas }: Ours,
  { places }: Pick<Workload, "places">,
  { radiusKm, method }: { readonly radiusKm: number; readonly method: "max" | "mean" },
): Promise<Float64Array> {
  const latitudes = Float64Array.from(places, ({ latDeg }) => latDeg);
  const longitudes = Float64Array.from(places, ({ lonDeg }) => lonDeg);
  return (await atlas.sample({ hazard: HAZARD, layers: SAMPLE_LAYERS, latitudes, longitudes, radiusKm, method }))
    .values;
}

/** The sum of all steps, 65,535 where there is no value: equal for two who read the same cells. */
export function stepSumOf(values: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < values.length; at += LAYER_COUNT) {
    for (let layer = 0; layer < LAYER_COUNT; layer++) {
      const value = values[at + layer] ?? Number.NaN;
      sum += Number.isNaN(value) ? STEPS_NODATA : Math.round(value * (STEPS_PER_UNIT[layer] ?? Number.NaN));
    }
  }
  return sum;
}
