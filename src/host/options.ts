/** The options of `serve`, their defaults and their validation. */
import { DEFAULT_ALIGNMENT_LIMITS } from "../alignment/entity.ts";
import type { FaultItem } from "../errors.ts";
import { checkOptions, quote, type ValueSchema } from "../schemaErrors.ts";
import type { Atlas } from "../hazard/answer.ts";
import { DEFAULT_HAZARD_LIMITS } from "../hazard/query.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { DEFAULT_LOAD_LIMITS, type LoadLimits } from "./admission/concurrencyLimiter.ts";
import type { Log } from "./log.ts";
import type { HostLimits } from "./routes/route.ts";
import { DEFAULT_TIMEOUTS, type ServerTimeouts } from "./http/timeouts.ts";
import type { Workforce } from "./work/workforce.ts";

export interface ServeOptions {
  /** Owned by the caller: closing the host does not close it. */
  readonly atlas: Atlas;
  /** API keys, customers and usage; owned by the caller. */
  readonly ledger: Ledger;
  /** IP address or host name to listen on. */
  readonly host: string;
  /** 0 to 65535; 0 chooses a free port. */
  readonly port: number;
  /** Port of /metrics, on 127.0.0.1 only; 0 chooses a free port. Absent: metrics are not served. */
  readonly adminPort?: number;
  /** Runs long requests. Absent: the workers that the atlas was opened with, or without those the event loop. */
  readonly workforce?: Workforce;
  readonly limits?: Partial<HostLimits>;
  readonly load?: Partial<LoadLimits>;
  readonly timeouts?: Partial<ServerTimeouts>;
  /** Origins whose scripts may send requests, such as `https://example.org`, or `*` for all. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** Whether to run queries before /readyz reports ready, which makes the first requests faster. Default: true. */
  readonly warmUp?: boolean;
  /** Called with a record of each response. Absent: nothing is logged. */
  readonly log?: Log;
}

/** Default limits of a request. */
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

const COUNT: ValueSchema = { type: "integer", minimum: 1 };
const BYTES: ValueSchema = { type: "number", minimum: 0 };
/** The longest time that a timer of Node.js can wait; it would fire at once for a longer one. */
const TIME_MS: ValueSchema = { type: "number", minimum: 0, maximum: 2 ** 31 - 1 };
const PORT: ValueSchema = { type: "integer", minimum: 0, maximum: 65_535 };

const LIMITS = {
  hazardValueCount: COUNT,
  batchCount: COUNT,
  entityCount: COUNT,
  alignmentValueCount: COUNT,
  detailCount: COUNT,
  bodySizeBytes: COUNT,
  requestsPerS: { type: "number", exclusiveMinimum: 0 },
  requestBurst: COUNT,
} as const satisfies Record<keyof HostLimits, ValueSchema>;

const LOAD = {
  requestsInWorkMax: { type: "integer", minimum: 0 },
  bodyBytesMax: BYTES,
  answerBytesMax: BYTES,
  accountShare: { type: "number", exclusiveMinimum: 0, maximum: 1 },
} as const satisfies Record<keyof LoadLimits, ValueSchema>;

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
} as const satisfies Record<keyof ServerTimeouts, ValueSchema>;

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
} as const satisfies Record<keyof ServeOptions, ValueSchema>;

const SHAPE: ValueSchema = {
  type: "object",
  properties: PROPERTIES,
  required: ["atlas", "ledger", "host", "port"],
  additionalProperties: false,
};

const CLOSE_SHAPE: ValueSchema = {
  type: "object",
  properties: { drainDelayMs: TIME_MS },
  additionalProperties: false,
};

/** Options of `serve` with defaults applied. */
export interface Settings {
  readonly limits: HostLimits;
  readonly load: LoadLimits;
  readonly timeouts: ServerTimeouts;
}

/**
 * Checks the options of `serve` and applies defaults.
 * @throws Fault `configuration_invalid` with all errors
 */
export function readServeOptions(options: ServeOptions): Settings {
  checkOptions(options, SHAPE, { code: "configuration_invalid", items: hostErrors(options) });
  return {
    limits: withDefaults(DEFAULT_LIMITS, options.limits),
    load: withDefaults(DEFAULT_LOAD_LIMITS, options.load),
    timeouts: withDefaults(DEFAULT_TIMEOUTS, options.timeouts),
  };
}

/** Checks the options of `close`. @throws Fault `configuration_invalid` with all errors */
export function checkCloseOptions(options: { readonly drainDelayMs?: number }): void {
  checkOptions(options, CLOSE_SHAPE, { code: "configuration_invalid" });
}

function hostErrors(options: unknown): readonly FaultItem[] {
  const host = typeof options === "object" && options !== null && "host" in options ? options.host : undefined;
  if (typeof host !== "string" || host.trim() !== "") return [];
  const detail = `host must be an IP address or a host name (got ${quote(host)})`;
  return [{ pointer: "/host", code: "empty", detail }];
}

/** Applies defaults to members that are absent or `undefined`. */
function withDefaults<Values extends object>(defaults: Values, given: Partial<Values> = {}): Values {
  const defined = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(defined) as Partial<Values>) };
}
