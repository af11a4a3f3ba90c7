import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { Fault } from "../errors.ts";
import type { HostLimits } from "../host/main.ts";

/** Options of `isotherm serve`. */
export interface ServeFlags {
  readonly demo?: true;
  readonly atlas?: string;
  readonly data: string;
  readonly database?: string;
  readonly host: string;
  readonly port: number;
  readonly adminPort: number | "none";
  readonly workers: number;
  readonly cache?: number;
  readonly memory?: number;
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

/** Adds the options of `isotherm serve` to a command. */
export function addServeOptions(command: Command): Command {
  const integer = (min: number, max: number) => (text: string) => readInteger(text, { min, max });
  const limit = (flags: string, description: string, name: string): Option =>
    new Option(flags, description).env(`ISOTHERM_${name}`).argParser(integer(1, 1e9));
  return command
    .addOption(new Option("--demo", "serve the synthetic demo atlas (not real data)"))
    .addOption(new Option("--atlas <atlas>", 'atlas: a folder, an http(s) address, or "demo"').env("ISOTHERM_ATLAS"))
    .addOption(new Option("--data <folder>", "data folder with the ledger").env("ISOTHERM_DATA").default(DATA_DEFAULT))
    .addOption(
      new Option("--database <url>", "PostgreSQL ledger instead of SQLite: postgres://user:password@host/name").env(
        "ISOTHERM_DATABASE_URL",
      ),
    )
    .addOption(new Option("--host <address>", "address to listen on").env("ISOTHERM_HOST").default("127.0.0.1"))
    .addOption(
      new Option("--port <port>", "port to listen on; 0 selects a free port")
        .env("ISOTHERM_PORT")
        .default(8080)
        .argParser(readPort),
    )
    .addOption(
      new Option(
        "--admin-port <port>",
        'port of the metrics, on 127.0.0.1 only; 0 selects a free port, "none" disables it',
      )
        .env("ISOTHERM_ADMIN_PORT")
        .default(9464)
        .argParser((text) => (text === "none" ? text : readPort(text))),
    )
    .addOption(
      new Option("--workers <count>", "number of worker threads; 0 runs everything on the main thread")
        .env("ISOTHERM_WORKERS")
        .default(Math.max(1, availableParallelism() - 1))
        .argParser(integer(0, 256)),
    )
    .addOption(
      new Option("--cache <MiB>", "memory for decoded tiles, total of all threads (default: up to 512)")
        .env("ISOTHERM_CACHE")
        .argParser(integer(16, 3072)),
    )
    .addOption(
      new Option("--memory <MiB>", "memory of the process (default: of the control group, else half of the machine)")
        .env("ISOTHERM_MEMORY")
        .argParser(integer(256, 4_194_304)),
    )
    .addOption(
      new Option("--cors-origin <origin...>", 'origins allowed by CORS, such as https://example.org, or "*"')
        .env("ISOTHERM_CORS_ORIGIN")
        .argParser((text: string, previous: readonly string[] | undefined) => [
          ...(previous ?? []),
          ...text.split(",").map((origin) => origin.trim()),
        ]),
    )
    .addOption(
      new Option(
        "--drain-delay <seconds>",
        "time after SIGTERM during which /readyz returns 503 and connections are still accepted",
      )
        .env("ISOTHERM_DRAIN_DELAY")
        .default(2)
        .argParser(readSeconds),
    )
    .addOption(
      new Option("--log <where>", "where to log each response as a JSON line")
        .env("ISOTHERM_LOG")
        .choices(["stdout", "none"])
        .default("stdout"),
    )
    .addOption(
      new Option("--body-limit <MiB>", "maximum size of a request body (default: 8)")
        .env("ISOTHERM_BODY_LIMIT")
        .argParser(integer(1, 256)),
    )
    .addOption(limit("--batch-limit <count>", "maximum elements of a batch (default: 10000)", "BATCH_LIMIT"))
    .addOption(limit("--value-limit <count>", "maximum values of a request (default: 100000)", "VALUE_LIMIT"))
    .addOption(
      limit("--detail-limit <count>", "maximum values with detail of a request (default: 10000)", "DETAIL_LIMIT"),
    )
    .addOption(limit("--entity-limit <count>", "maximum entities of a request (default: 5000)", "ENTITY_LIMIT"))
    .addOption(
      limit(
        "--requests-per-second <count>",
        "sustained request rate of an account (default: 50)",
        "REQUESTS_PER_SECOND",
      ),
    )
    .addOption(limit("--request-burst <count>", "request burst of an account (default: 100)", "REQUEST_BURST"));
}

/** Returns the atlas to serve. `--demo` overrides ISOTHERM_ATLAS, but is rejected together with `--atlas`. */
export function atlasAddress({ demo, atlas }: ServeFlags, atlasSource: string | undefined): string {
  if (demo === true && atlas !== undefined && atlasSource === "cli") {
    throw new Fault("configuration_invalid", "--demo and --atlas are mutually exclusive; set only one of them.");
  }
  if (demo === true) return "demo";
  if (atlas !== undefined) return atlas;
  const message = "no atlas given; set --atlas or ISOTHERM_ATLAS, or use --demo for synthetic data.";
  throw new Fault("configuration_invalid", message);
}

/** Returns the limits of the host that are set by options. */
export function hostLimitsOf(flags: ServeFlags): Partial<HostLimits> {
  const { bodyLimit, batchLimit, valueLimit, detailLimit, entityLimit, requestsPerSecond, requestBurst } = flags;
  return {
    ...(bodyLimit === undefined ? {} : { requestBodyBytesMax: bodyLimit * 2 ** 20 }),
    ...(batchLimit === undefined ? {} : { batchCount: batchLimit }),
    ...(valueLimit === undefined ? {} : { hazardValueCount: valueLimit, alignmentValueCount: valueLimit }),
    ...(detailLimit === undefined ? {} : { detailCount: detailLimit }),
    ...(entityLimit === undefined ? {} : { entityCount: entityLimit }),
    ...(requestsPerSecond === undefined ? {} : { requestsPerS: requestsPerSecond }),
    ...(requestBurst === undefined ? {} : { requestBurst }),
  };
}

function readPort(text: string): number {
  return readInteger(text, { min: 0, max: 65_535 });
}

function readInteger(text: string, { min, max }: { readonly min: number; readonly max: number }): number {
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
}

function readSeconds(text: string): number {
  const seconds = /^[0-9]{1,4}(\.[0-9]{1,3})?$/.test(text) ? Number(text) : NaN;
  if (seconds <= 3600) return seconds;
  throw new InvalidArgumentError("It must be a number of seconds from 0 to 3600.");
}
