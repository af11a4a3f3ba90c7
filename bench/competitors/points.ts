/** Competitors that read single cells: all 21 layers at the first `pointCount` random points of the workload. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { LAYER_COUNT } from "../floodMaps.ts";
import { readQueriedCells, POINT_COUNT, type Workload } from "../workload.ts";
import { startPython } from "./python.ts";

interface PointContender {
  readonly name: string;
  /** Points per measurement, chosen to take at most a second or two. */
  readonly pointCount: number;
  /** Reads the points. @returns elapsed time, and the sum of all steps read, in which nodata is 65,535 */
  run(pointCount: number): Promise<{ readonly nanoseconds: number; readonly stepSum: number }>;
  close(): Promise<void>;
}

export type OpenPointCompetitor = (workload: Workload) => Promise<PointContender | string>;

/** Reads the coordinates of the workload's random points, f64[POINT_COUNT] each. */
export async function readPoints({
  pointsPath,
}: Workload): Promise<{ latitudes: Float64Array; longitudes: Float64Array }> {
  const bytes = await readFile(pointsPath);
  const coordinates = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  return { latitudes: coordinates.slice(0, POINT_COUNT), longitudes: coordinates.slice(POINT_COUNT) };
}

/** The straightforward loop over one array per band, the form in which raster readers return them. */
export const plainJavaScript: OpenPointCompetitor = async (workload) => {
  const { cells, grid } = await readQueriedCells(workload.spec, workload.cellsPath);
  const { latitudes, longitudes } = await readPoints(workload);
  const cellCount = grid.rowCount * grid.columnCount;
  const bands = Array.from({ length: LAYER_COUNT }, (_, layer) => {
    const band = new Uint16Array(cellCount);
    for (let cell = 0; cell < cellCount; cell++) band[cell] = cells[cell * LAYER_COUNT + layer] as number;
    return band;
  });
  const out = new Float64Array(POINT_COUNT * LAYER_COUNT);
  return {
    name: "plain JavaScript, in memory",
    pointCount: POINT_COUNT,
    run: (pointCount) => {
      const start = performance.now();
      for (let i = 0; i < pointCount; i++) {
        const row = Math.min(
          grid.rowCount - 1,
          Math.floor((grid.northDeg - (latitudes[i] as number)) / grid.cellSizeLatDeg),
        );
        const column = Math.min(
          grid.columnCount - 1,
          Math.floor(((longitudes[i] as number) - grid.westDeg) / grid.cellSizeLonDeg),
        );
        const cell = row * grid.columnCount + column;
        for (let layer = 0; layer < LAYER_COUNT; layer++) {
          out[i * LAYER_COUNT + layer] = (bands[layer] as Uint16Array)[cell] as number;
        }
      }
      const nanoseconds = (performance.now() - start) * 1e6;
      let stepSum = 0;
      for (let i = 0; i < pointCount * LAYER_COUNT; i++) stepSum += out[i] as number;
      return Promise.resolve({ nanoseconds, stepSum });
    },
    close: () => Promise.resolve(),
  };
};

function pythonCompetitor(
  competitor: string,
  module: string,
  description: Pick<PointContender, "name" | "pointCount">,
): OpenPointCompetitor {
  return async (workload) => {
    const child = await startPython(competitor, module, workload);
    if (typeof child === "string") return child;
    return {
      ...description,
      async run(pointCount) {
        const [nanoseconds = Number.NaN, stepSum = Number.NaN] = await child.request(`points ${pointCount}`);
        return { nanoseconds, stepSum };
      },
      close: () => child.close(),
    };
  };
}

export const numpyIndex = pythonCompetitor("numpyIndex", "numpy", {
  name: "numpy fancy index, in memory",
  pointCount: POINT_COUNT,
});
export const rasterioSample = pythonCompetitor("rasterioSample", "rasterio", {
  name: "rasterio.sample",
  pointCount: 10_000,
});

/** gdallocationinfo with all points on standard input. The time includes process startup, as it does for its users. */
export const gdalLocationInfo: OpenPointCompetitor = async (workload) => {
  const { latitudes, longitudes } = await readPoints(workload);
  try {
    await promisify(execFile)("gdallocationinfo", ["--version"]);
  } catch {
    return "gdallocationinfo is not installed";
  }
  return {
    name: "gdallocationinfo",
    pointCount: 10_000,
    async run(pointCount) {
      let input = "";
      for (let i = 0; i < pointCount; i++) input += `${longitudes[i]} ${latitudes[i]}\n`;
      const start = performance.now();
      const text = await runWithInput("gdallocationinfo", ["-valonly", "-wgs84", workload.geoTiffPath], input);
      const nanoseconds = (performance.now() - start) * 1e6;
      const stepSum = text
        .split(/\s+/)
        .filter((value) => value !== "")
        .reduce((sum, value) => sum + Number(value), 0);
      return { nanoseconds, stepSum };
    },
    close: () => Promise.resolve(),
  };
};

function runWithInput(command: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { maxBuffer: 1 << 30 }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    child.stdin?.end(input);
  });
}
