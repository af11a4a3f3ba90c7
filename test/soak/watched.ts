import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { DemoCredentials } from "../../src/cli/demoCredentials.ts";

import { KeptConnection, requestBytes } from "./connection.ts";

/** `ISOTHERM_SOAK_…`: how much of a campaign is done. */
export function sizeOf(name: string, small: number): number {
  const count = Number(process.env[`ISOTHERM_SOAK_${name}`] ?? small);
  if (!Number.isInteger(count) || count < 1) throw new Error(`ISOTHERM_SOAK_${name} must be a whole number.`);
  return count;
}

/** What a process holds, after garbage has been collected. */
export interface Holding {
  /** What the main thread can still reach, bytes: objects and the buffers behind them. */
  readonly reachableBytes: number;
  readonly residentBytes: number;
  /** Files and sockets that are open. */
  readonly descriptorCount: number;
  /** How often the main thread's whole heap was collected so far, not counting what this question costs. */
  readonly wholeCollectionCount: number;
}

/** `isotherm serve --demo` in a process of its own that is looked at from outside. */
export interface WatchedService {
  readonly port: number;
  /** Of the account of the demo. */
  readonly headers: Readonly<Record<string, string>>;
  /** What it has written so far. */
  output(): string;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  holding(): Promise<Holding>;
  residentBytes(): Promise<number>;
  /** SIGTERM, as an operator does. Resolves when it has ended. */
  stop(): Promise<void>;
}

const BUILT = fileURLToPath(new URL("../../dist", import.meta.url));
const START_TIMEOUT_MS = 60_000;
/** Of collecting what may be gigabytes, on a machine that has much else to do. */
const COLLECT_TIMEOUT_MS = 120_000;
/** More than any campaign asks for in its time; and nothing is written about each answer. */
const FLAGS = ["--requests-per-second", "1000000000", "--request-burst", "1000000000", "--log", "none"];

/** @param options `flags` beyond those of every service here, or instead of them */
export async function watchedService(
  data: string,
  { built = BUILT, flags = [] }: { readonly built?: string; readonly flags?: readonly string[] } = {},
): Promise<WatchedService> {
  const collecting = fileURLToPath(new URL("collecting.mjs", import.meta.url));
  const own = ["--port", "0", "--admin-port", "none", "--drain-delay", "0", "--data", data];
  const child = spawn(
    process.execPath,
    ["--import", collecting, join(built, "cli/main.js"), "serve", "--demo", ...own, ...FLAGS, ...flags],
    { env: { PATH: process.env["PATH"] }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const { pid = 0 } = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  // A campaign that fails, or takes too long, leaves nothing running behind it.
  const abandon = (): void => void child.kill("SIGKILL");
  process.once("exit", abandon);
  let isEnded = false;
  const ended = new Promise<Awaited<WatchedService["ended"]>>((resolve) => {
    child.once("close", (code, signal) => {
      process.off("exit", abandon);
      isEnded = true;
      resolve({ code, signal });
    });
  });
  /** What `find` finds in all that the service has written, as soon as it does. */
  const written = async (find: (text: string) => string | undefined, timeoutMs: number): Promise<string> => {
    for (const sinceMs = performance.now(); ; await setTimeout(5)) {
      const found = find(output);
      if (found !== undefined) return found;
      if (isEnded || performance.now() - sinceMs > timeoutMs) {
        child.kill("SIGKILL");
        throw new Error(`The service ${isEnded ? "has ended" : "says nothing"}: ${output}`);
      }
    }
  };
  const url = await written((text) => /Isotherm listens on (\S+)[^]*Try it:/.exec(text)?.[1], START_TIMEOUT_MS);
  const credentials = JSON.parse(await readFile(join(data, "demo-credentials.json"), "utf8")) as DemoCredentials;
  const residentBytes = async (): Promise<number> => {
    const [, kibibytes] = /^VmRSS:\s+([0-9]+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kibibytes) * 1024;
  };
  let collectedCount = 0;
  return {
    port: Number(new URL(url).port),
    headers: { "X-API-Key": credentials.api_key, "X-Customer-ID": credentials.customer_id },
    output: () => output,
    ended,
    residentBytes,
    async holding() {
      if (!isEnded) child.kill("SIGUSR2");
      collectedCount++;
      const text = await written(
        (all) => all.split("MEMORY ")[collectedCount]?.match(/^(.*)\n/)?.[1],
        COLLECT_TIMEOUT_MS,
      );
      const memory = JSON.parse(text) as NodeJS.MemoryUsage & Pick<Holding, "wholeCollectionCount">;
      return {
        reachableBytes: memory.heapUsed + memory.external,
        residentBytes: await residentBytes(),
        descriptorCount: (await readdir(`/proc/${pid}/fd`)).length,
        wholeCollectionCount: memory.wholeCollectionCount,
      };
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Units in the ledger, all meters together. */
export async function countedUnits({ port, headers }: WatchedService): Promise<number> {
  const connection = await KeptConnection.open(port);
  const answer = await connection.ask(requestBytes("GET /latest/api/v1/usage", { headers }));
  connection.end();
  const { items } = JSON.parse(answer?.body ?? "") as { readonly items: readonly { readonly units: number }[] };
  return items.reduce((sum, { units }) => sum + units, 0);
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** For the report of a run. */
export function toldOf({ reachableBytes, residentBytes, descriptorCount }: Holding): string {
  const inUse = `${mebibytes(reachableBytes)} reachable, ${mebibytes(residentBytes)} resident`;
  return `${inUse}, ${descriptorCount} descriptors`;
}
