import { type ChildProcess, execFile, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type * as openLedgerModule from "../../src/ledger/openLedger.ts";
import { type FaultName, serveCommandLine } from "../faults/faultNames.ts";
import { startedUrl } from "../startedUrl.ts";

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

const { openLedger } = (await import(
  new URL("../../dist/ledger/openLedger.js", import.meta.url).href
)) as typeof openLedgerModule;

/** Reads the environment variable `ISOTHERM_DURABILITY_<name>`, which sets the size of a test. */
export function sizeSetting(name: string, defaultCount: number): number {
  const text = process.env[`ISOTHERM_DURABILITY_${name}`];
  const count = text === undefined ? defaultCount : Number(text);
  if (!Number.isInteger(count) || count < 1) {
    throw new Error(`ISOTHERM_DURABILITY_${name} must be an integer of 1 or more (got ${text}).`);
  }
  return count;
}

/** The location of a service's ledger: a data folder, or a data folder and a PostgreSQL database. */
export type LedgerLocation =
  { readonly data: string; readonly database?: undefined } | { readonly data: string; readonly database: string };

/** A process that runs `isotherm serve --demo`. */
export interface Service {
  readonly url: string;
  /** Returns the text written to standard output and standard error so far. */
  output(): string;
  /** Resolves when the process, and the one that traces it, has exited. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Sends a signal to the process. */
  signal(name: NodeJS.Signals): void;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
  /** Stops the process gracefully with SIGTERM. */
  stop(): Promise<void>;
}

/** Rate limits above the request rates of the tests. */
const UNLIMITED_RATES = ["requests-per-second", "request-burst", "tiles-per-second", "tile-burst"].flatMap((name) => [
  `--${name}`,
  "1000000000",
]);
const START_TIMEOUT_MS = 300_000;
/** Child processes to kill on exit, so that a failed test leaves none behind. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/**
 * Starts a service and waits until it listens.
 * @param options `atlas`: the atlas to serve instead of the demo; `fault`: a fault to inject; `wrapper`: a command that runs the service, such as strace with -D; `flags`: additional options of serve; `program`: the script and command to run instead of `isotherm serve`
 */
export async function startService(
  { data, database }: LedgerLocation,
  options: {
    readonly atlas?: string | undefined;
    readonly fault?: FaultName | undefined;
    readonly flags?: readonly string[];
    readonly wrapper?: readonly string[];
    readonly program?: readonly string[];
  } = {},
): Promise<Service> {
  const { atlas, fault, flags = [], wrapper = [], program = serveCommandLine(fault) } = options;
  const databaseOptions = database === undefined ? [] : ["--database", database];
  const common = ["--port", "0", "--admin-port", "none", "--workers", "1", "--drain-delay", "0", "--data", data];
  const [command = "", ...rest] = [
    ...wrapper,
    process.execPath,
    ...program,
    ...(atlas === undefined ? ["--demo"] : ["--atlas", atlas]),
    ...common,
    ...databaseOptions,
    ...UNLIMITED_RATES,
    ...flags,
  ];
  const child = spawn(command, rest, { env: { PATH: process.env["PATH"] }, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const exited = waitForExit(child);
  const url = await waitForUrl(child, () => output);
  return {
    url,
    output: () => output,
    exited,
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

function waitForExit(child: ChildProcess): Service["exited"] {
  return new Promise((resolve) => {
    // Output may still arrive after "exit"; after "close" it is complete.
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}

function waitForUrl(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const settle = (action: () => void): void => {
      clearTimeout(deadline);
      clearInterval(polling);
      action();
    };
    const polling = setInterval(() => {
      // Releases before the log of JSON lines print their address as text.
      const url = startedUrl(output()) ?? /listens on (http:\S+)/.exec(output())?.[1];
      if (url !== undefined) settle(() => resolve(url));
      else if (child.exitCode !== null) settle(() => reject(new Error(`The service did not start: ${output()}`)));
    }, 20);
    const deadline = setTimeout(() => {
      child.kill("SIGKILL");
      settle(() => reject(new Error(`The service did not start within ${START_TIMEOUT_MS} ms: ${output()}`)));
    }, START_TIMEOUT_MS);
  });
}

/** Runs an isotherm command on a ledger. @returns its standard output */
export async function runCli(parameters: readonly string[], { data, database }: LedgerLocation): Promise<string> {
  const location = ["--data", data, ...(database === undefined ? [] : ["--database", database])];
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...parameters, ...location], {
    env: { PATH: process.env["PATH"] },
    maxBuffer: 1 << 28,
  });
  return stdout;
}

/** Opens a ledger for the duration of `use`; the service may be running at the same time. */
export async function withLedger<T>(
  { data, database }: LedgerLocation,
  use: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  const ledger = await (database === undefined
    ? openLedger({ data })
    : // The audit reports a ledger that does not match the service's anchor.
      openLedger({ database }, { anchorFolder: data, isChainChecked: false }));
  try {
    return await use(ledger);
  } finally {
    await ledger.close();
  }
}

/** Returns the places at which a ledger differs from its hash chain or its sums; empty if there are none. */
export function findDamage(location: LedgerLocation): Promise<readonly unknown[]> {
  return withLedger(location, async (ledger) => {
    const { chain, differences, sumDifferences } = await ledger.audit();
    return [...chain.problems, ...differences, ...sumDifferences];
  });
}

/** An account with a key and customers. */
export interface TestAccount {
  readonly accountId: string;
  readonly keyId: string;
  readonly apiKey: string;
  readonly customerIds: readonly string[];
}

export async function newAccount(
  ledger: Ledger,
  { name, internalIds }: { readonly name: string; readonly internalIds: readonly string[] },
): Promise<TestAccount> {
  const { accountId } = await ledger.createAccount({ name });
  const { key, secret } = await ledger.createKey({ accountId });
  const customerIds: string[] = [];
  for (const internalId of internalIds) {
    customerIds.push((await ledger.registerCustomer({ accountId, internalId })).customer.customerId);
  }
  return { accountId, keyId: key.keyId, apiKey: secret, customerIds };
}
