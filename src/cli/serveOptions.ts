import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { Fault } from "../errors.ts";
import { isAddressRange } from "../host/http/clientAddress.ts";
import type { HostLimits, ServeOptions } from "../host/main.ts";
import { addDatabaseOptions, type DatabaseFlags } from "./databaseOptions.ts";

/** Options of `isotherm serve`. */
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
  readonly batchLimit?: number;
  readonly valueLimit?: number;
  readonly detailLimit?: number;
  readonly entityLimit?: number;
  readonly customerLimit?: number;
  readonly requestsPerSecond?: number;
  readonly requestBurst?: number;
  readonly tilesPerSecond?: number;
  readonly tileBurst?: number;
  readonly trustProxy?: readonly string[];
  readonly exemptAddress?: readonly string[];
  readonly connectionLimit?: number;
  readonly addressConnectionLimit?: number;
  readonly openRequestsPerSecond?: number;
  readonly openRequestBurst?: number;
  readonly keyLookupLimit?: number;
}

const DATA_DEFAULT = "./isotherm-data";

/** Adds the options of `isotherm serve` to a command. */
export function addServeOptions(command: Command): Command {
  const integer = (min: number, max: number) => (text: string) => readInteger(text, { min, max });
  const limit = (flags: string, description: string, name: string): Option =>
    new Option(flags, description).env(`ISOTHERM_${name}`).argParser(integer(1, 1e9));
  return addDatabaseOptions(command)
    .addOption(new Option("--demo", "serve the synthetic demo atlas (not real data)"))
    .addOption(new Option("--atlas <atlas>", 'atlas: a folder, an http(s) address, or "demo"').env("ISOTHERM_ATLAS"))
    .addOption(new Option("--data <folder>", "data folder with the ledger").env("ISOTHERM_DATA").default(DATA_DEFAULT))
    .addOption(new Option("--host <address>", "address to listen on").env("ISOTHERM_HOST").default("127.0.0.1"))
    .addOption(
      new Option("--port <port>", "port to listen on; 0 selects a free port")
        .env("ISOTHERM_PORT")
        .default(8080)
        .argParser(readPort),
    )
    .addOption(
      new Option("--admin-port <port>", 'port of the metrics; 0 selects a free port, "none" disables it')
        .env("ISOTHERM_ADMIN_PORT")
        .default(9464)
        .argParser((text) => (text === "none" ? text : readPort(text))),
    )
    .addOption(
      new Option("--admin-host <address>", "address of the metrics, which have no authentication")
        .env("ISOTHERM_ADMIN_HOST")
        .default("127.0.0.1"),
    )
    .addOption(
      new Option(
        "--admin-allowed-host <name...>",
        "host names that requests of the metrics may have, besides localhost and IP addresses",
      )
        .env("ISOTHERM_ADMIN_ALLOWED_HOST")
        .argParser(appendList),
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
        .argParser(appendList),
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
        "--customer-limit <count>",
        "maximum customers of an account, including archived ones (default: 100000)",
        "CUSTOMER_LIMIT",
      ),
    )
    .addOption(
      limit(
        "--requests-per-second <count>",
        "sustained request rate of an account (default: 50)",
        "REQUESTS_PER_SECOND",
      ),
    )
    .addOption(limit("--request-burst <count>", "request burst of an account (default: 100)", "REQUEST_BURST"))
    .addOption(
      limit(
        "--tiles-per-second <count>",
        "sustained rate of map tiles of an account (default: 100)",
        "TILES_PER_SECOND",
      ),
    )
    .addOption(limit("--tile-burst <count>", "burst of map tiles of an account (default: 400)", "TILE_BURST"))
    .addOption(
      new Option(
        "--trust-proxy <range...>",
        "addresses and CIDR ranges of reverse proxies whose X-Forwarded-For gives the client address",
      )
        .env("ISOTHERM_TRUST_PROXY")
        .argParser(appendRanges),
    )
    .addOption(
      new Option(
        "--exempt-address <range...>",
        'addresses and CIDR ranges that are not limited by address, or "none" (default: 127.0.0.0/8, ::1)',
      )
        .env("ISOTHERM_EXEMPT_ADDRESS")
        .argParser((text: string, previous?: readonly string[]) =>
          text === "none" ? [] : appendRanges(text, previous),
        ),
    )
    .addOption(limit("--connection-limit <count>", "maximum open connections (default: 10000)", "CONNECTION_LIMIT"))
    .addOption(
      limit(
        "--address-connection-limit <count>",
        "maximum open connections from one address (default: 512)",
        "ADDRESS_CONNECTION_LIMIT",
      ),
    )
    .addOption(
      limit(
        "--open-requests-per-second <count>",
        "sustained rate of requests without a known API key from one address (default: 50)",
        "OPEN_REQUESTS_PER_SECOND",
      ),
    )
    .addOption(limit("--open-request-burst <count>", "burst of such requests (default: 200)", "OPEN_REQUEST_BURST"))
    .addOption(
      limit("--key-lookup-limit <count>", "API keys looked up at the same time (default: 256)", "KEY_LOOKUP_LIMIT"),
    );
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
  return {
    host: flags.host,
    port: flags.port,
    ...(adminPort === "none" ? {} : { adminPort, adminHost }),
    ...(adminAllowedHost === undefined ? {} : { adminAllowedHosts: adminAllowedHost }),
    ...(database === undefined ? { ledgerFolder: data } : {}),
    ...(corsOrigin === undefined ? {} : { corsOrigins: corsOrigin }),
    ...(trustProxy === undefined ? {} : { trustedProxies: trustProxy }),
    limits: hostLimitsOf(flags),
    clients: clientLimitsOf(flags),
    timeouts: connectionLimitsOf(flags),
  };
}

function hostLimitsOf(flags: ServeFlags): Partial<HostLimits> {
  const { bodyLimit, batchLimit, valueLimit, detailLimit, entityLimit, customerLimit } = flags;
  const { requestsPerSecond, requestBurst, tilesPerSecond, tileBurst } = flags;
  return {
    ...(bodyLimit === undefined ? {} : { requestBodyBytesMax: bodyLimit * 2 ** 20 }),
    ...(batchLimit === undefined ? {} : { batchCount: batchLimit }),
    ...(valueLimit === undefined ? {} : { hazardValueCount: valueLimit, alignmentValueCount: valueLimit }),
    ...(detailLimit === undefined ? {} : { detailCount: detailLimit }),
    ...(entityLimit === undefined ? {} : { entityCount: entityLimit }),
    ...(customerLimit === undefined ? {} : { customerCount: customerLimit }),
    ...(requestsPerSecond === undefined ? {} : { requestsPerS: requestsPerSecond }),
    ...(requestBurst === undefined ? {} : { requestBurst }),
    ...(tilesPerSecond === undefined ? {} : { tilesPerS: tilesPerSecond }),
    ...(tileBurst === undefined ? {} : { tileBurst }),
  };
}

function clientLimitsOf(flags: ServeFlags): NonNullable<ServeOptions["clients"]> {
  const { exemptAddress, openRequestsPerSecond, openRequestBurst, keyLookupLimit } = flags;
  return {
    ...(exemptAddress === undefined ? {} : { exemptAddresses: exemptAddress }),
    ...(openRequestsPerSecond === undefined ? {} : { openRequestsPerS: openRequestsPerSecond }),
    ...(openRequestBurst === undefined ? {} : { openRequestBurst }),
    ...(keyLookupLimit === undefined ? {} : { keyLookupsMax: keyLookupLimit }),
  };
}

function connectionLimitsOf(flags: ServeFlags): NonNullable<ServeOptions["timeouts"]> {
  const { connectionLimit, addressConnectionLimit } = flags;
  return {
    ...(connectionLimit === undefined ? {} : { connectionCountMax: connectionLimit }),
    ...(addressConnectionLimit === undefined ? {} : { connectionsPerAddressMax: addressConnectionLimit }),
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
