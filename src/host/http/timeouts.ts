import type { BodyRate } from "./body.ts";

/** The slowest rate at which clients may send request bodies. */
export interface BodyRateLimits {
  /**
   * Bytes per second, on average since the service began to read the body; 0 allows any rate. Slower clients get 408.
   * Default 1,024.
   */
  readonly bodyBytesPerSMin: number;
  /** Time before the rate is checked. Default 5,000. */
  readonly bodyGraceMs: number;
}

const DEFAULT_BODY_RATE: BodyRateLimits = { bodyBytesPerSMin: 1_024, bodyGraceMs: 5_000 };

export function bodyRateOf({ bodyBytesPerSMin, bodyGraceMs }: BodyRateLimits): BodyRate {
  return { bytesPerSMin: bodyBytesPerSMin, graceMs: bodyGraceMs };
}

/** Timeouts of `createHandler`, in milliseconds. Those of connections belong to the server that it is mounted in. */
export interface HandlerTimeouts extends BodyRateLimits {
  /** For receiving a request body. Default 30,000. */
  readonly bodyTimeoutMs: number;
  /** For computing a response; also limits `jobDeadlineMs`. Default 30,000. */
  readonly workTimeoutMs: number;
  /** For finishing requests in progress after `close` is called; then their connections are destroyed. Default 30,000. */
  readonly drainTimeoutMs: number;
}

export const DEFAULT_HANDLER_TIMEOUTS: HandlerTimeouts = {
  ...DEFAULT_BODY_RATE,
  bodyTimeoutMs: 30_000,
  workTimeoutMs: 30_000,
  drainTimeoutMs: 30_000,
};

/** Timeouts, in milliseconds, and the connection limits of the HTTP server that `serve` starts. */
export interface ServerTimeouts extends BodyRateLimits {
  /** For receiving the complete head of a request. Default 5,000. */
  readonly headersTimeoutMs: number;
  /** For receiving a complete request. Default 30,000. */
  readonly requestTimeoutMs: number;
  /** Interval at which the two timeouts above are checked. Default 1,000. */
  readonly checkEveryMs: number;
  /**
   * For any activity on a connection, except while a request is being processed. Disconnects clients that never read their
   * response, which is in memory until then. Default 35,000.
   */
  readonly inactivityTimeoutMs: number;
  /** For the next request on a connection; above the timeout of load balancers, so that they close first. Default 75,000. */
  readonly keepAliveTimeoutMs: number;
  /** For computing a response; also limits `jobDeadlineMs`. Default 30,000. */
  readonly workTimeoutMs: number;
  /** Between the start of a shutdown and rejecting new connections: load balancers poll /readyz periodically. Default 0. */
  readonly drainDelayMs: number;
  /** For finishing requests in progress once new connections are rejected. Default 30,000. */
  readonly drainTimeoutMs: number;
  /** Open connections; a further one replaces an idle one, or is closed at once if there is none. Default 10,000. */
  readonly connectionCountMax: number;
  /**
   * Open connections from one address (IPv6: /64 network); further ones are closed at once. Does not limit trusted proxies
   * and `clients.exemptAddresses`. Default 512.
   */
  readonly connectionsPerAddressMax: number;
}

export const DEFAULT_TIMEOUTS: ServerTimeouts = {
  ...DEFAULT_BODY_RATE,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 30_000,
  checkEveryMs: 1_000,
  // Above the first two timeouts, so that slow clients get a response that gives the reason.
  inactivityTimeoutMs: 35_000,
  keepAliveTimeoutMs: 75_000,
  workTimeoutMs: 30_000,
  drainDelayMs: 0,
  drainTimeoutMs: 30_000,
  connectionCountMax: 10_000,
  connectionsPerAddressMax: 512,
};
