import { setTimeout } from "node:timers/promises";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { KeepAliveConnection, requestBytes } from "../soak/connection.ts";
import { pointRequest } from "../soak/requests.ts";
import { ENTITY } from "../host/entities.ts";

/** What honest clients observed. */
export interface HonestReport {
  readonly requestCount: number;
  /** Requests without status 200; status 0 if the connection was not opened, or was closed before a response arrived. */
  readonly failed: readonly { readonly status: number; readonly request: string; readonly detail: string }[];
  readonly p50Ms: number;
  readonly p99Ms: number;
}

type Headers = Readonly<Record<string, string>>;

const CLIENT_COUNT = 4;
/** Pause between the requests of a client. */
const PAUSE_MS = 10;
/** Number of requests after which a client opens a new connection. */
const REQUESTS_PER_CONNECTION = 8;
/** A connection that is neither accepted nor refused for this long counts as refused. */
const OPEN_TIMEOUT_MS = 30_000;

/** Returns a request of a kind that ordinary clients send. */
function honestRequest(random: SeededRandom, headers: Headers): Buffer {
  const dice = random.below(10);
  if (dice < 7) return pointRequest(random, headers).bytes;
  if (dice < 8) return requestBytes("GET /api/v1/customers", { headers });
  if (dice < 9) return requestBytes("GET /api/v1/limits", { headers });
  return requestBytes("POST /api/v1/temperature-alignment-projections", { headers, body: JSON.stringify([ENTITY]) });
}

/**
 * Runs honest clients for `durationMs`. Each sends its requests sequentially, with a valid key, and reuses a connection
 * for several requests.
 */
export async function runHonestClients(
  port: number,
  { headers, seed, durationMs }: { readonly headers: Headers; readonly seed: number; readonly durationMs: number },
): Promise<HonestReport> {
  const timesMs: number[] = [];
  const failed: { status: number; request: string; detail: string }[] = [];
  const endMs = performance.now() + durationMs;
  const runClient = async (index: number): Promise<void> => {
    const random = randomFrom(seed + index);
    let connection: KeepAliveConnection | undefined;
    for (let count = 0; performance.now() < endMs; count++) {
      const bytes = honestRequest(random, headers);
      const startMs = performance.now();
      if (connection === undefined || connection.isClosed || count % REQUESTS_PER_CONNECTION === 0) {
        connection?.close();
        connection = await openInTime(port);
      }
      const response = await connection?.send(bytes);
      timesMs.push(performance.now() - startMs);
      if (response?.status !== 200) {
        const request = bytes.toString("latin1").slice(0, 60);
        failed.push({ status: response?.status ?? 0, request, detail: response?.body.slice(0, 300) ?? "" });
      }
      await setTimeout(PAUSE_MS);
    }
    connection?.close();
  };
  await Promise.all(Array.from({ length: CLIENT_COUNT }, (_, index) => runClient(index)));
  const sorted = timesMs.toSorted((a, b) => a - b);
  const quantile = (fraction: number): number => sorted[Math.floor(fraction * (sorted.length - 1))] ?? NaN;
  return { requestCount: timesMs.length, failed, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}

/** Opens a connection. @returns undefined if it is refused */
async function openInTime(port: number): Promise<KeepAliveConnection | undefined> {
  const opening = KeepAliveConnection.open(port).catch(() => undefined);
  return Promise.race([opening, setTimeout(OPEN_TIMEOUT_MS, undefined)]);
}
