/**
 * Times `isotherm portfolio` from a CSV file to a Parquet file: places on a stored part of the demo world in random order,
 * every hazard, scenario and year, at points and within 10 km. Each run is a separate process; its times include the start.
 *
 *   npm run build && npm run bench -- placeFiles
 *   npm run bench -- placeFiles rows=100000 workers=1
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PlaceReport } from "../src/places/run/placeReport.ts";
import { numberArgument, type Run, timed } from "./processTime.ts";
import { print } from "./row.ts";
import { prepareStoredDemo, STORED_DEMO_PLACES } from "./storedDemo.ts";
import { generatePlaces } from "./workload.ts";

const ROWS = numberArgument("rows", 1_000_000);
const WORKERS = numberArgument("workers", availableParallelism());
const LINES_PER_WRITE = 10_000;
/** The package as it is published; its dependencies are bundled, so that threads start faster. */
const PROGRAM = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
if (!existsSync(PROGRAM)) throw new Error("The package is not built. Run: npm run build");
/** Prints the peak memory of the process in KiB. */
const RUN = `
  process.on("exit", () => console.log("\\n" + process.resourceUsage().maxRSS));
  await import(process.argv[1]);
`;

interface FileRun extends Run {
  readonly peakMemoryMiB: number;
  readonly report: PlaceReport;
}

async function writePlaces(path: string): Promise<void> {
  const places = generatePlaces({ ...STORED_DEMO_PLACES, places: { ...STORED_DEMO_PLACES.places, count: ROWS } });
  function* text(): Generator<string> {
    yield "site,latitude,longitude\n";
    for (let first = 0; first < places.length; first += LINES_PER_WRITE) {
      const lines = places.slice(first, first + LINES_PER_WRITE);
      yield lines.map(({ latDeg, lonDeg }, i) => `${first + i + 1},${latDeg},${lonDeg}\n`).join("");
    }
  }
  await writeFile(path, text());
}

async function score(input: string, output: string, radiusKm: number): Promise<FileRun> {
  const options = ["--atlas", stored.atlasFolder, "--radius", String(radiusKm), "--workers", String(WORKERS), "--json"];
  const command = [process.execPath, "--input-type=module", "-e", RUN, PROGRAM, "portfolio", input, output];
  const run = await timed([...command, ...options]);
  const peakMemoryMiB = Number(run.output.trimEnd().split("\n").at(-1)) / 1024;
  const report = JSON.parse(await readFile(`${output}.report.json`, "utf8")) as PlaceReport;
  return { ...run, peakMemoryMiB, report };
}

function printRun(places: string, run: FileRun, { engineShareMin }: { readonly engineShareMin?: number }): void {
  const { value_count, timing } = run.report;
  const row = { bench: "placeFiles", state: `${WORKERS} workers` };
  const name = `${ROWS.toLocaleString("en")} ${places}`;
  print({ ...row, name: `${name}, elapsed time`, unit: "places per second", ours: ROWS / run.wallSeconds });
  print({
    ...row,
    name: `${name}, elapsed time`,
    unit: "million values per second",
    ours: value_count / 1e6 / run.wallSeconds,
  });
  print({ ...row, name: `${name}, processor time of all threads`, unit: "CPU seconds", ours: run.cpuSeconds });
  print({
    ...row,
    name: `${name}, peak memory`,
    unit: "MiB",
    ours: run.peakMemoryMiB,
    target: { atMost: 1024 },
  });
  const totalSeconds = Object.values(timing.seconds).reduce((sum, seconds) => sum + seconds, 0);
  for (const part of ["reading", "engine", "encoding", "writing"] as const) {
    print({
      ...row,
      name: `${name}, time of ${part}`,
      unit: "% of the time of all parts",
      ours: (100 * timing.seconds[part]) / totalSeconds,
      ...(part === "engine" && engineShareMin !== undefined ? { target: { atLeast: engineShareMin } } : {}),
    });
  }
}

const stored = await prepareStoredDemo();
// In the folder of the cached maps, because the folder for temporary files may be in memory.
const folder = await mkdtemp(join("build", "bench-data", "placeFiles-"));
try {
  const input = join(folder, "places.csv");
  await writePlaces(input);
  printRun("points", await score(input, join(folder, "points.parquet"), 0), {});
  const circles = await score(input, join(folder, "circles.parquet"), 10);
  printRun("circles of 10 km", circles, { engineShareMin: 50 });
} finally {
  await rm(folder, { recursive: true, force: true });
}
