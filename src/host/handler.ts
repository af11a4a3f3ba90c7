import type { IncomingMessage, ServerResponse } from "node:http";
import { pathBelow, requestTarget, splitTarget } from "./http/requestHead.ts";
import { bodyRateOf } from "./http/timeouts.ts";
import { type HandlerOptions, readHandlerOptions } from "./options.ts";
import { Service } from "./service.ts";

/** A listener for the event `request` of a server of node:http or node:https. */
export interface Handler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Returns whether the path of a request is the prefix or lies below it. */
  matches(request: IncomingMessage): boolean;
  /** Resolves when the service has warmed up and /readyz reports ready. Requests that arrive earlier are answered. */
  readonly ready: Promise<void>;
  /**
   * Answers further requests with 503, and resolves when the responses to all earlier requests are finished. After
   * `drainTimeoutMs`, the connections of unfinished responses are destroyed. Further calls have no effect.
   */
  close(): Promise<void>;
}

/**
 * Returns the service as a request listener, for a server that other code runs.
 *
 * @throws Fault `configuration_invalid` with all errors of the options
 */
export function createHandler(options: HandlerOptions): Handler {
  const { limits, load, clients, timeouts } = readHandlerOptions(options);
  const { workTimeoutMs, bodyTimeoutMs, drainTimeoutMs } = timeouts;
  const bodyRate = bodyRateOf(timeouts);
  // Without a listener for `checkContinue`, the server has already sent `100 Continue`.
  const service = new Service(options, {
    limits,
    load,
    clients,
    workTimeoutMs,
    bodyTimeoutMs,
    bodyRate,
    isContinueDue: false,
  });
  const { prefix = "" } = options;
  let closed: Promise<void> | undefined;
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    service.listener.accept(request, response);
  };
  return Object.assign(handle, {
    matches: (request: IncomingMessage) => pathBelow(prefix, splitTarget(requestTarget(request)).path) !== undefined,
    ready: service.ready,
    close: () => (closed ??= service.close(drainTimeoutMs)),
  });
}
