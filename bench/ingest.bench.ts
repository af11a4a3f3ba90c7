/**
 * Times the ingest of synthetic world maps of flood depths, one tiled DEFLATE GeoTIFF of 32-bit floats for each return period,
 * against gdal_translate, which converts the same files to tiled DEFLATE. Each run is a separate process; its processor time
 * includes all threads and the start.
 *
 *   npm run build && npm run bench -- ingest columns=21600 periods=3 rounds=3
 *   npm run bench -- ingest columns=43200 periods=9 rounds=1 stored=2048    only 2048 rows; the others are omitted
 *   npm run bench -- ingest columns=5400 rounds=1 kills=10    also kills and resumes an ingest, and compares the files
 */
import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { worldGrid } from "../src/kernel/grid.ts";
import { DepthMaps } from "./depthMaps.ts";
import { ingestWithKills } from "./ingestKills.ts";
import { median } from "./measure.ts";
import { print } from "./row.ts";

const SEED = 7;
const RETURN_PERIODS_YEARS = [2, 5, 10, 25, 50, 100, 250, 500, 1000];
/** The package as it is published; its dependencies are bundled, so that threads start faster. */
const LIBRARY = new URL("../../../dist/ingest/ingest.js", import.meta.url);
if (!existsSync(LIBRARY)) throw new Error("The package is not built. Run: npm run build");
/** Prints the peak memory of the process in KiB. */
const INGEST = `
  const { ingestAqueductFloods } = await import(process.argv[1]);
  await ingestAqueductFloods({ sources: [process.argv[2]], out: process.argv[3] });
  console.log(process.resourceUsage().maxRSS);
`;

const columnCount = numberArgument("columns", 10_800);
const periodCount = numberArgument("periods", 3);
const rounds = numberArgument("rounds", 3);
const grid = worldGrid(columnCount);
const killCount = numberArgument("kills", 0);
const storedRowCount = numberArgument("stored", grid.rowCount);
// With three periods: 10, 100 and 1000 years, which span the design return period.
const periods = periodCount === 3 ? [10, 100, 1000] : RETURN_PERIODS_YEARS.slice(-periodCount);
/** Omitted rows take almost no time, so only memory is measured. */
const isSparse = storedRowCount < grid.rowCount;
const sourceCells = grid.rowCount * grid.columnCount * periods.length;

interface Run {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly output: string;
}

const folder = await mkdtemp(join(tmpdir(), "isotherm-ingest-bench-"));
try {
  const maps = join(folder, "maps");
  await mkdir(maps);
  const paths = new Map(
    periods.map((years) => [
      years,
      join(maps, `inunriver_rcp4p5_MIROC-ESM-CHEM_2030_rp${String(years).padStart(5, "0")}.tif`),
    ]),
  );
  await new DepthMaps({ grid, seed: SEED }).write(paths, storedRowCount);
  const ours: Run[] = [];
  const theirs: Run[] = [];
  const hasGdal = isInstalled("gdal_translate") && !isSparse;
  const ingestInto = (out: string): readonly string[] => {
    return [process.execPath, "--input-type=module", "-e", INGEST, LIBRARY.href, maps, out];
  };
  const expected = join(folder, "atlas");
  for (let round = 0; round < rounds; round++) {
    await rm(expected, { recursive: true, force: true });
    ours.push(await timed(ingestInto(expected)));
    if (!hasGdal) continue;
    const converted = join(folder, "converted.tif");
    const runs: Run[] = [];
    for (const path of paths.values()) {
      runs.push(await timed(["gdal_translate", "-q", "-co", "TILED=YES", "-co", "COMPRESS=DEFLATE", path, converted]));
      await rm(converted);
    }
    theirs.push({
      wallSeconds: runs.reduce((sum, run) => sum + run.wallSeconds, 0),
      cpuSeconds: runs.reduce((sum, run) => sum + run.cpuSeconds, 0),
      output: "",
    });
  }
  const cpuSeconds = median(ours.map((run) => run.cpuSeconds));
  const wallSeconds = median(ours.map((run) => run.wallSeconds));
  const row = {
    bench: "ingest",
    grid: `${grid.columnCount} x ${grid.rowCount}, ${periods.length} return periods${isSparse ? `, ${storedRowCount} rows stored` : ""}`,
  } as const;
  const rateUnit = "million source cells";
  if (!isSparse) {
    print({
      ...row,
      name: "ingest, processor time of all threads",
      unit: `${rateUnit} per CPU second`,
      ours: sourceCells / 1e6 / cpuSeconds,
      target: { atLeast: 12 },
    });
    print({
      ...row,
      name: "ingest, elapsed time",
      unit: `${rateUnit} per second`,
      ours: sourceCells / 1e6 / wallSeconds,
      target: { atLeast: 25 },
    });
    print({
      ...row,
      name: "ingest, processor time",
      against: "gdal_translate to tiled DEFLATE",
      unit: "CPU seconds",
      ours: cpuSeconds,
      target: { atMost: 4 },
      ...(hasGdal
        ? { theirs: median(theirs.map((run) => run.cpuSeconds)) }
        : { note: "gdal_translate is not installed" }),
    });
  }
  print({
    ...row,
    name: "ingest, peak memory",
    unit: "MiB",
    ours: Math.max(...ours.map(({ output }) => Number(output) / 1024)),
    target: { atMost: 1024 },
  });
  if (killCount > 0) {
    const out = join(folder, "killed");
    const killed = await ingestWithKills(ingestInto(out), { out, expected, killCount, durationMs: 1000 * wallSeconds });
    print({
      ...row,
      name: `ingest, files that differ after ${killed.killCount} kills and resumes`,
      unit: "files",
      ours: killed.differentFileCount,
      target: { atMost: 0 },
    });
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Runs a program and returns its processor time, which the shell measures. */
async function timed(command: readonly string[]): Promise<Run> {
  const script = `TIMEFORMAT='seconds %R %U %S'; time "$@"`;
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", script, "bash", ...command]);
  const [, wall, user, system] = /seconds ([\d.]+) ([\d.]+) ([\d.]+)/.exec(stderr) ?? [];
  if (system === undefined) throw new Error(`The shell printed no times: ${stderr}`);
  return { wallSeconds: Number(wall), cpuSeconds: Number(user) + Number(system), output: stdout };
}

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Returns the number of an argument such as `columns=5400`. */
function numberArgument(name: string, byDefault: number): number {
  const text = process.argv.find((argument) => argument.startsWith(`${name}=`))?.slice(name.length + 1);
  const value = text === undefined ? byDefault : Number(text);
  if (!(Number.isInteger(value) && (value > 0 || text === undefined)))
    throw new Error(`${name} must be a positive integer (got ${text})`);
  return value;
}
