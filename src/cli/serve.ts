import { setFlagsFromString } from "node:v8";
import { Command } from "commander";
import { withoutSecrets } from "../atlas/address.ts";
import type { Atlas } from "../hazard/answer.ts";
import type { RunningServer, ServeOptions } from "../host/main.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type LedgerAddress, openLedger } from "../ledger/openLedger.ts";
import { openAtlas } from "../openAtlas.ts";
import { ledgerPackages, requirePackages } from "../optionalPackages.ts";
import { ensureDemoCredentials } from "./demoCredentials.ts";
import { type MemoryPlan, planMemory } from "./memoryPlan.ts";
import { addServeOptions, atlasAddress, hostLimitsOf, type ServeFlags } from "./serveOptions.ts";
import type { ServiceLog } from "./serviceLog.ts";
import { endOnOutputError } from "./standardOutput.ts";

/** Maximum time to finish requests after a fatal error. */
const FAILURE_DRAIN_MS = 5_000;

/** Parts of the service. Tests replace them to inject faults and to shorten timeouts (test/faults/). */
export interface ServiceParts {
  readonly openAtlas: typeof openAtlas;
  readonly openLedger: (address: LedgerAddress) => Promise<Ledger>;
  readonly serve: (options: ServeOptions) => Promise<RunningServer>;
  readonly heapGrowingPercent: number;
}

/** `isotherm serve`: runs the HTTP service until SIGINT or SIGTERM. */
export function serveCommand(parts: Partial<ServiceParts> = {}): Command {
  const command = new Command("serve");
  return addServeOptions(command)
    .description("run the HTTP service")
    .action((flags: ServeFlags) =>
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
  const { cache, memory, workers, data, database, adminPort } = flags;
  const plan = planMemory({
    workers,
    cacheBytes: cache === undefined ? undefined : cache * 2 ** 20,
    memoryBytes: memory === undefined ? undefined : memory * 2 ** 20,
  });
  requirePackages("The service", [
    ...ledgerPackages({ database }),
    "pino",
    ...(adminPort === "none" ? [] : (["prom-client"] as const)),
    // The startup message prints the address of /docs, which needs this package.
    "swagger-ui-dist",
  ]);
  const atlas = await parts.openAtlas(address, {
    workers,
    cacheBytes: plan.cacheBytes,
  });
  try {
    const ledger = await parts.openLedger(database === undefined ? { data } : { database });
    try {
      await serveUntilStopped({ address, atlas, ledger, flags, plan }, parts);
    } finally {
      await ledger.close();
    }
  } finally {
    await atlas.close();
  }
}

async function serveUntilStopped(
  service: {
    readonly address: string;
    readonly atlas: Atlas;
    readonly ledger: Ledger;
    readonly flags: ServeFlags;
    readonly plan: MemoryPlan;
  },
  { serve }: ServiceParts,
): Promise<void> {
  const { atlas, ledger, flags, plan } = service;
  const { adminPort, corsOrigin, drainDelay } = flags;
  const { openServiceLog } = await import("./serviceLog.ts");
  const serviceLog = flags.log === "none" ? undefined : openServiceLog();
  const shutdown = waitForShutdown(ledger);
  try {
    const running = await serve({
      atlas,
      ledger,
      host: flags.host,
      port: flags.port,
      limits: hostLimitsOf(flags),
      load: { memoryBytesMax: plan.requestBytes },
      ...(adminPort === "none" ? {} : { adminPort }),
      ...(corsOrigin === undefined ? {} : { corsOrigins: corsOrigin }),
      ...(serviceLog === undefined ? {} : { log: serviceLog.log }),
    });
    try {
      await printStartup(running, service);
      const { signal, failure } = await shutdown.requested;
      if (failure === undefined) {
        print("Stopping: finishing open requests.");
        // SIGTERM gives load balancers time to notice; SIGINT, which a terminal sends, does not wait.
        await running.close({ drainDelayMs: signal === "SIGTERM" ? drainDelay * 1000 : 0 });
      } else await shutDownAfterFailure(running, failure, serviceLog);
    } finally {
      await running.close({ drainDelayMs: 0 });
    }
  } finally {
    shutdown.dispose();
    serviceLog?.flush();
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
  serviceLog: ServiceLog | undefined,
): Promise<void> {
  process.exitCode = 1;
  serviceLog?.fatal(failure);
  print("Stopping after a fatal error; restart the service.");
  // Ends the process even if closing hangs.
  const deadline = setTimeout(() => {
    serviceLog?.flush();
    process.exit(1);
  }, FAILURE_DRAIN_MS);
  await running.close({ drainDelayMs: 0 });
  // The timer stays active, because closing the ledger or the atlas may hang, but does not keep the process alive.
  deadline.unref();
}

/** Prints the addresses of the service and, for the demo, a working request. */
async function printStartup(
  running: RunningServer,
  { address, atlas, ledger, flags }: { address: string; atlas: Atlas; ledger: Ledger; flags: ServeFlags },
): Promise<void> {
  const { url } = running.address;
  const demo =
    flags.demo === true ? await ensureDemoCredentials(ledger, { dataDirectory: flags.data, baseUrl: url }) : undefined;
  print(`Isotherm listens on ${url}`);
  print(`Documentation: ${url}/docs`);
  if (running.adminUrl !== undefined) print(`Metrics: ${running.adminUrl}/metrics`);
  print(`Atlas: ${withoutSecrets(address)}, release ${atlas.release}`);
  if (atlas.synthetic) print("SYNTHETIC: the values of this atlas are not real data. Do not base decisions on them.");
  if (demo === undefined) {
    print("Requests need an API key: run isotherm accounts create, then isotherm keys create.");
    return;
  }
  const { file, credentials } = demo;
  const key = `$(node -p ${shellQuoted(`require(${JSON.stringify(file)}).api_key`)})`;
  const customer = shellQuoted(`X-Customer-ID: ${credentials.customer_id}`);
  print(`Demo key and customer: ${file}`);
  print("Try it:");
  print(`  curl -H "X-API-Key: ${key}" -H ${customer} '${url}/api/v1/hazard-risk?${EXAMPLE_QUERY}'`);
}

/** Quotes text for a POSIX shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Keeps the service running if the reader closes its standard output. */
function ignoreOutputError(): void {}

/** A circle of 10 km around Djibouti. */
const EXAMPLE_QUERY =
  "latitude=11.59&longitude=43.15&hazards=riverine_floods,coastal_floods&analysis_years=2050&scenarios=rcp8p5&radius=10";

interface ShutdownCause {
  readonly signal?: NodeJS.Signals;
  readonly failure?: unknown;
}

/**
 * Waits for the first reason to shut down: a signal, a ledger that has failed permanently, or an uncaught error. A second
 * signal ends the process immediately.
 */
function waitForShutdown(ledger: Ledger): { readonly requested: Promise<ShutdownCause>; dispose(): void } {
  let settle: (cause: ShutdownCause) => void;
  const requested = new Promise<ShutdownCause>((resolve) => (settle = resolve));
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

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
