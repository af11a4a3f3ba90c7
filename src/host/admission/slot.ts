/** Resources held by one account, or by all accounts together. */
export interface HeldResources {
  requestCount: number;
  jobCount: number;
  bodyBytes: number;
  responseBytes: number;
}

/** Returns empty resources. */
export const noResources = (): HeldResources => ({ requestCount: 0, jobCount: 0, bodyBytes: 0, responseBytes: 0 });

/** Resources held by one request. */
export interface Slot {
  /** Undefined until the request is authenticated. */
  account: HeldResources | undefined;
  bodyBytes: number;
  /** Held until the client has read the response, which may be long after the slot is released. */
  responseBytes: number;
}
