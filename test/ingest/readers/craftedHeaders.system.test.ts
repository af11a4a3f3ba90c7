/** Reads files that are crafted to exhaust memory or time with the built reader, in child processes. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { craftedFile } from "./craftedHeaders.ts";

const FILE_COUNT = Number(process.env["ISOTHERM_CRAFTED_HEADERS"] ?? 200);
/** Maximum CPU time for a file, independent of machine load; a process that exceeds it is killed. */
const CPU_MS_MAX = 2000;
/** Maximum elapsed time, for readers that hang. */
const ELAPSED_MS_MAX = 30_000;
const MEMORY_BYTES_MAX = 300 << 20;
const READER = fileURLToPath(new URL("readCrafted.mjs", import.meta.url));
const BUILT = fileURLToPath(new URL("../../../dist/ingest/readers/geotiff/geotiff.js", import.meta.url));

interface Outcome {
  readonly kind: "read" | "rejected" | "failed" | "too slow" | "crashed";
  readonly message?: string;
  readonly ms: number;
  readonly peakBytes: number;
}

let folder: string;
beforeAll(async () => {
  if (!existsSync(BUILT)) throw new Error("dist/ is missing: run `npm run build` first.");
  folder = await mkdtemp(join(tmpdir(), "isotherm-crafted-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test(
  `reads or rejects ${FILE_COUNT} crafted files in bounded memory and time`,
  async () => {
    const outcomes = new Map<string, Outcome>();
    const reader = new Reader();
    try {
      await reader.ready();
      for (let seed = 0; seed < FILE_COUNT; seed++) {
        const { name, bytes, sizeBytes, sidecars = {} } = craftedFile(seed);
        const caseFolder = await mkdtemp(join(folder, "case-"));
        const file = join(caseFolder, "map.tif");
        await writeFile(file, bytes);
        if (sizeBytes !== undefined) await truncate(file, Math.max(sizeBytes, bytes.length));
        for (const [suffix, text] of Object.entries(sidecars)) {
          await writeFile(suffix === ".tfw" ? join(caseFolder, "map.tfw") : `${file}${suffix}`, text);
        }
        outcomes.set(name, await reader.read(file));
        await rm(caseFolder, { recursive: true });
      }
    } finally {
      reader.stop();
    }
    report(outcomes);
    const unexpected = [...outcomes].filter(
      ([, { kind, peakBytes }]) => (kind !== "read" && kind !== "rejected") || peakBytes > MEMORY_BYTES_MAX,
    );
    expect(Object.fromEntries(unexpected)).toEqual({});
    expect([...outcomes.values()].filter(({ kind }) => kind === "rejected").length).toBeGreaterThan(FILE_COUNT / 2);
  },
  60_000 + FILE_COUNT * 1000,
);

function report(outcomes: ReadonlyMap<string, Outcome>): void {
  const all = [...outcomes];
  const count = (kind: Outcome["kind"]): number => all.filter(([, outcome]) => outcome.kind === kind).length;
  const worst = (by: "ms" | "peakBytes"): readonly [string, Outcome] | undefined =>
    all.toSorted(([, a], [, b]) => b[by] - a[by])[0];
  const slowest = worst("ms");
  const largest = worst("peakBytes");
  console.log(
    `crafted files: ${all.length}; rejected ${count("rejected")}, read ${count("read")}, ` +
      `other ${all.length - count("rejected") - count("read")}; ` +
      `slowest ${slowest?.[1].ms.toFixed(0)} ms (${slowest?.[0]}), ` +
      `largest ${((largest?.[1].peakBytes ?? 0) / 2 ** 20).toFixed(0)} MiB (${largest?.[0]})`,
  );
}

/** Returns the CPU time of a process so far, or undefined if the system does not report it. */
function cpuMsOf(pid: number | undefined): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    const TICK_MS = 10;
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}

/** A child process that reads files; restarted after a crash. */
class Reader {
  #child: ChildProcessWithoutNullStreams | undefined;
  #lines: AsyncIterator<string> | undefined;
  #interface: Interface | undefined;

  /** Starts the process and waits until the reader is loaded, so that loading is not measured. */
  async ready(): Promise<void> {
    if (this.#child !== undefined) return;
    const child = spawn(process.execPath, ["--expose-gc", "--max-old-space-size=256", READER]);
    child.stderr.resume();
    this.#child = child;
    this.#interface = createInterface({ input: child.stdout });
    this.#lines = this.#interface[Symbol.asyncIterator]();
    child.stdin.on("error", () => undefined); // from a child that exited
    child.stdin.write("/nowhere/none.tif\n");
    await this.#lines.next();
  }

  async read(file: string): Promise<Outcome> {
    await this.ready();
    const child = this.#child;
    child?.stdin.write(`${file}\n`);
    let isSlow = false;
    const before = cpuMsOf(child?.pid);
    const startedMs = performance.now();
    const timer = setInterval(() => {
      const isLate = performance.now() - startedMs > (before === undefined ? CPU_MS_MAX : ELAPSED_MS_MAX);
      if (!isLate && (cpuMsOf(child?.pid) ?? 0) - (before ?? 0) <= CPU_MS_MAX) return;
      isSlow = true;
      child?.kill("SIGKILL");
    }, 100);
    const line = await this.#lines?.next();
    clearInterval(timer);
    if (isSlow) this.stop(); // The process is killed even if it responded just before.
    if (line !== undefined && line.done !== true) return JSON.parse(line.value) as Outcome;
    this.stop(); // No effect if the process was already stopped.
    return { kind: isSlow ? "too slow" : "crashed", ms: CPU_MS_MAX, peakBytes: 0 };
  }

  stop(): void {
    this.#interface?.close();
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }
}
