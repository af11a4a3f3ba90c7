/** The options of `serve`: which there are, their defaults, and how they are checked. */
import { DEFAULT_ALIGNMENT_LIMITS } from "../alignment/entity.ts";
import type { FaultItem } from "../errors.ts";
import { checkOptions, quote, type Shape } from "../explain.ts";
import type { Atlas } from "../hazard/answer.ts";
import { DEFAULT_HAZARD_LIMITS } from "../hazard/query.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { DEFAULT_LOAD_LIMITS, type LoadLimits } from "./admission/concurrencyLimiter.ts";
import type { Log } from "./log.ts";
import type { HostLimits } from "./routes/route.ts";
import { DEFAULT_TIMEOUTS, type ServerTimeouts } from "./http/server.ts";
import type { Workforce } from "./work/workforce.ts";

export interface ServeOptions {
  /** Stays the caller's: closing the host does not close it. */
  readonly atlas: Atlas;
  /** Keys, customers and usage; stays the caller's too. */
  readonly ledger: Ledger;
  /** The address to listen on, or a name for one. */
  readonly host: string;
  /** 0 to 65535; 0 takes a free one. */
  readonly port: number;
  /** Where /metrics is answered, on 127.0.0.1 alone; 0 takes a free one. Absent: nowhere. */
  readonly adminPort?: number;
  /** Does what takes long. Absent: the workers that the atlas was opened with, or where it has none the event loop. */
  readonly workforce?: Workforce;
  readonly limits?: Partial<HostLimits>;
  readonly load?: Partial<LoadLimits>;
  readonly timeouts?: Partial<ServerTimeouts>;
  /** CorsPolicy whose scripts may send requests, such as `https://example.org`, or `*` for all. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** Whether to request a few values before /readyz says yes, which makes the first answers quick. Default true. */
  readonly warmUp?: boolean;
  /** Called once for each answer. Without one nothing is logged. */
  readonly log?: Log;
}

/** What one request may ask for unless the operator of the service says otherwise. */
export const DEFAULT_LIMITS: HostLimits = {
  hazardValueCount: DEFAULT_HAZARD_LIMITS.valueCount,
  batchCount: 10_000,
  entityCount: DEFAULT_ALIGNMENT_LIMITS.entityCount,
  alignmentValueCount: DEFAULT_ALIGNMENT_LIMITS.valueCount,
  detailCount: 10_000,
  bodySizeBytes: 8 << 20,
  requestsPerS: 50,
  requestBurst: 100,
};

const COUNT: Shape = { type: "integer", minimum: 1 };
const BYTES: Shape = { type: "number", minimum: 0 };
/** The longest time that a timer of Node.js can wait; it would fire at once for a longer one. */
const TIME_MS: Shape = { type: "number", minimum: 0, maximum: 2 ** 31 - 1 };
const PORT: Shape = { type: "integer", minimum: 0, maximum: 65_535 };

const LIMITS = {
  hazardValueCount: COUNT,
  batchCount: COUNT,
  entityCount: COUNT,
  alignmentValueCount: COUNT,
  detailCount: COUNT,
  bodySizeBytes: COUNT,
  requestsPerS: { type: "number", exclusiveMinimum: 0 },
  requestBurst: COUNT,
} as const satisfies Record<keyof HostLimits, Shape>;

const LOAD = {
  requestsInWorkMax: { type: "integer", minimum: 0 },
  bodyBytesMax: BYTES,
  answerBytesMax: BYTES,
  accountShare: { type: "number", exclusiveMinimum: 0, maximum: 1 },
} as const satisfies Record<keyof LoadLimits, Shape>;

const TIMEOUTS = {
  headersTimeoutMs: TIME_MS,
  requestTimeoutMs: TIME_MS,
  checkEveryMs: TIME_MS,
  silenceTimeoutMs: TIME_MS,
  keepAliveTimeoutMs: TIME_MS,
  workTimeoutMs: TIME_MS,
  drainDelayMs: TIME_MS,
  drainTimeoutMs: TIME_MS,
  connectionCountMax: COUNT,
} as const satisfies Record<keyof ServerTimeouts, Shape>;

const PROPERTIES = {
  atlas: { type: "object" },
  ledger: { type: "object" },
  host: { type: "string" },
  port: PORT,
  adminPort: PORT,
  workforce: { type: "object" },
  limits: { type: "object", properties: LIMITS, additionalProperties: false },
  load: { type: "object", properties: LOAD, additionalProperties: false },
  timeouts: { type: "object", properties: TIMEOUTS, additionalProperties: false },
  corsOrigins: { type: "array", items: { type: "string" } },
  warmUp: { type: "boolean" },
  log: { type: "function" },
} as const satisfies Record<keyof ServeOptions, Shape>;

const SHAPE: Shape = {
  type: "object",
  properties: PROPERTIES,
  required: ["atlas", "ledger", "host", "port"],
  additionalProperties: false,
};

const CLOSE_SHAPE: Shape = {
  type: "object",
  properties: { drainDelayMs: TIME_MS },
  additionalProperties: false,
};

/** Options of `serve` with every default filled in. */
export interface Settings {
  readonly limits: HostLimits;
  readonly load: LoadLimits;
  readonly timeouts: ServerTimeouts;
}

/**
 * Checks the options of `serve` and fills in the defaults.
 * @throws Fault `configuration_invalid` with everything that is wrong with them
 */
export function readServeOptions(options: ServeOptions): Settings {
  checkOptions(options, SHAPE, { code: "configuration_invalid", items: findingsOfHost(options) });
  return {
    limits: withDefaults(DEFAULT_LIMITS, options.limits),
    load: withDefaults(DEFAULT_LOAD_LIMITS, options.load),
    timeouts: withDefaults(DEFAULT_TIMEOUTS, options.timeouts),
  };
}

/** @throws Fault `configuration_invalid` with everything that is wrong with the options of closing */
export function checkCloseOptions(options: { readonly drainDelayMs?: number }): void {
  checkOptions(options, CLOSE_SHAPE, { code: "configuration_invalid" });
}

function findingsOfHost(options: unknown): readonly FaultItem[] {
  const host = typeof options === "object" && options !== null && "host" in options ? options.host : undefined;
  if (typeof host !== "string" || host.trim() !== "") return [];
  const detail = `The host to listen on has no name: ${quote(host)}; give an address, or a name for one.`;
  return [{ pointer: "/host", code: "empty", detail }];
}

/** A member that is there and `undefined` has its default, as one that is absent. */
function withDefaults<Values extends object>(defaults: Values, given: Partial<Values> = {}): Values {
  const defined = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(defined) as Partial<Values>) };
}
