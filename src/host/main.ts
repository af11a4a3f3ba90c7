/**
 * The HTTP service as a library. `createHandler` returns a request listener for an existing server; `serve` starts a
 * server. Both take an open atlas and an open ledger.
 *
 *   const [atlas, ledger] = await Promise.all([openAtlas("data/atlas"), openLedger({ data: "isotherm-data" })]);
 *   const handler = createHandler({ atlas, ledger, prefix: "/climate" });
 *   createServer(handler).listen(8080, "127.0.0.1");
 */
import type { ServeOptions } from "./options.ts";
import { type RunningServer, startService } from "./serve.ts";

export { openLedger } from "../ledger/openLedger.ts";
export { openAtlas } from "../openAtlas.ts";
export { createHandler, type Handler } from "./handler.ts";

/**
 * Serves HTTP until closed.
 *
 * @throws Fault `configuration_invalid` with all errors of the options, or if the service cannot listen on the address
 */
export function serve(options: ServeOptions): Promise<RunningServer> {
  return startService(options);
}

export type { LedgerAddress, LedgerOptions } from "../ledger/openLedger.ts";
export type { Account, ApiKey, Customer, IssuedKey, Ledger, ReportOptions } from "../ledger/ledger.ts";
export type { OpenAtlasOptions } from "../openAtlas.ts";
export type { LoadLimits } from "./admission/resources.ts";
export type { ClientLimits } from "./admission/limiters.ts";
export type { BodyRateLimits, HandlerTimeouts, ServerTimeouts } from "./http/timeouts.ts";
export type { Log, LoggedError, LogRecord } from "./log.ts";
export type { CloseOptions, HandlerOptions, ServeOptions, ServiceOptions } from "./options.ts";
export type { FaultCode as ProblemCode } from "../errors.ts";
export type { Problem } from "./problems/problem.ts";
export type { HostLimits } from "./route.ts";
export type { RunningServer } from "./serve.ts";
export { Fault, isFault } from "../errors.ts";
export type * from "./publicTypes.ts";
