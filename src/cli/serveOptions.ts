import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { Fault } from "../errors.ts";
import { isAddressRange } from "../host/http/clientAddress.ts";
import type { HostLimits, ServeOptions } from "../host/main.ts";
import { addDatabaseOptions, type DatabaseFlags } from "./databaseOptions.ts";

/** Options of `isotherm serve` that are read by name; `SERVE_OPTIONS` has all of them. */
export interface ServeFlags extends DatabaseFlags {
  readonly demo?: true;
  readonly atlas?: string;
  readonly data: string;
  readonly host: string;
  readonly port: number;
  readonly adminPort: number | "none";
  readonly adminHost: string;
  readonly adminAllowedHost?: readonly string[];
  readonly workers: number;
  readonly cache?: number;
  readonly memory?: number;
  readonly corsOrigin?: readonly string[];
  readonly drainDelay: number;
  readonly log: "stdout" | "none";
  readonly bodyLimit?: number;
  readonly trustProxy?: readonly string[];
}

/** An option of `isotherm serve`. */
interface ServeOption {
  /** The flag, and its value or unit. The environment variable is the flag in upper case after `ISOTHERM_`. */
  readonly flag: string;
  /** Ends with the default if the host has it. */
  readonly description: string;
  readonly byDefault?: string | number;
  /** Converts a value, or rejects it with the range. */
  readonly read?: (text: string, previous: never) => unknown;
  readonly choices?: readonly string[];
  /** The options of the host that it sets. */
  readonly limits?: (value: number) => Partial<HostLimits>;
  readonly clients?: (value: never) => NonNullable<ServeOptions["clients"]>;
  readonly timeouts?: (value: number) => NonNullable<ServeOptions["timeouts"]>;
}

const integer = (min: number, max: number) => (text: string) => readInteger(text, { min, max });
const PORT = integer(0, 65_535);
const COUNT = integer(1, 1e9);

/** All options of `isotherm serve` but those of the database and `--demo`. */
export const SERVE_OPTIONS: readonly ServeOption[] = [
  { flag: "--atlas <atlas>", description: 'atlas: a folder, an http(s) address, or "demo"' },
  { flag: "--data <folder>", description: "data folder with the ledger", byDefault: "./isotherm-data" },
  { flag: "--host <address>", description: "address to listen on", byDefault: "127.0.0.1" },
  { flag: "--port <port>", description: "port to listen on; 0 selects a free port", byDefault: 8080, read: PORT },
  {
    flag: "--admin-port <port>",
    description: 'port of the metrics; 0 selects a free port, "none" disables it',
    byDefault: 9464,
    read: (text) => (text === "none" ? text : PORT(text)),
  },
  {
    flag: "--admin-host <address>",
    description: "address of the metrics, which have no authentication",
    byDefault: "127.0.0.1",
  },
  {
    flag: "--admin-allowed-host <name...>",
    description: "host names that requests of the metrics may have, besides localhost and IP addresses",
    read: appendList,
  },
  {
    flag: "--workers <count>",
    description: "number of worker threads; 0 runs everything on the main thread",
    byDefault: Math.max(1, availableParallelism() - 1),
    read: integer(0, 256),
  },
  {
    flag: "--cache <MiB>",
    description: "memory for decoded tiles, total of all threads (default: up to 512)",
    read: integer(16, 3072),
  },
  {
    flag: "--memory <MiB>",
    description: "memory of the process (default: of the control group, else half of the machine)",
    read: integer(256, 4_194_304),
  },
  {
    flag: "--cors-origin <origin...>",
    description: 'origins allowed by CORS, such as https://example.org, or "*"',
    read: appendList,
  },
  {
    flag: "--drain-delay <seconds>",
    description: "time after SIGTERM during which /readyz returns 503 and connections are still accepted",
    byDefault: 2,
    read: readSeconds,
  },
  {
    flag: "--log <where>",
    description: "where to log each response as a JSON line",
    byDefault: "stdout",
    choices: ["stdout", "none"],
  },
  {
    flag: "--body-limit <MiB>",
    description: "maximum size of a request body (default: 8)",
    read: integer(1, 256),
    limits: (value) => ({ requestBodyBytesMax: value * 2 ** 20 }),
  },
  {
    flag: "--batch-limit <count>",
    description: "maximum elements of a batch (default: 10000)",
    read: COUNT,
    limits: (batchCount) => ({ batchCount }),
  },
  {
    flag: "--value-limit <count>",
    description: "maximum values of a request (default: 100000)",
    read: COUNT,
    limits: (value) => ({ hazardValueCount: value, alignmentValueCount: value }),
  },
  {
    flag: "--detail-limit <count>",
    description: "maximum values with detail of a request (default: 10000)",
    read: COUNT,
    limits: (detailCount) => ({ detailCount }),
  },
  {
    flag: "--entity-limit <count>",
    description: "maximum entities of a request (default: 5000)",
    read: COUNT,
    limits: (entityCount) => ({ entityCount }),
  },
  {
    flag: "--customer-limit <count>",
    description: "maximum customers of an account, including archived ones (default: 100000)",
    read: COUNT,
    limits: (customerCount) => ({ customerCount }),
  },
  {
    flag: "--requests-per-second <count>",
    description: "sustained request rate of an account (default: 50)",
    read: COUNT,
    limits: (requestsPerS) => ({ requestsPerS }),
  },
  {
    flag: "--request-burst <count>",
    description: "request burst of an account (default: 100)",
    read: COUNT,
    limits: (requestBurst) => ({ requestBurst }),
  },
  {
    flag: "--tiles-per-second <count>",
    description: "sustained rate of map tiles of an account (default: 100)",
    read: COUNT,
    limits: (tilesPerS) => ({ tilesPerS }),
  },
  {
    flag: "--tile-burst <count>",
    description: "burst of map tiles of an account (default: 400)",
    read: COUNT,
    limits: (tileBurst) => ({ tileBurst }),
  },
  {
    flag: "--trust-proxy <range...>",
    description: "addresses and CIDR ranges of reverse proxies whose X-Forwarded-For gives the client address",
    read: appendRanges,
  },
  {
    flag: "--exempt-address <range...>",
    description: 'addresses and CIDR ranges that are not limited by address, or "none" (default: 127.0.0.0/8, ::1)',
    read: (text, previous?: readonly string[]) => (text === "none" ? [] : appendRanges(text, previous)),
    clients: (exemptAddresses: readonly string[]) => ({ exemptAddresses }),
  },
  {
    flag: "--connection-limit <count>",
    description: "maximum open connections (default: 10000)",
    read: COUNT,
    timeouts: (connectionCountMax) => ({ connectionCountMax }),
  },
  {
    flag: "--address-connection-limit <count>",
    description: "maximum open connections from one address (default: 512)",
    read: COUNT,
    timeouts: (connectionsPerAddressMax) => ({ connectionsPerAddressMax }),
  },
  {
    flag: "--open-requests-per-second <count>",
    description: "sustained rate of requests without a known API key from one address (default: 50)",
    read: COUNT,
    clients: (openRequestsPerS: number) => ({ openRequestsPerS }),
  },
  {
    flag: "--open-request-burst <count>",
    description: "burst of such requests (default: 200)",
    read: COUNT,
    clients: (openRequestBurst: number) => ({ openRequestBurst }),
  },
  {
    flag: "--key-lookup-limit <count>",
    description: "API keys looked up at the same time (default: 256)",
    read: COUNT,
    clients: (keyLookupsMax: number) => ({ keyLookupsMax }),
  },
];

/** Returns the option of the command line. */
export function commandOption({ flag, description, byDefault, read, choices }: ServeOption): Option {
  const option = new Option(flag, description);
  option.env(`ISOTHERM_${option.name().toUpperCase().replaceAll("-", "_")}`);
  if (choices !== undefined) option.choices(choices);
  if (read !== undefined) option.argParser(read as (text: string, previous: unknown) => unknown);
  return byDefault === undefined ? option : option.default(byDefault);
}

/** Adds the options of `isotherm serve` to a command. */
export function addServeOptions(command: Command): Command {
  addDatabaseOptions(command).addOption(new Option("--demo", "serve the synthetic demo atlas (not real data)"));
  for (const option of SERVE_OPTIONS) command.addOption(commandOption(option));
  return command;
}

/** Appends a list with commas to the values given before. */
function appendList(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...text.split(",").map((item) => item.trim())];
}

function appendRanges(text: string, previous?: readonly string[]): readonly string[] {
  const ranges = appendList(text, previous);
  if (ranges.every(isAddressRange)) return ranges;
  throw new InvalidArgumentError("It must be IP addresses or ranges such as 192.0.2.1, 10.0.0.0/8 or fd00::/8.");
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

/** Returns the options of the server, except for the atlas, the ledger and the log. */
export function serverOptionsOf(flags: ServeFlags): Omit<ServeOptions, "atlas" | "ledger" | "log"> {
  const { adminPort, adminHost, adminAllowedHost, corsOrigin, trustProxy, data, database } = flags;
  const limits: Partial<HostLimits> = {};
  const clients: NonNullable<ServeOptions["clients"]> = {};
  const timeouts: NonNullable<ServeOptions["timeouts"]> = {};
  for (const option of SERVE_OPTIONS) {
    const value = (flags as object as Readonly<Record<string, unknown>>)[commandOption(option).attributeName()];
    if (value === undefined) continue;
    Object.assign(limits, option.limits?.(value as number));
    Object.assign(clients, option.clients?.(value as never));
    Object.assign(timeouts, option.timeouts?.(value as number));
  }
  return {
    host: flags.host,
    port: flags.port,
    ...(adminPort === "none" ? {} : { adminPort, adminHost }),
    ...(adminAllowedHost === undefined ? {} : { adminAllowedHosts: adminAllowedHost }),
    ...(database === undefined ? { ledgerFolder: data } : {}),
    ...(corsOrigin === undefined ? {} : { corsOrigins: corsOrigin }),
    ...(trustProxy === undefined ? {} : { trustedProxies: trustProxy }),
    limits,
    clients,
    timeouts,
  };
}

function readInteger(text: string, { min, max }: { readonly min: number; readonly max: number }): number {
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
}

function readSeconds(text: string): number {
  const seconds = /^[0-9]{1,4}(\.[0-9]{1,3})?$/.test(text) ? Number(text) : NaN;
  if (seconds <= 3600) return seconds;
  throw new InvalidArgumentError("It must be a number of seconds from 0 to 3600.");
}
