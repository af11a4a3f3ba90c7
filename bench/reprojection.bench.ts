/**
 * Times the ingest of a synthetic map of flood depths in Web Mercator, a tiled DEFLATE GeoTIFF of 32-bit floats, against
 * gdalwarp, which writes the nearest cells of the same map to a tiled DEFLATE file with the same cells. Each run is a
 * separate process; its processor time includes all threads and the start.
 *
 *   npm run build && npm run bench -- reprojection columns=8192 rounds=3
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DepthMaps } from "./depthMaps.ts";
import { median } from "./measure.ts";
import { isInstalled, numberArgument, type Run, timed } from "./processTime.ts";
import { print } from "./row.ts";

const SEED = 8;
const LIBRARY = new URL("../../../dist/ingest/ingest.js", import.meta.url).href;
const INGEST = `
  const { ingestLayers } = await import(process.argv[1]);
  const { totals } = await ingestLayers({
    manifest: process.argv[2],
    out: process.argv[3],
    cellSizeDeg: Number(process.argv[4]),
    bbox: { westDeg: -180, southDeg: -50, eastDeg: 180, northDeg: 50 },
  });
  console.log(totals.sourceCells);
`;
/** Half the width of the map, in meters. */
const EAST_M = 20_037_508.342_789_244;
/** Latitude 55; farther north, cells of the map are much smaller than cells of degrees. */
const NORTH_M = 7_361_866;

const columnCount = numberArgument("columns", 8192);
const rounds = numberArgument("rounds", 3);
const cellSizeDeg = 360 / columnCount;
const cellSizeM = (2 * EAST_M) / columnCount;
// The noise of the maps is generated in cells; only their number matters.
const grid = {
  rowCount: Math.floor((2 * NORTH_M) / cellSizeM),
  columnCount,
  northDeg: 55,
  westDeg: -180,
  cellSizeLatDeg: 100 / columnCount,
  cellSizeLonDeg: cellSizeDeg,
};
const georeference = {
  cellSize: [cellSizeM, cellSizeM],
  northwest: [-EAST_M, NORTH_M],
  geoKeys: [1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 3857],
} as const;

const folder = await mkdtemp(join(tmpdir(), "isotherm-reprojection-bench-"));
try {
  const map = join(folder, "mercator.tif");
  await new DepthMaps({ grid, seed: SEED, georeference }).write(new Map([[100, map]]));
  const manifest = join(folder, "manifest.json");
  const layers = [{ scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: "mercator.tif" }];
  const source = { name: "Synthetic", licence: "none" };
  await writeFile(manifest, JSON.stringify({ hazard: "riverine_floods", source, layers }));
  const ours: Run[] = [];
  const theirs: Run[] = [];
  const hasGdal = isInstalled("gdalwarp");
  for (let round = 0; round < rounds; round++) {
    const out = join(folder, "atlas");
    const script = ["--input-type=module", "-e", INGEST, LIBRARY, manifest, out, String(cellSizeDeg)];
    ours.push(await timed([process.execPath, ...script]));
    await rm(out, { recursive: true });
    if (!hasGdal) continue;
    const warped = join(folder, "warped.tif");
    const size = ["-tr", String(cellSizeDeg), String(cellSizeDeg), "-te", "-180", "-50", "180", "50"];
    const format = ["-co", "TILED=YES", "-co", "COMPRESS=DEFLATE"];
    theirs.push(await timed(["gdalwarp", "-q", "-t_srs", "EPSG:4326", "-r", "near", ...size, ...format, map, warped]));
    await rm(warped);
  }
  const cells = Number(ours[0]?.output);
  const cpuSeconds = median(ours.map((run) => run.cpuSeconds));
  const row = { bench: "reprojection", grid: `${columnCount} x ${grid.rowCount} cells in Web Mercator` } as const;
  print({
    ...row,
    name: "ingest of a projected map, processor time of all threads",
    unit: "million cells of the atlas per CPU second",
    ours: cells / 1e6 / cpuSeconds,
  });
  print({
    ...row,
    name: "ingest of a projected map, processor time",
    against: "gdalwarp -r near to tiled DEFLATE",
    unit: "CPU seconds",
    ours: cpuSeconds,
    ...(hasGdal ? { theirs: median(theirs.map((run) => run.cpuSeconds)) } : { note: "gdalwarp is not installed" }),
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
