/** Timeouts and the connection limit of the HTTP server. */
export interface ServerTimeouts {
  /** For receiving the complete head of a request. */
  readonly headersTimeoutMs: number;
  /** For receiving a complete request. */
  readonly requestTimeoutMs: number;
  /** Interval at which the two timeouts above are checked. */
  readonly checkEveryMs: number;
  /** For any activity on a connection. Ends clients that never read, each of which holds its response in memory. */
  readonly silenceTimeoutMs: number;
  /** For the next request on a connection; above the timeout of load balancers, so that they close first. */
  readonly keepAliveTimeoutMs: number;
  /** For a response that is computed in other threads. */
  readonly workTimeoutMs: number;
  /** Between the start of a shutdown and refusing new connections: load balancers poll /readyz periodically. */
  readonly drainDelayMs: number;
  /** For requests in progress once new connections are refused. */
  readonly drainTimeoutMs: number;
  readonly connectionCountMax: number;
}

export const DEFAULT_TIMEOUTS: ServerTimeouts = {
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 30_000,
  checkEveryMs: 1_000,
  // Above the two before it, so that slow clients get a response that says so.
  silenceTimeoutMs: 35_000,
  keepAliveTimeoutMs: 75_000,
  workTimeoutMs: 30_000,
  drainDelayMs: 0,
  drainTimeoutMs: 30_000,
  connectionCountMax: 10_000,
};
