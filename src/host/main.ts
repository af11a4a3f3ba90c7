/**
 * The HTTP host, as a library: hand it an open atlas.
 *
 *   const running = await serve({ atlas: await openAtlas("data/atlas"), host: "127.0.0.1", port: 8080 });
 *   console.log(running.address.url);
 *   await running.close();
 */
import { BlockList, isIP } from "node:net";
import { DEFAULT_ALIGNMENT_LIMITS } from "../alignment/entity.ts";
import { Fault } from "../errors.ts";
import type { Atlas } from "../hazard/answer.ts";
import { DEFAULT_HAZARD_LIMITS } from "../hazard/query.ts";
import type { Log } from "./log.ts";
import type { HostLimits } from "./route.ts";
import { alignment } from "./routes/alignment.ts";
import { hazardRisk } from "./routes/hazardRisk.ts";
import { healthz } from "./routes/healthz.ts";
import { DEFAULT_PATIENCE, type RunningServer, type ServerPatience, startServer } from "./server.ts";

export type { Log, LoggedError, LogRecord } from "./log.ts";
export type { Problem, ProblemCode } from "./problem.ts";
export type { HostLimits } from "./route.ts";
export type { RunningServer, ServerPatience } from "./server.ts";

export interface ServeOptions {
  /** Stays the caller's: closing the host does not close it. */
  readonly atlas: Atlas;
  /** A loopback address: 127.0.0.0/8, ::1 or localhost. */
  readonly host: string;
  /** 0 to 65535; 0 takes a free one. */
  readonly port: number;
  readonly limits?: Partial<HostLimits>;
  readonly patience?: Partial<ServerPatience>;
  /** Called once for each answer. Without one nothing is written down. */
  readonly log?: Log;
}

const ROUTES = [hazardRisk, alignment, healthz];

/** What one request may ask for unless whoever runs the service says otherwise. */
const DEFAULT_LIMITS: HostLimits = {
  hazardValueCount: DEFAULT_HAZARD_LIMITS.valueCount,
  entityCount: DEFAULT_ALIGNMENT_LIMITS.entityCount,
  alignmentValueCount: DEFAULT_ALIGNMENT_LIMITS.valueCount,
  bodySizeBytes: 8 << 20,
};

/**
 * Answers HTTP until closed. There are no keys yet, so that it listens to this machine alone.
 *
 * @throws Fault `configuration_invalid` when the address is not one of loopback, or cannot be listened on
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { atlas, port, log = () => undefined } = options;
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    const message = `The port must be a whole number from 0 to 65535, not ${port}.`;
    throw new Fault("configuration_invalid", message, { details: { port } });
  }
  return startServer({
    routes: ROUTES,
    services: { atlas },
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    host: loopbackAddress(options.host),
    port,
    patience: { ...DEFAULT_PATIENCE, ...options.patience },
    log,
  });
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

function loopbackAddress(host: string): string {
  // Not left to name resolution: a hosts file may have other ideas of what is local.
  if (host === "localhost") return "127.0.0.1";
  const family = isIP(host);
  if (family !== 0 && LOOPBACK.check(host, family === 6 ? "ipv6" : "ipv4")) return host;
  throw new Fault(
    "configuration_invalid",
    `Cannot listen on ${JSON.stringify(host)}: the host has no keys yet, so whoever reaches it may ask it. ` +
      "Until it has, it listens on loopback only: 127.0.0.1, ::1 or localhost.",
    { details: { host } },
  );
}
