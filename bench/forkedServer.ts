import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ClosedLoopClient } from "./closedLoopClient.ts";

/** Sent to the parent once a server listens. */
export interface Listening {
  readonly port: number;
  readonly headers: readonly string[];
}

/** A server in a separate process. */
export interface ForkedServer extends Listening {
  readonly child: ChildProcess;
}

/** Throughput, and the processor time of the server per request. */
export interface Throughput {
  readonly perS: number;
  readonly cpuUs: number;
}

/** Starts a script of this folder, which sends `Listening` and answers every message with its processor time. */
export async function startServer(
  script: "hostServer.js" | "tileServer.js",
  { kind, atlasFolder }: { readonly kind: string; readonly atlasFolder: string },
): Promise<ForkedServer> {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [kind, atlasFolder]);
  child.once("exit", (code) => {
    if (code !== 0) throw new Error(`the ${kind} server exited with code ${code}`);
  });
  const [listening] = (await once(child, "message")) as [Listening];
  return { child, ...listening };
}

/**
 * Requests paths for a time, on several connections that each send the next request as soon as a response arrives.
 * @param headers header fields of the requests besides those that the server needs
 */
export async function measureThroughput(
  server: ForkedServer,
  {
    paths,
    headers = [],
    connectionCount,
    roundMs,
  }: {
    readonly paths: readonly string[];
    readonly headers?: readonly string[];
    readonly connectionCount: number;
    readonly roundMs: number;
  },
): Promise<Throughput> {
  const requests = paths.map((path) =>
    Buffer.from([`GET ${path} HTTP/1.1`, "Host: bench", ...headers, ...server.headers, "", ""].join("\r\n")),
  );
  const clients = await Promise.all(
    Array.from({ length: connectionCount }, (_, i) => ClosedLoopClient.open(server.port, requests, i * 31)),
  );
  const cpuBefore = await readCpuMicroseconds(server);
  const startMs = performance.now();
  for (const client of clients) client.sendNext();
  await new Promise((resolve) => setTimeout(resolve, roundMs));
  await Promise.all(clients.map((client) => client.finish()));
  const tookMs = performance.now() - startMs;
  const cpuUs = (await readCpuMicroseconds(server)) - cpuBefore;
  const count = clients.reduce((sum, client) => sum + client.count, 0);
  return { perS: (count / tookMs) * 1000, cpuUs: cpuUs / count };
}

async function readCpuMicroseconds({ child }: ForkedServer): Promise<number> {
  child.send("cpu");
  const [message] = (await once(child, "message")) as [{ readonly cpuMicroseconds: number }];
  return message.cpuMicroseconds;
}
