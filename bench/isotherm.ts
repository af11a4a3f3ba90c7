/** Isotherm as a contender. The only benchmark file that depends on the library's internals. */
import type { Blobs } from "../src/atlas/blobs.ts";
import type { CellAtlas, CellSource, Pyramid } from "../src/atlas/cellSource.ts";
import { diskBlobs } from "../src/atlas/diskBlobs.ts";
import { openPackedAtlas } from "../src/atlas/packedAtlas.ts";
import type { LayerSet } from "../src/atlas/layerSet.ts";
import { Sampler } from "../src/atlas/sampler.ts";
import { createAtlas } from "../src/hazard/answer.ts";
import type { Atlas, HazardResult } from "../src/index.ts";
import { type Circle, rowSpans } from "../src/kernel/geodesy.ts";
import { Kernel } from "../src/kernel/instance.ts";
import { STEPS_NODATA } from "../src/kernel/kernel.generated.ts";
import { type CircleResult, type CircleContender, emptyResult, inProcessContender } from "./circleContender.ts";
import { QUERIED_LAYERS, HAZARD, LAYER_COUNT, STEPS_PER_UNIT } from "./floodMaps.ts";
import { locationOf, type Workload } from "./workload.ts";

/** Fits all tiles of a workload in every form that a kernel reads, so that repeated queries hit the cache. */
const RESIDENT_CACHE_BYTES = 1.5 * 2 ** 30;
/** Default size of the tile cache of `openAtlas`. */
const DEFAULT_CACHE_BYTES = 480 * 2 ** 20;
const HEADER_CACHE_BYTES = 32 * 2 ** 20;

/** A query that needs each of the seven groups once; the baseline serves three of its nine elements. */
const QUERY_FIELDS = {
  hazards: [HAZARD],
  scenarios: ["baseline", "rcp4p5", "rcp8p5"],
  analysis_years: [2030, 2050, 2080],
} as const;

export type HazardQueryObject = Parameters<Atlas["hazardRisk"]>[0];

/** Tiles and bytes read from an atlas since it was opened. */
interface Reads {
  /** Distinct data tiles fetched. */
  readonly tiles: Set<string>;
  /** Distinct pyramid tiles with bounds or totals fetched. */
  readonly pyramidTiles: Set<string>;
  /** Range counts by file extension: root, pyramid, tiles, json. */
  readonly ranges: Map<string, number>;
  bytes: number;
}

/** An open atlas with access to its internals and counted reads. */
export interface InstrumentedAtlas {
  readonly atlas: Atlas;
  readonly sampler: Sampler;
  /** The 21 layers. */
  readonly set: LayerSet;
  readonly reads: Reads;
}

/**
 * Opens the workload's atlas as `openAtlas` does and counts its reads. `hasDefaultCache` selects the default size of the cache.
 */
export async function openInstrumentedAtlas(
  workload: Workload,
  { hasDefaultCache = false } = {},
): Promise<InstrumentedAtlas> {
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
  const sampler = new Sampler(kernel, cells, {
    cacheBytes: hasDefaultCache ? DEFAULT_CACHE_BYTES : RESIDENT_CACHE_BYTES,
  });
  const hazard = sampler.hazards.get(HAZARD);
  if (hazard === undefined) throw new Error(`the workload's atlas has no ${HAZARD}`);
  const layers = QUERIED_LAYERS.map(({ scenario, year, metric }) => {
    const layer = hazard.allLayers().find(({ source, group, entry }) => {
      const entryGroup = source.groups[group];
      return entryGroup?.scenario === scenario && entryGroup.year === year && entry.metric === metric;
    });
    if (layer === undefined) throw new Error(`the workload's atlas has no ${metric} of ${scenario} ${year}`);
    return layer;
  });
  return { atlas: createAtlas(sampler, cells, "disk"), sampler, set: sampler.layerSet(hazard, layers), reads };
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

/**
 * Wraps a source so that `load` and the pyramid count their tiles. Other methods are bound to the source, whose private
 * fields they need.
 */
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
    ...pyramid,
    loadBounds(tiles) {
      count(tiles);
      return pyramid.loadBounds(tiles);
    },
    loadTileBounds(tiles) {
      count(tiles);
      return pyramid.loadTileBounds(tiles);
    },
    rootBounds: (tile) => pyramid.rootBounds(tile),
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
  const { latDeg, lonDeg } = locationOf({ places }, place);
  return { latitude: latDeg, longitude: lonDeg, radius: radiusKm, aggregation_method: method, ...QUERY_FIELDS };
}

export function circleOf({ places }: Pick<Workload, "places">, place: number, radiusKm: number): Circle {
  const { latDeg, lonDeg } = locationOf({ places }, place);
  return { latDeg, lonDeg, radiusM: radiusKm * 1000 };
}

/**
 * Returns a contender that uses the public API, from query object to result object. Maximum and mean take one query
 * each.
 */
export function libraryContender({ atlas }: InstrumentedAtlas, workload: Workload): CircleContender {
  return inProcessContender("Isotherm, query object to result object", async (place, radiusKm, aggregation) => {
    const out = emptyResult();
    for (const method of ["max", "mean"] as const) {
      if (aggregation !== "both" && aggregation !== method) continue;
      const result = await atlas.hazardRisk(circleQuery(workload, { place, radiusKm, method }));
      readSteps(result, method, out);
    }
    return out;
  });
}

/**
 * Returns a contender that uses the kernels alone: finds the cells of a circle, then its maximum or mean from tiles in
 * memory. Throws if a tile is missing or the kernel does not support the circle; neither occurs in the workload.
 */
export function kernelContender({ set }: InstrumentedAtlas, workload: Workload): CircleContender {
  const { field } = set.cachedField;
  const { grid } = field;
  return inProcessContender("Isotherm, kernels", (place, radiusKm, aggregation) => {
    const out = emptyResult();
    if (!grid.setCircle(circleOf(workload, place, radiusKm))) throw new Error("the kernel does not support the circle");
    if (aggregation !== "mean") {
      const found = grid.max(field);
      if (found.kind !== "found") throw new Error("a tile is not in memory");
      for (const [layer, lane] of set.lanes.entries()) {
        const bound = found.value[lane] ?? 0;
        if (bound > 0) out.max[layer] = bound - 1;
      }
    }
    if (aggregation !== "max") {
      const found = grid.sums(field);
      if (found.kind !== "found") throw new Error("a tile is not in memory");
      for (const [layer, lane] of set.lanes.entries()) {
        const offset = (lane >> 2) * 8 + (lane & 3); // four sums, followed by the four areas
        out.mean[layer] = (found.value[offset] ?? Number.NaN) / (found.value[offset + 4] ?? Number.NaN);
      }
    }
    return out;
  });
}

/** Returns a contender that only finds the cells of a circle, the first part of every circle query. */
export function rowSpanContender(
  { set }: InstrumentedAtlas,
  workload: Workload,
): { readonly contender: CircleContender; rowCount(): number } {
  const { grid } = set.cachedField.field;
  return {
    contender: inProcessContender("Isotherm, row spans", (place, radiusKm) => {
      grid.setCircle(circleOf(workload, place, radiusKm));
      return EMPTY_RESULT;
    }),
    /** Rows of a circle of 100 km, averaged over the workload. */
    rowCount() {
      const counts = workload.places.map(
        (_, place) => rowSpans(grid.kernel, grid.grid, circleOf(workload, place, 100)).spanCount,
      );
      return counts.reduce((sum, count) => sum + count, 0) / counts.length;
    },
  };
}

const EMPTY_RESULT = emptyResult();

/** Copies the values of a result into `out` as steps, in the order of QUERIED_LAYERS. */
function readSteps({ results }: HazardResult, method: "max" | "mean", out: CircleResult): void {
  for (const [layer, { scenario, year, metric }] of QUERIED_LAYERS.entries()) {
    const found = results[0]?.scenarios
      .find((element) => element.scenario === scenario)
      ?.analysis_years.find(({ analysis_year }) => scenario === "baseline" || analysis_year === year);
    const value = found?.metrics[metric];
    if (value === undefined) throw new Error(`the result has no ${metric} of ${scenario} ${year}`);
    if (value === null) continue;
    const steps = value * (STEPS_PER_UNIT[layer] ?? Number.NaN);
    out[method][layer] = method === "max" ? Math.round(steps) : steps;
  }
}

const SAMPLE_LAYERS = QUERIED_LAYERS.map(({ scenario, year, metric }) => ({ scenario, analysisYear: year, metric }));

/**
 * Samples single cells in bulk, without an object per place.
 *
 * @returns f64[place][21] in the layers' units, NaN for missing values
 */
export async function samplePoints(
  { atlas }: InstrumentedAtlas,
  places: { readonly latitudes: Float64Array; readonly longitudes: Float64Array },
): Promise<Float64Array> {
  return (await atlas.sample({ hazard: HAZARD, layers: SAMPLE_LAYERS, ...places })).values;
}

/** Samples circles around the workload's places in bulk. */
export async function sampleCircles(
  { atlas }: InstrumentedAtlas,
  { places }: Pick<Workload, "places">,
  { radiusKm, method }: { readonly radiusKm: number; readonly method: "max" | "mean" },
): Promise<Float64Array> {
  const latitudes = Float64Array.from(places, ({ latDeg }) => latDeg);
  const longitudes = Float64Array.from(places, ({ lonDeg }) => lonDeg);
  return (await atlas.sample({ hazard: HAZARD, layers: SAMPLE_LAYERS, latitudes, longitudes, radiusKm, method }))
    .values;
}

/** Returns the sum of all steps, counting 65,535 for a missing value: equal for contenders that read the same cells. */
export function stepSumOf(values: Float64Array): number {
  let sum = 0;
  for (let offset = 0; offset < values.length; offset += LAYER_COUNT) {
    for (let layer = 0; layer < LAYER_COUNT; layer++) {
      const value = values[offset + layer] ?? Number.NaN;
      sum += Number.isNaN(value) ? STEPS_NODATA : Math.round(value * (STEPS_PER_UNIT[layer] ?? Number.NaN));
    }
  }
  return sum;
}
