import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type * as opening from "../../src/ledger/openLedger.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The program as it is shipped. */
const BUILT = join(ROOT, "dist");

export const { openLedger } = (await import(
  new URL("../../dist/ledger/openLedger.js", import.meta.url).href
)) as typeof opening;

/** `ISOTHERM_DURABILITY_…`: how much of a campaign is done. */
export function sizeOf(name: string, small: number): number {
  const count = Number(process.env[`ISOTHERM_DURABILITY_${name}`] ?? small);
  if (!Number.isInteger(count) || count < 1) throw new Error(`ISOTHERM_DURABILITY_${name} must be a whole number.`);
  return count;
}

/** Where the ledger of a service lies. */
export type Place =
  { readonly data: string; readonly database?: undefined } | { readonly data: string; readonly database: string };

/** What stands in a file of the built program, and what is to stand there instead. */
export interface Fault {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A copy of the built program with something wrong in it. @returns its folder, as `built` of a service */
export async function builtWith(faults: readonly Fault[]): Promise<{ readonly built: string; done(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "isotherm-planted-"));
  const built = join(folder, "dist");
  await cp(BUILT, built, { recursive: true });
  await cp(join(ROOT, "package.json"), join(folder, "package.json"));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const { file, from, to } of faults) {
    const text = await readFile(join(built, file), "utf8");
    const parts = text.split(from);
    if (parts.length !== 2) throw new Error(`${file} holds '${from}' ${parts.length - 1} times: nothing is planted.`);
    await writeFile(join(built, file), parts.join(to));
  }
  return { built, done: () => rm(folder, { recursive: true, force: true }) };
}

/** `isotherm serve --demo` in a process of its own. */
export interface Service {
  readonly url: string;
  /** What it has written so far, to standard output and standard error. */
  output(): string;
  /** Resolves when it has ended, and whoever traced it too. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** SIGKILL, of which the process itself notices nothing. */
  kill(): Promise<void>;
  /** SIGTERM, as an operator does. */
  stop(): Promise<void>;
}

/** More than any campaign asks for in its time. */
const NO_RATES = ["--requests-per-second", "1000000000", "--request-burst", "1000000000"];
const START_TIMEOUT_MS = 60_000;
/** A campaign that fails, or takes too long, leaves nothing running behind it. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/**
 * @param options `under`: a command that runs it, such as strace with -D; `flags` beyond those of every service here
 */
export async function startService(
  place: Place,
  options: { readonly built?: string; readonly flags?: readonly string[]; readonly under?: readonly string[] } = {},
): Promise<Service> {
  const { built = BUILT, flags = [], under = [] } = options;
  const ledger = place.database === undefined ? [] : ["--database", place.database];
  const own = ["--port", "0", "--admin-port", "none", "--workers", "1", "--drain-delay", "0", "--data", place.data];
  const serve = [process.execPath, join(built, "cli/main.js"), "serve", "--demo", ...own, ...ledger, ...NO_RATES];
  const [command = "", ...rest] = [...under, ...serve, ...flags];
  const child = spawn(command, rest, { env: { PATH: process.env["PATH"] }, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const ended = endOf(child);
  const url = await started(child, () => output);
  return {
    url,
    output: () => output,
    ended,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function endOf(child: ChildProcess): Service["ended"] {
  return new Promise((resolve) => {
    // Not "exit": until "close", something may still be written.
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}

function started(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const give = (settle: () => void): void => {
      clearTimeout(deadline);
      clearInterval(looking);
      settle();
    };
    const looking = setInterval(() => {
      const [, url] = /Isotherm listens on (\S+)[^]*Try it:/.exec(output()) ?? [];
      if (url !== undefined) give(() => resolve(url));
      else if (child.exitCode !== null) give(() => reject(new Error(`The service did not start: ${output()}`)));
    }, 20);
    const deadline = setTimeout(() => {
      child.kill("SIGKILL");
      give(() => reject(new Error(`The service did not start in time: ${output()}`)));
    }, START_TIMEOUT_MS);
  });
}

/** What a command of the operator writes. */
export async function operate(
  parameters: readonly string[],
  { data, database }: Place,
  { built = BUILT }: { readonly built?: string } = {},
): Promise<string> {
  const where = database === undefined ? ["--data", data] : ["--database", database];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(built, "cli/main.js"), ...parameters, ...where],
    { env: { PATH: process.env["PATH"] }, maxBuffer: 1 << 28 },
  );
  return stdout;
}

/** Does something with the ledger of a service that is not running, or beside one that is. */
export async function withLedger<T>({ data, database }: Place, use: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await openLedger(database === undefined ? { data } : { database });
  try {
    return await use(ledger);
  } finally {
    await ledger.close();
  }
}

/** An account with a key and customers. */
export interface Account {
  readonly accountId: string;
  readonly keyId: string;
  readonly apiKey: string;
  readonly customerIds: readonly string[];
}

export async function newAccount(
  ledger: Ledger,
  { name, internalIds }: { readonly name: string; readonly internalIds: readonly string[] },
): Promise<Account> {
  const { accountId } = await ledger.createAccount({ name });
  const { key, secret } = await ledger.createKey({ accountId });
  const customerIds: string[] = [];
  for (const internalId of internalIds) {
    customerIds.push((await ledger.registerCustomer({ accountId, internalId })).customer.customerId);
  }
  return { accountId, keyId: key.keyId, apiKey: secret, customerIds };
}
