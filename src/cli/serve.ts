import { availableParallelism } from "node:os";
import { setFlagsFromString } from "node:v8";
import { Command, InvalidArgumentError, Option } from "commander";
import { withoutSecrets } from "../atlas/address.ts";
import { Fault } from "../errors.ts";
import type { Atlas } from "../hazard/answer.ts";
import type { HostLimits, RunningServer } from "../host/main.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { openLedger } from "../ledger/openLedger.ts";
import { openAtlas } from "../openAtlas.ts";
import { ledgerPackages, requirePackages } from "../optionalPackages.ts";
import { prepareDemo } from "./demoCredentials.ts";
import type { ServiceLog } from "./serviceLog.ts";
import { endOnOutputError } from "./standardOutput.ts";

interface ServeFlags {
  readonly demo?: true;
  readonly atlas?: string;
  readonly data: string;
  readonly database?: string;
  readonly host: string;
  readonly port: number;
  readonly adminPort: number | "none";
  readonly workers: number;
  readonly cache?: number;
  readonly corsOrigin?: readonly string[];
  readonly drainDelay: number;
  readonly log: "stdout" | "none";
  readonly bodyLimit?: number;
  readonly batchLimit?: number;
  readonly valueLimit?: number;
  readonly detailLimit?: number;
  readonly entityLimit?: number;
  readonly requestsPerSecond?: number;
  readonly requestBurst?: number;
}

const DATA_DEFAULT = "./isotherm-data";
/** After something that should never have happened answers are waited for no longer than this. */
const CRASH_DRAIN_MS = 5_000;

/** `isotherm serve`: answers HTTP until it is told to stop by SIGINT or SIGTERM. */
export function serveCommand(): Command {
  const command = new Command("serve");
  const whole = (least: number, most: number) => (text: string) => readWhole(text, { least, most });
  const limit = (flags: string, what: string, name: string): Option =>
    new Option(flags, what).env(`ISOTHERM_${name}`).argParser(whole(1, 1e9));
  return command
    .description("answer over HTTP")
    .addOption(new Option("--demo", "serve the synthetic demo atlas; its numbers are invented"))
    .addOption(new Option("--atlas <atlas>", 'folder or http(s) address of an atlas, or "demo"').env("ISOTHERM_ATLAS"))
    .addOption(new Option("--data <folder>", "folder of the ledger").env("ISOTHERM_DATA").default(DATA_DEFAULT))
    .addOption(
      new Option("--database <url>", "PostgreSQL as the ledger: postgres://user:password@host/name").env(
        "ISOTHERM_DATABASE_URL",
      ),
    )
    .addOption(new Option("--host <address>", "address to listen on").env("ISOTHERM_HOST").default("127.0.0.1"))
    .addOption(new Option("--port <port>", "0 takes a free one").env("ISOTHERM_PORT").default(8080).argParser(readPort))
    .addOption(
      new Option("--admin-port <port>", 'for metrics, on 127.0.0.1 alone; 0 takes a free one, "none" for none')
        .env("ISOTHERM_ADMIN_PORT")
        .default(9464)
        .argParser((text) => (text === "none" ? text : readPort(text))),
    )
    .addOption(
      new Option("--workers <count>", "worker threads; 0 does all on one thread")
        .env("ISOTHERM_WORKERS")
        .default(Math.max(1, availableParallelism() - 1))
        .argParser(whole(0, 256)),
    )
    .addOption(
      new Option("--cache <MiB>", "memory for decoded tiles, all threads together (default: 512)")
        .env("ISOTHERM_CACHE")
        .argParser(whole(16, 3072)),
    )
    .addOption(
      new Option("--cors-origin <origin...>", 'origins whose scripts may ask, such as https://example.org, or "*"')
        .env("ISOTHERM_CORS_ORIGIN")
        .argParser((text: string, before: readonly string[] | undefined) => [
          ...(before ?? []),
          ...text.split(",").map((origin) => origin.trim()),
        ]),
    )
    .addOption(
      new Option("--drain-delay <seconds>", "between SIGTERM, from when on /readyz says no, and taking no connections")
        .env("ISOTHERM_DRAIN_DELAY")
        .default(2)
        .argParser(readSeconds),
    )
    .addOption(
      new Option("--log <where>", "a JSON line for each answer")
        .env("ISOTHERM_LOG")
        .choices(["stdout", "none"])
        .default("stdout"),
    )
    .addOption(
      new Option("--body-limit <MiB>", "of one request's body (default: 8)")
        .env("ISOTHERM_BODY_LIMIT")
        .argParser(whole(1, 256)),
    )
    .addOption(limit("--batch-limit <count>", "elements of a batch (default: 10000)", "BATCH_LIMIT"))
    .addOption(limit("--value-limit <count>", "values of one request (default: 100000)", "VALUE_LIMIT"))
    .addOption(limit("--detail-limit <count>", "of these, with detail (default: 10000)", "DETAIL_LIMIT"))
    .addOption(limit("--entity-limit <count>", "entities of one request (default: 5000)", "ENTITY_LIMIT"))
    .addOption(limit("--requests-per-second <count>", "of one account (default: 50)", "REQUESTS_PER_SECOND"))
    .addOption(limit("--request-burst <count>", "of one account at once (default: 100)", "REQUEST_BURST"))
    .action((flags: ServeFlags) => run(atlasAddress(flags, command.getOptionValueSource("atlas")), flags));
}

/**
 * By how much the engine lets its heap grow before it collects all of it. What worker threads answer is the event loop's to
 * send, ten megabytes a batch, and counts as growth: at the engine's own pace every batch cost a whole collection, 5 to 20 ms
 * in which nobody is answered, and a third of the batches. It looks at this anew each time, so that it can be told late.
 */
const HEAP_GROWING_PERCENT = 300;

async function run(address: string, flags: ServeFlags): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  process.stdout.off("error", endOnOutputError).off("error", goOn).on("error", goOn);
  const { cache, workers, data, database, adminPort } = flags;
  requirePackages("The service", [
    "find-my-way",
    ...ledgerPackages({ database }),
    "pino",
    ...(adminPort === "none" ? [] : (["prom-client"] as const)),
    "rate-limiter-flexible",
    // The start message announces /docs, which this package serves.
    "swagger-ui-dist",
  ]);
  const atlas = await openAtlas(address, { workers, ...(cache === undefined ? {} : { cacheBytes: cache * 2 ** 20 }) });
  try {
    const ledger = await openLedger(database === undefined ? { data } : { database });
    try {
      await serveUntilStopped({ address, atlas, ledger, flags });
    } finally {
      await ledger.close();
    }
  } finally {
    await atlas.close();
  }
}

async function serveUntilStopped(open: {
  readonly address: string;
  readonly atlas: Atlas;
  readonly ledger: Ledger;
  readonly flags: ServeFlags;
}): Promise<void> {
  const { atlas, ledger, flags } = open;
  const { adminPort, corsOrigin, drainDelay } = flags;
  const { serve, openServiceLog } = await loadHost();
  const serviceLog = flags.log === "none" ? undefined : openServiceLog();
  const end = waitForShutdown(ledger);
  try {
    const running = await serve({
      atlas,
      ledger,
      host: flags.host,
      port: flags.port,
      limits: limitsOf(flags),
      ...(adminPort === "none" ? {} : { adminPort }),
      ...(corsOrigin === undefined ? {} : { corsOrigins: corsOrigin }),
      ...(serviceLog === undefined ? {} : { log: serviceLog.log }),
    });
    try {
      await tell(running, open);
      const { signal, failure } = await end.reached;
      if (failure === undefined) {
        write("Stopping: what is under way is finished first.");
        // A person at a terminal waits for nobody; a balancer has to find out first.
        await running.close({ drainDelayMs: signal === "SIGTERM" ? drainDelay * 1000 : 0 });
      } else await crash(running, failure, serviceLog);
    } finally {
      await running.close({ drainDelayMs: 0 });
    }
  } finally {
    end.forget();
    serviceLog?.flush();
  }
}

/** Imports the host on demand: its packages are optional, and the other commands run without them. */
async function loadHost() {
  const [{ serve }, { openServiceLog }] = await Promise.all([import("../host/main.ts"), import("./serviceLog.ts")]);
  return { serve, openServiceLog };
}

/** Something is wrong that cannot be put right here: answers what it can, takes nothing more, and ends as a failure. */
async function crash(running: RunningServer, failure: unknown, serviceLog: ServiceLog | undefined): Promise<void> {
  process.exitCode = 1;
  serviceLog?.fatal(failure);
  write("Stopping: something went wrong that only a new start can put right.");
  // Whatever state this process is in, it ends.
  const deadline = setTimeout(() => {
    serviceLog?.flush();
    process.exit(1);
  }, CRASH_DRAIN_MS);
  await running.close({ drainDelayMs: 0 });
  // Kept, but not waited for: the ledger and the atlas may still hang.
  deadline.unref();
}

/** Tells whoever started the service where it is and how to ask it, once everything that it tells of is there. */
async function tell(
  running: RunningServer,
  { address, atlas, ledger, flags }: { address: string; atlas: Atlas; ledger: Ledger; flags: ServeFlags },
): Promise<void> {
  const { url } = running.address;
  const demo = flags.demo === true ? await prepareDemo(ledger, { data: flags.data, baseUrl: url }) : undefined;
  write(`Isotherm listens on ${url}`);
  write(`Documentation: ${url}/docs`);
  if (running.adminUrl !== undefined) write(`Metrics: ${running.adminUrl}/metrics`);
  write(`Atlas: ${withoutSecrets(address)}, release ${atlas.release}`);
  if (atlas.synthetic) write("SYNTHETIC: every number of this atlas is invented. Decide nothing by it.");
  if (demo === undefined) {
    write("Every request needs a key: isotherm accounts create, then isotherm keys create.");
    return;
  }
  const { file, credentials } = demo;
  const key = `$(node -p ${quoted(`require(${JSON.stringify(file)}).api_key`)})`;
  const customer = quoted(`X-Customer-ID: ${credentials.customer_id}`);
  write(`Key and customer for trying it: ${file}`);
  write("Try it:");
  write(`  curl -H "X-API-Key: ${key}" -H ${customer} '${url}/api/v1/hazard-risk?${EXAMPLE}'`);
}

/** Text as a shell takes it, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Whoever read what the service writes may stop reading: that is no reason to stop answering. */
function goOn(): void {}

/** A circle of 10 km around Djibouti. */
const EXAMPLE =
  "latitude=11.59&longitude=43.15&hazards=riverine_floods,coastal_floods&analysis_years=2050&scenarios=rcp8p5&radius=10";

/** The demo named on the command line goes before an atlas named by the environment; two named there are a slip. */
function atlasAddress({ demo, atlas }: ServeFlags, atlasFrom: string | undefined): string {
  if (demo === true && atlas !== undefined && atlasFrom === "cli") {
    throw new Fault("configuration_invalid", "--demo and --atlas name two atlases; give one of them.");
  }
  if (demo === true) return "demo";
  if (atlas !== undefined) return atlas;
  const message = "There is no atlas to serve: give --atlas with a folder, or --demo for synthetic numbers.";
  throw new Fault("configuration_invalid", message);
}

function limitsOf(flags: ServeFlags): Partial<HostLimits> {
  const { bodyLimit, batchLimit, valueLimit, detailLimit, entityLimit, requestsPerSecond, requestBurst } = flags;
  return {
    ...(bodyLimit === undefined ? {} : { bodySizeBytes: bodyLimit * 2 ** 20 }),
    ...(batchLimit === undefined ? {} : { batchCount: batchLimit }),
    ...(valueLimit === undefined ? {} : { hazardValueCount: valueLimit, alignmentValueCount: valueLimit }),
    ...(detailLimit === undefined ? {} : { detailCount: detailLimit }),
    ...(entityLimit === undefined ? {} : { entityCount: entityLimit }),
    ...(requestsPerSecond === undefined ? {} : { requestsPerS: requestsPerSecond }),
    ...(requestBurst === undefined ? {} : { requestBurst }),
  };
}

function readPort(text: string): number {
  return readWhole(text, { least: 0, most: 65_535 });
}

function readWhole(text: string, { least, most }: { readonly least: number; readonly most: number }): number {
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
}

function readSeconds(text: string): number {
  const seconds = /^[0-9]{1,4}(\.[0-9]{1,3})?$/.test(text) ? Number(text) : NaN;
  if (seconds <= 3600) return seconds;
  throw new InvalidArgumentError("It must be a number of seconds from 0 to 3600.");
}

interface End {
  readonly signal?: NodeJS.Signals;
  readonly failure?: unknown;
}

/**
 * What ends the service first: a signal, a ledger that has stopped for good, or an error that nobody expected. A second
 * signal ends the process at once, as it does everywhere.
 */
function waitForShutdown(ledger: Ledger): { readonly reached: Promise<End>; forget(): void } {
  let settle: (end: End) => void;
  const reached = new Promise<End>((resolve) => (settle = resolve));
  const forgetSignals = (): void => {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    forgetSignals();
    settle({ signal });
  };
  const onError = (failure: unknown): void => settle({ failure });
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  process.on("uncaughtException", onError).on("unhandledRejection", onError);
  void ledger.failed.then(onError);
  return {
    reached,
    forget() {
      forgetSignals();
      process.off("uncaughtException", onError).off("unhandledRejection", onError);
    },
  };
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
