import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { DemoCredentials } from "../../src/cli/demoCredentials.ts";
import { type FaultName, serveCommandLine } from "../faults/faultNames.ts";
import { startedUrl } from "../startedUrl.ts";
import { KeepAliveConnection, requestBytes } from "./connection.ts";

/** Reads a setting of a soak test, an integer of at least 1, from `ISOTHERM_SOAK_<name>`. */
export function integerSetting(name: string, defaultValue: number): number {
  const text = process.env[`ISOTHERM_SOAK_${name}`];
  const value = Number(text ?? defaultValue);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`ISOTHERM_SOAK_${name} must be an integer of at least 1 (got ${text})`);
  }
  return value;
}

/** Resources held by a process after garbage collection. */
export interface ResourceUsage {
  /** Bytes reachable from the main thread: objects and the buffers they own. */
  readonly reachableBytes: number;
  readonly residentBytes: number;
  /** Open files and sockets. */
  readonly descriptorCount: number;
  /** Major garbage collections of the main thread so far, excluding those forced by this measurement. */
  readonly majorCollectionCount: number;
}

/** `isotherm serve --demo` in a separate process whose resource usage is measured. */
export interface ServiceProcess {
  readonly port: number;
  /** Authentication headers of the demo account. */
  readonly headers: Readonly<Record<string, string>>;
  /** Everything written to standard output and standard error so far. */
  output(): string;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  resourceUsage(): Promise<ResourceUsage>;
  residentBytes(): Promise<number>;
  /** Sends SIGTERM and waits for the process to exit. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 300_000;
/** Garbage collection of gigabytes takes long on a busy machine. */
const COLLECT_TIMEOUT_MS = 120_000;
/** Rate limits above what any campaign sends, and no log line per response. */
const FLAGS = ["--requests-per-second", "1000000000", "--request-burst", "1000000000", "--log", "none"];

/**
 * @param options `fault` is injected; `flags` are appended to the flags that all services here have, and override them
 */
export async function startServiceProcess(
  data: string,
  { fault, flags = [] }: { readonly fault?: FaultName | undefined; readonly flags?: readonly string[] } = {},
): Promise<ServiceProcess> {
  const heapReporter = fileURLToPath(new URL("heapReporter.mjs", import.meta.url));
  const serviceFlags = ["--port", "0", "--admin-port", "none", "--drain-delay", "0", "--data", data];
  const child = spawn(
    process.execPath,
    ["--import", heapReporter, ...serveCommandLine(fault), "--demo", ...serviceFlags, ...FLAGS, ...flags],
    { env: { PATH: process.env["PATH"] }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const { pid = 0 } = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  // A campaign that fails or times out must not leave the process running.
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  let hasExited = false;
  const exited = new Promise<Awaited<ServiceProcess["exited"]>>((resolve) => {
    child.once("close", (code, signal) => {
      process.off("exit", kill);
      hasExited = true;
      resolve({ code, signal });
    });
  });
  /** Polls the output until `find` returns a value. */
  const waitForOutput = async (find: (text: string) => string | undefined, timeoutMs: number): Promise<string> => {
    for (const sinceMs = performance.now(); ; await setTimeout(5)) {
      const found = find(output);
      if (found !== undefined) return found;
      if (hasExited || performance.now() - sinceMs > timeoutMs) {
        child.kill("SIGKILL");
        throw new Error(`the service ${hasExited ? "has exited" : "did not print the expected output"}: ${output}`);
      }
    }
  };
  const url = await waitForOutput(startedUrl, START_TIMEOUT_MS);
  const credentials = JSON.parse(await readFile(join(data, "demo-credentials.json"), "utf8")) as DemoCredentials;
  const residentBytes = async (): Promise<number> => {
    const [, kibibytes] = /^VmRSS:\s+([0-9]+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kibibytes) * 1024;
  };
  let reportCount = 0;
  return {
    port: Number(new URL(url).port),
    headers: { "X-API-Key": credentials.api_key, "X-Customer-ID": credentials.customer_id },
    output: () => output,
    exited,
    residentBytes,
    async resourceUsage() {
      if (!hasExited) child.kill("SIGUSR2");
      reportCount++;
      const text = await waitForOutput(
        (all) => all.split("MEMORY ")[reportCount]?.match(/^(.*)\n/)?.[1],
        COLLECT_TIMEOUT_MS,
      );
      const memory = JSON.parse(text) as NodeJS.MemoryUsage & Pick<ResourceUsage, "majorCollectionCount">;
      return {
        reachableBytes: memory.heapUsed + memory.external,
        residentBytes: await residentBytes(),
        descriptorCount: (await readdir(`/proc/${pid}/fd`)).length,
        majorCollectionCount: memory.majorCollectionCount,
      };
    },
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** Returns the usage units in the ledger, summed over all meters. */
export async function ledgerUnits({ port, headers }: ServiceProcess): Promise<number> {
  const connection = await KeepAliveConnection.open(port);
  const response = await connection.send(requestBytes("GET /latest/api/v1/usage", { headers }));
  connection.close();
  const { items } = JSON.parse(response?.body ?? "") as { readonly items: readonly { readonly units: number }[] };
  return items.reduce((sum, { units }) => sum + units, 0);
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Formats resource usage for the console output of a run. */
export function formatUsage({ reachableBytes, residentBytes, descriptorCount }: ResourceUsage): string {
  const memory = `${mebibytes(reachableBytes)} reachable, ${mebibytes(residentBytes)} resident`;
  return `${memory}, ${descriptorCount} descriptors`;
}
