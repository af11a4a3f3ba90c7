import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Command } from "commander";
import { withoutSecrets } from "../atlas/httpBlobs.ts";
import type { Atlas } from "../hazard/answer.ts";
import type { RunningServer, ServeOptions } from "../host/main.ts";
import { LEDGER_WARNING } from "../ledger/anchorKeeper.ts";
import { type Ledger, SQLITE_FILE_NAME } from "../ledger/ledger.ts";
import { type LedgerAddress, type LedgerOptions, openLedger } from "../ledger/openLedger.ts";
import { openAtlas } from "../openAtlas.ts";
import { ledgerPackages, requirePackages } from "../validation/optionalPackages.ts";
import { ensureDemoCredentials } from "./demoCredentials.ts";
import { type MemoryPlan, planMemory } from "./memoryPlan.ts";
import { addServeOptions, atlasAddress, serverOptionsOf, type ServeFlags } from "./serveOptions.ts";
import type { ServiceLog } from "./serviceLog.ts";
import { endOnOutputError } from "./errorReport.ts";
import { startupLines, startupRecord, type StartupReport } from "./startupReport.ts";

/** Maximum time to finish requests after a fatal error. */
const FAILURE_DRAIN_MS = 5_000;

/** Parts of the service. Tests replace them to inject faults and to shorten timeouts (test/faults/). */
export interface ServiceParts {
  readonly openAtlas: typeof openAtlas;
  readonly openLedger: (address: LedgerAddress, options: Pick<LedgerOptions, "anchorFolder">) => Promise<Ledger>;
  readonly serve: (options: ServeOptions) => Promise<RunningServer>;
  readonly heapGrowingPercent: number;
}

/** `isotherm serve`: runs the HTTP service until SIGINT or SIGTERM. */
export function serveCommand(parts: Partial<ServiceParts> = {}): Command {
  const command = new Command("serve");
  return addServeOptions(command).action((flags: ServeFlags) =>
    runServe(atlasAddress(flags, command.getOptionValueSource("atlas")), flags, { ...DEFAULT_PARTS, ...parts }),
  );
}

/**
 * Heap growth, in percent, after which V8 runs a full garbage collection. Results of worker threads arrive on the event loop,
 * about 10 MB per batch, and are part of this growth. With the V8 default, these collections blocked the event loop for 5 to 20 ms
 * on a third of the batches. V8 reads the flag at every collection, so it can be set after startup.
 */
const HEAP_GROWING_PERCENT = 300;

const DEFAULT_PARTS: ServiceParts = {
  openAtlas,
  openLedger,
  serve: startHost,
  heapGrowingPercent: HEAP_GROWING_PERCENT,
};

async function runServe(address: string, flags: ServeFlags, parts: ServiceParts): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${parts.heapGrowingPercent}`);
  process.stdout.off("error", endOnOutputError).off("error", ignoreOutputError).on("error", ignoreOutputError);
  const { bodyLimit, cache, memory, workers, data, database, adminPort } = flags;
  const plan = planMemory({
    workers,
    cacheBytes: cache === undefined ? undefined : cache * 2 ** 20,
    memoryBytes: memory === undefined ? undefined : memory * 2 ** 20,
    bodyBytesMax: bodyLimit === undefined ? undefined : bodyLimit * 2 ** 20,
  });
  requirePackages("The service", [
    ...ledgerPackages({ database }),
    "pino",
    ...(adminPort === "none" ? [] : (["prom-client"] as const)),
    // The startup message prints the address of /docs, which needs this package.
    "swagger-ui-dist",
  ]);
  const { openServiceLog } = await import("./serviceLog.ts");
  const serviceLog = openServiceLog();
  const onWarning = ({ name, message }: Error): void => {
    if (name === LEDGER_WARNING) serviceLog.warn("ledger_warning", message);
  };
  process.on("warning", onWarning);
  try {
    const atlas = await parts.openAtlas(address, {
      workers,
      cacheBytes: plan.cacheBytes,
    });
    try {
      const ledger = await (database === undefined
        ? parts.openLedger({ data }, {})
        : parts.openLedger({ database }, { anchorFolder: data }));
      try {
        await serveUntilStopped({ address, atlas, ledger, flags, serviceLog, plan }, parts);
      } finally {
        await ledger.close();
      }
    } finally {
      await atlas.close();
    }
  } catch (error) {
    // The command line also reports it on standard error.
    if (!isTerminal()) serviceLog.fatal(error);
    throw error;
  } finally {
    process.off("warning", onWarning);
    serviceLog.flush();
  }
}

/** An atlas and a ledger that are being served. */
interface ServedParts {
  readonly address: string;
  readonly atlas: Atlas;
  readonly ledger: Ledger;
  readonly flags: ServeFlags;
  readonly serviceLog: ServiceLog;
  readonly plan: MemoryPlan;
}

async function serveUntilStopped(service: ServedParts, { serve }: ServiceParts): Promise<void> {
  const { atlas, ledger, flags, serviceLog, plan } = service;
  const shutdown = waitForShutdown(ledger);
  try {
    const running = await serve({
      atlas,
      ledger,
      ...serverOptionsOf(flags),
      load: { memoryBytesMax: plan.requestBytes },
      ...(flags.log === "none" ? {} : { log: serviceLog.log }),
    });
    try {
      await reportStartup(running, service);
      const { signal, failure } = await shutdown.requested;
      if (failure === undefined) {
        if (isTerminal()) print("Stopping: finishing open requests.");
        else serviceLog.event("stopping", { signal: signal ?? "" });
        // SIGTERM gives load balancers time to notice; SIGINT, which a terminal sends, does not wait.
        await running.close({ drainDelayMs: signal === "SIGTERM" ? flags.drainDelay * 1000 : 0 });
      } else await shutDownAfterFailure(running, failure, service);
    } finally {
      await running.close({ drainDelayMs: 0 });
    }
  } finally {
    shutdown.dispose();
  }
}

/** Imports the host on demand: its packages are optional and the other commands run without them. */
async function startHost(options: ServeOptions): Promise<RunningServer> {
  const { serve } = await import("../host/main.ts");
  return serve(options);
}

/** Shuts down after a fatal error: logs it, stops accepting connections, finishes open requests, sets exit code 1. */
async function shutDownAfterFailure(
  running: RunningServer,
  failure: unknown,
  { ledger, flags, serviceLog }: ServedParts,
): Promise<void> {
  process.exitCode = 1;
  const isLedgerFile = failure === ledger.failure && flags.database === undefined;
  serviceLog.fatal(failure, isLedgerFile ? join(flags.data, SQLITE_FILE_NAME) : undefined);
  if (isTerminal()) print("Stopping after a fatal error; restart the service.");
  // Ends the process even if closing hangs.
  const deadline = setTimeout(() => {
    serviceLog.flush();
    process.exit(1);
  }, FAILURE_DRAIN_MS);
  await running.close({ drainDelayMs: 0 });
  // The timer stays active, because closing the ledger or the atlas may hang, but does not keep the process alive.
  deadline.unref();
}

/** Reports the addresses of the service: as text on a terminal, otherwise as a log record. */
async function reportStartup(
  running: RunningServer,
  { address, atlas, ledger, flags, serviceLog }: ServedParts,
): Promise<void> {
  const { url } = running.address;
  const demo =
    flags.demo === true ? await ensureDemoCredentials(ledger, { dataDirectory: flags.data, baseUrl: url }) : undefined;
  const report: StartupReport = {
    url,
    adminUrl: running.adminUrl,
    atlas: withoutSecrets(address),
    atlasRelease: atlas.release,
    isSynthetic: atlas.synthetic,
    demo,
  };
  if (isTerminal()) startupLines(report).forEach(print);
  else serviceLog.event("started", startupRecord(report));
}

/** Keeps the service running if the reader closes its standard output. */
function ignoreOutputError(): void {}

interface ShutdownCause {
  readonly signal?: NodeJS.Signals;
  readonly failure?: unknown;
}

/**
 * Waits for the first reason to shut down: a signal, a ledger that has failed permanently, or an uncaught error. A second
 * signal ends the process immediately.
 */
function waitForShutdown(ledger: Ledger): { readonly requested: Promise<ShutdownCause>; dispose(): void } {
  const { promise: requested, resolve: settle } = Promise.withResolvers<ShutdownCause>();
  const removeSignalListeners = (): void => {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    removeSignalListeners();
    settle({ signal });
  };
  const onError = (failure: unknown): void => settle({ failure });
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  process.on("uncaughtException", onError).on("unhandledRejection", onError);
  void ledger.failed.then(onError);
  return {
    requested,
    dispose() {
      removeSignalListeners();
      process.off("uncaughtException", onError).off("unhandledRejection", onError);
    },
  };
}

/** Whether a person reads standard output. Otherwise it contains only log records. */
function isTerminal(): boolean {
  return process.stdout.isTTY;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
