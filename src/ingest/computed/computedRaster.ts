/**
 * A raster whose bands are metrics that are computed from a series of maps, such as the days of several years. It is read window
 * by window like a map of metrics, so that the rest of the ingest needs no other case.
 */
import {
  type CellWindow,
  checkWindow,
  type FileSpec,
  type Raster,
  type RasterValues,
  type ReprojectedSpec,
  sourceFault,
} from "../raster.ts";
import { gridDifference } from "../target.ts";
import { annualFireWeather, dailyFireWeather, largestCountOf, stripsOf, windEvents } from "./seriesMetrics.ts";
import { type ComputedMethod, mapCountOfMethod, metricsOfMethod } from "../computedMethod.ts";

/** Cells that are computed at a time. */
const STRIP_CELLS = 1 << 20;
/** Winds that are kept at a time: 64 MiB of doubles. */
const KEPT_WINDS_MAX = 8 << 20;

/**
 * Returns the raster of a method, with one band for each of `metricsOfMethod`.
 * @param parts the maps that the method refers to by index
 * @throws Fault `source_invalid` if the maps do not share one grid
 */
export function computedRasterOf(parts: readonly Raster[], method: ComputedMethod): Raster {
  const [first] = parts;
  if (first === undefined) throw new Error("A computed raster needs at least one map.");
  for (const part of parts) {
    const why = gridDifference(first.grid, part.grid);
    if (why !== undefined) throw sourceFault(part.file, `${why} All maps must have the grid of ${first.file}.`);
  }
  const metrics = metricsOfMethod(method);
  const blockRowCount = Math.max(...parts.map((part) => part.blockRowCount));
  let last: { readonly key: string; readonly bands: Promise<readonly Float64Array[]> } | undefined;
  return {
    spec: { kind: "computed", parts: parts.map(partSpec), method },
    file: parts.length === 1 ? first.file : `the series of ${parts.length} files from ${first.file}`,
    grid: first.grid,
    crs: first.crs,
    bands: metrics.map(({ metric, unit }) => ({
      name: metric,
      type: "float64",
      nodata: [],
      scale: 1,
      offset: 0,
      unit,
      coordinates: {},
    })),
    blockRowCount,
    blockColumnCount: Math.max(...parts.map(({ blockColumnCount }) => blockColumnCount)),
    notes: { map_count: mapCountOfMethod(method) },
    parts,
    async readWindow(window): Promise<RasterValues> {
      checkWindow(window, first.grid, metrics.length);
      const { band, ...cells } = window;
      // The bands of a window are read one after another, so all are computed when the first is read.
      const key = JSON.stringify([cells.firstRow, cells.rowCount, cells.firstColumn, cells.columnCount]);
      if (last?.key !== key) last = { key, bands: compute(parts, cells, { method, blockRowCount }) };
      const bands = await last.bands;
      return bands[band - 1] as Float64Array;
    },
    async close() {
      for (const part of parts) await part.close();
    },
  };
}

function partSpec({ spec }: Raster): FileSpec | ReprojectedSpec {
  if (spec.kind !== "file" && spec.kind !== "reprojected") throw new Error("A series consists of maps in files.");
  return spec;
}

async function compute(
  parts: readonly Raster[],
  window: CellWindow,
  { method, blockRowCount }: { readonly method: ComputedMethod; readonly blockRowCount: number },
): Promise<readonly Float64Array[]> {
  const cellCount = window.rowCount * window.columnCount;
  const bands = metricsOfMethod(method).map(() => new Float64Array(cellCount));
  const keptCount = method.kind === "wind-events" ? largestCountOf(method) : 0;
  const cellCountMax = keptCount === 0 ? STRIP_CELLS : Math.min(STRIP_CELLS, Math.floor(KEPT_WINDS_MAX / keptCount));
  for (const strip of stripsOf(window, { cellCountMax, blockRowCount })) {
    const computed = await computeStrip(parts, strip, method);
    const to = (strip.firstRow - window.firstRow) * window.columnCount;
    for (const [index, values] of computed.entries()) bands[index]?.set(values, to);
  }
  return bands;
}

function computeStrip(
  parts: readonly Raster[],
  strip: CellWindow,
  method: ComputedMethod,
): Promise<readonly Float64Array[]> {
  switch (method.kind) {
    case "daily-fire-weather":
      return dailyFireWeather(parts, strip, method);
    case "annual-fire-weather":
      return annualFireWeather(parts, strip, method);
    case "wind-events":
      return windEvents(parts, strip, method);
    default:
      return method satisfies never;
  }
}
