/** The options of `createHandler` and `serve`, their defaults and their validation. */
import { DEFAULT_ALIGNMENT_LIMITS } from "../alignment/entity.ts";
import type { FaultItem } from "../errors.ts";
import { checkOptions, quote, type ValueSchema } from "../validation/schemaErrors.ts";
import type { Atlas } from "../hazard/answer.ts";
import { DEFAULT_HAZARD_LIMITS } from "../hazard/query.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { DEFAULT_LOAD_LIMITS, type LoadLimits } from "./admission/resources.ts";
import { DEFAULT_BODY_BYTES_MAX } from "./admission/resources.ts";
import { type ClientLimits, DEFAULT_CLIENT_LIMITS } from "./admission/limiters.ts";
import type { Log } from "./log.ts";
import type { HostLimits } from "./route.ts";
import { addressRangeErrors } from "./http/clientAddress.ts";
import { corsOriginErrors } from "./http/cors.ts";
import {
  DEFAULT_HANDLER_TIMEOUTS,
  DEFAULT_TIMEOUTS,
  type HandlerTimeouts,
  type ServerTimeouts,
} from "./http/timeouts.ts";

/** Options that `createHandler` and `serve` share. */
export interface ServiceOptions {
  /** An open atlas. Its worker threads, if any, answer large requests. */
  readonly atlas: Atlas;
  /** An open ledger, which stores API keys, customers and usage. */
  readonly ledger: Ledger;
  /**
   * Path prefix under which clients reach the service, such as `/climate`: segments of letters, digits, `-`, `.`, `_` and
   * `~`, without a trailing slash. Requests must include it: a reverse proxy must not strip it. Default: none.
   */
  readonly prefix?: string;
  /** Limits per request and per account. */
  readonly limits?: Partial<HostLimits>;
  /** Limits on concurrent requests and on the memory that they hold. */
  readonly load?: Partial<LoadLimits>;
  /** Limits on requests without a known API key. */
  readonly clients?: Partial<ClientLimits>;
  /**
   * Addresses and CIDR ranges of reverse proxies. A request from one of them has the client address that is last in its
   * header `X-Forwarded-For`, apart from other trusted proxies; from all other addresses, the header is ignored.
   * Default: none.
   */
  readonly trustedProxies?: readonly string[];
  /** Origins whose scripts may send requests, such as `https://example.org`, or `*` for all. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** Whether to run queries before /readyz reports ready, which makes the first requests faster. Default: true. */
  readonly warmUp?: boolean;
  /** Called with a record of each response. If absent, responses are not logged. */
  readonly log?: Log;
  /** Whether `close` also closes the atlas and the ledger. Default: false. */
  readonly ownsResources?: boolean;
}

/** Options of `createHandler`. */
export interface HandlerOptions extends ServiceOptions {
  readonly timeouts?: Partial<HandlerTimeouts>;
}

/** Options of `serve`. */
export interface ServeOptions extends ServiceOptions {
  /** IP address or host name to listen on. */
  readonly host: string;
  /** 0 to 65,535; 0 selects a free port. */
  readonly port: number;
  /** Port of /metrics; 0 selects a free port. If absent, metrics are not served. */
  readonly adminPort?: number;
  /** IP address or host name of /metrics. It has no authentication. Default: 127.0.0.1. */
  readonly adminHost?: string;
  /** Host names that requests of /metrics may have besides `adminHost`, `localhost` and IP addresses. Default: none. */
  readonly adminAllowedHosts?: readonly string[];
  /** Folder of the ledger, whose free disk space is a metric. Default: none. */
  readonly ledgerFolder?: string;
  readonly timeouts?: Partial<ServerTimeouts>;
}

/** Options of `RunningServer.close`. */
export interface CloseOptions {
  /** Overrides `timeouts.drainDelayMs`; 0 or more. */
  readonly drainDelayMs?: number;
}

/** Default limits per request and per account. */
const DEFAULT_LIMITS: HostLimits = {
  hazardValueCount: DEFAULT_HAZARD_LIMITS.valueCount,
  batchCount: 10_000,
  entityCount: DEFAULT_ALIGNMENT_LIMITS.entityCount,
  alignmentValueCount: DEFAULT_ALIGNMENT_LIMITS.valueCount,
  detailCount: 10_000,
  requestBodyBytesMax: DEFAULT_BODY_BYTES_MAX,
  customerCount: 100_000,
  requestsPerS: 50,
  requestBurst: 100,
  tilesPerS: 100,
  tileBurst: 400,
};

const COUNT: ValueSchema = { type: "integer", minimum: 1 };
const BYTES: ValueSchema = { type: "integer", minimum: 0 };
/** Milliseconds, up to the longest delay that Node.js timers support; longer delays fire immediately. */
const TIME_MS: ValueSchema = { type: "number", minimum: 0, maximum: 2 ** 31 - 1 };
const PORT: ValueSchema = { type: "integer", minimum: 0, maximum: 65_535 };

const LIMITS = {
  hazardValueCount: COUNT,
  batchCount: COUNT,
  entityCount: COUNT,
  alignmentValueCount: COUNT,
  detailCount: COUNT,
  requestBodyBytesMax: { ...BYTES, minimum: 1 },
  customerCount: COUNT,
  requestsPerS: { type: "number", exclusiveMinimum: 0 },
  requestBurst: COUNT,
  tilesPerS: { type: "number", exclusiveMinimum: 0 },
  tileBurst: COUNT,
} as const satisfies Record<keyof HostLimits, ValueSchema>;

const LOAD = {
  requestsInProgressMax: { type: "integer", minimum: 0 },
  totalBodyBytesMax: BYTES,
  responseBytesMax: BYTES,
  memoryBytesMax: BYTES,
  accountShare: { type: "number", exclusiveMinimum: 0, maximum: 1 },
  streamsPerAccountMax: COUNT,
  jobsMax: COUNT,
  jobsPerAccountMax: COUNT,
  jobBytesMax: BYTES,
  jobDeadlineMs: TIME_MS,
} as const satisfies Record<keyof LoadLimits, ValueSchema>;

const CLIENTS = {
  openRequestsPerS: { type: "number", exclusiveMinimum: 0 },
  openRequestBurst: COUNT,
  probesPerS: { type: "number", exclusiveMinimum: 0 },
  probeBurst: COUNT,
  keyLookupsMax: COUNT,
  exemptAddresses: { type: "array", items: { type: "string" } },
} as const satisfies Record<keyof ClientLimits, ValueSchema>;

const BODY_RATE = { bodyBytesPerSMin: BYTES, bodyGraceMs: TIME_MS } as const;

const HANDLER_TIMEOUTS = {
  ...BODY_RATE,
  bodyTimeoutMs: TIME_MS,
  workTimeoutMs: TIME_MS,
  drainTimeoutMs: TIME_MS,
} as const satisfies Record<keyof HandlerTimeouts, ValueSchema>;

const SERVER_TIMEOUTS = {
  ...BODY_RATE,
  headersTimeoutMs: TIME_MS,
  requestTimeoutMs: TIME_MS,
  checkEveryMs: TIME_MS,
  inactivityTimeoutMs: TIME_MS,
  keepAliveTimeoutMs: TIME_MS,
  workTimeoutMs: TIME_MS,
  drainDelayMs: TIME_MS,
  drainTimeoutMs: TIME_MS,
  connectionCountMax: COUNT,
  connectionsPerAddressMax: COUNT,
} as const satisfies Record<keyof ServerTimeouts, ValueSchema>;

const SERVICE = {
  atlas: { type: "object" },
  ledger: { type: "object" },
  prefix: { type: "string" },
  limits: { type: "object", properties: LIMITS, additionalProperties: false },
  load: { type: "object", properties: LOAD, additionalProperties: false },
  clients: { type: "object", properties: CLIENTS, additionalProperties: false },
  trustedProxies: { type: "array", items: { type: "string" } },
  corsOrigins: { type: "array", items: { type: "string" } },
  warmUp: { type: "boolean" },
  log: { type: "function" },
  ownsResources: { type: "boolean" },
} as const satisfies Record<keyof ServiceOptions, ValueSchema>;

const HANDLER_SHAPE: ValueSchema = {
  type: "object",
  properties: {
    ...SERVICE,
    timeouts: { type: "object", properties: HANDLER_TIMEOUTS, additionalProperties: false },
  } satisfies Record<keyof HandlerOptions, ValueSchema>,
  required: ["atlas", "ledger"],
  additionalProperties: false,
};

const SERVER_SHAPE: ValueSchema = {
  type: "object",
  properties: {
    ...SERVICE,
    host: { type: "string" },
    port: PORT,
    adminPort: PORT,
    adminHost: { type: "string" },
    adminAllowedHosts: { type: "array", items: { type: "string" } },
    ledgerFolder: { type: "string" },
    timeouts: { type: "object", properties: SERVER_TIMEOUTS, additionalProperties: false },
  } satisfies Record<keyof ServeOptions, ValueSchema>,
  required: ["atlas", "ledger", "host", "port"],
  additionalProperties: false,
};

const CLOSE_SHAPE: ValueSchema = {
  type: "object",
  properties: { drainDelayMs: TIME_MS } satisfies Record<keyof CloseOptions, ValueSchema>,
  additionalProperties: false,
};

/** Service options with defaults applied. */
export interface Settings<Timeouts> {
  readonly limits: HostLimits;
  readonly load: LoadLimits;
  readonly clients: ClientLimits;
  readonly timeouts: Timeouts;
}

/**
 * Checks the options of `createHandler` and applies defaults.
 * @throws Fault `configuration_invalid` with all errors
 */
export function readHandlerOptions(options: HandlerOptions): Settings<HandlerTimeouts> {
  checkOptions(options, HANDLER_SHAPE, { code: "configuration_invalid", items: serviceErrors(options) });
  return { ...settingsOf(options), timeouts: withDefaults(DEFAULT_HANDLER_TIMEOUTS, options.timeouts) };
}

/**
 * Checks the options of `serve` and applies defaults.
 * @throws Fault `configuration_invalid` with all errors
 */
export function readServeOptions(options: ServeOptions): Settings<ServerTimeouts> {
  const items = [...hostErrors(options, "host"), ...hostErrors(options, "adminHost"), ...serviceErrors(options)];
  checkOptions(options, SERVER_SHAPE, { code: "configuration_invalid", items });
  return { ...settingsOf(options), timeouts: withDefaults(DEFAULT_TIMEOUTS, options.timeouts) };
}

/** Checks the options of `close`. @throws Fault `configuration_invalid` with all errors */
export function checkCloseOptions(options: CloseOptions): void {
  checkOptions(options, CLOSE_SHAPE, { code: "configuration_invalid" });
}

function settingsOf({ limits, load, clients }: ServiceOptions): Omit<Settings<unknown>, "timeouts"> {
  return {
    limits: withDefaults(DEFAULT_LIMITS, limits),
    load: withDefaults(DEFAULT_LOAD_LIMITS, load),
    clients: withDefaults(DEFAULT_CLIENT_LIMITS, clients),
  };
}

function hostErrors(options: unknown, name: "host" | "adminHost"): readonly FaultItem[] {
  const host = memberOf(options, name);
  if (typeof host !== "string" || host.trim() !== "") return [];
  const detail = `${name} must be an IP address or a host name (got ${quote(host)}).`;
  return [{ pointer: `/${name}`, code: "empty", detail }];
}

const PREFIX = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)*$/;

/** Returns the errors that the schema cannot express. */
function serviceErrors(options: unknown): readonly FaultItem[] {
  const items: FaultItem[] = [];
  // `openAtlas` and `openLedger` return promises, which are objects too.
  for (const name of ["atlas", "ledger"] as const) {
    const value = memberOf(options, name);
    if (typeof memberOf(value, "then") !== "function") continue;
    const detail = `${name} must be open (got a promise); await the function that opens it.`;
    items.push({ pointer: `/${name}`, code: "wrong_type", detail });
  }
  const prefix = memberOf(options, "prefix");
  if (typeof prefix === "string" && !PREFIX.test(prefix)) {
    const detail =
      'prefix must be a path such as "/climate", without a trailing slash, whose segments consist of letters, digits, -, ., _ ' +
      `and ~ and are not . or .. (got ${quote(prefix)}).`;
    items.push({ pointer: "/prefix", code: "malformed", detail });
  }
  return [
    ...items,
    ...corsOriginErrors(memberOf(options, "corsOrigins")),
    ...addressRangeErrors(memberOf(options, "trustedProxies"), { pointer: "/trustedProxies", isAllAllowed: false }),
    ...addressRangeErrors(memberOf(memberOf(options, "clients"), "exemptAddresses"), {
      pointer: "/clients/exemptAddresses",
      isAllAllowed: true,
    }),
  ];
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Applies defaults to members that are absent or `undefined`. */
function withDefaults<Values extends object>(defaults: Values, given: Partial<Values> = {}): Values {
  const defined = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(defined) as Partial<Values>) };
}
