import { execFile, spawnSync } from "node:child_process";
import { chown, mkdtemp, readFile, rm } from "node:fs/promises";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe } from "vitest";

const run = promisify(execFile);

/** Folder in which Debian installs each version of PostgreSQL. */
const VERSIONS_FOLDER = "/usr/lib/postgresql";
const binaries = newestBinaries();
if (binaries === undefined) {
  // On CI a skipped test would hide failures.
  if (process.env["CI"] === "true") throw new Error(`CI requires PostgreSQL in ${VERSIONS_FOLDER}.`);
  console.warn(`skipped: PostgreSQL is not installed in ${VERSIONS_FOLDER} (apt-get install postgresql)`);
}

/** `describe` for tests that need PostgreSQL; skipped if it is not installed. */
export const describeWithPostgres = describe.skipIf(binaries === undefined);

/** A PostgreSQL server for one test file, in a temporary folder. */
export interface PostgresServer {
  readonly port: number;
  /** Creates an empty database. @returns its address */
  newDatabase(options?: { readonly encoding?: string }): Promise<string>;
  /** Returns the number of transactions that the server has committed. */
  commitCount(): Promise<number>;
  /** Kills the server with SIGKILL. */
  kill(): Promise<void>;
  /** Stops all processes of the server with SIGSTOP: connections stay open and nothing responds. */
  pause(): Promise<void>;
  /** Continues the processes that `pause` has stopped. */
  resume(): void;
  /** Stops the server without waiting for clients to disconnect. */
  stop(): Promise<void>;
  /** @param settings such as `fsync=off` */
  start(settings?: readonly string[]): Promise<void>;
  /** Continues a paused server, and starts one that was killed or stopped. */
  restore(): Promise<void>;
  /** Stops the server and removes its folder. */
  dispose(): Promise<void>;
}

/** Starts a PostgreSQL server on a free port of 127.0.0.1. */
export async function startPostgres(): Promise<PostgresServer> {
  if (binaries === undefined) throw new Error("PostgreSQL is not installed.");
  const folder = await mkdtemp(join(tmpdir(), "isotherm-postgres-"));
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? "postgres" : undefined;
  if (user !== undefined) await chown(folder, systemIdOf("-u", user), systemIdOf("-g", user));
  const data = join(folder, "data");
  const port = await freePort();
  const runProgram = (name: string, ...parameters: string[]): Promise<unknown> => {
    const command = [join(binaries, name), ...parameters];
    return user === undefined
      ? run(command[0] ?? "", command.slice(1), { cwd: folder })
      : run("runuser", ["-u", user, "--", ...command], { cwd: folder });
  };
  const control = (...parameters: string[]): Promise<unknown> => runProgram("pg_ctl", "-D", data, "-w", ...parameters);
  let isRunning = false;
  const start = async (settings: readonly string[] = []): Promise<void> => {
    const all = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", ...settings];
    const options = all.map((setting) => `-c ${setting}`).join(" ");
    await control("start", "-l", join(folder, "log"), "-o", options);
    isRunning = true;
  };
  let databaseCount = 0;
  const pausedIds: number[] = [];
  const resume = (): void => {
    for (const id of pausedIds.splice(0)) process.kill(id, "SIGCONT");
  };
  const serverId = async (): Promise<number> =>
    Number((await readFile(join(data, "postmaster.pid"), "utf8")).split("\n")[0]);

  await runProgram("initdb", "-D", data, "-N", "-A", "trust", "-U", "isotherm", "-E", "UTF8", "--locale=C.UTF-8");
  await start();
  return {
    port,
    async newDatabase({ encoding = "UTF8" } = {}) {
      const name = `ledger_${++databaseCount}`;
      const client = new pg.Client(`postgres://isotherm@127.0.0.1:${port}/postgres`);
      await client.connect();
      await client.query(`create database ${name} encoding '${encoding}' template template0 locale 'C'`);
      await client.end();
      return `postgres://isotherm@127.0.0.1:${port}/${name}`;
    },
    async commitCount() {
      const client = new pg.Client(`postgres://isotherm@127.0.0.1:${port}/postgres`);
      await client.connect();
      const { rows } = await client.query<{ count: string }>("select sum(xact_commit) as count from pg_stat_database");
      await client.end();
      return Number(rows[0]?.count);
    },
    async kill() {
      isRunning = false;
      process.kill(await serverId(), "SIGKILL");
      // The backends exit on their own; the data folder is locked until all of them have exited.
      await control("stop", "-m", "immediate").catch(() => undefined);
    },
    async pause() {
      const id = await serverId();
      // The server first, so that it starts no further processes.
      process.kill(id, "SIGSTOP");
      pausedIds.push(id);
      for (const childId of await childrenOf(id)) {
        process.kill(childId, "SIGSTOP");
        pausedIds.push(childId);
      }
    },
    resume,
    async stop() {
      isRunning = false;
      await control("stop", "-m", "fast");
    },
    start,
    async restore() {
      resume();
      if (!isRunning) await start();
    },
    async dispose() {
      resume();
      await control("stop", "-m", "immediate").catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts a server for the tests of a suite, each of which creates its own databases. A server that a test has killed,
 * stopped or paused is started again for the next one.
 * @returns a function that returns the server
 */
export function postgresOfSuite(): () => PostgresServer {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(() => server.restore());
  afterAll(() => server.dispose());
  return () => server;
}

function newestBinaries(): string | undefined {
  if (!existsSync(VERSIONS_FOLDER)) return undefined;
  const [newest] = readdirSync(VERSIONS_FOLDER).toSorted((a, b) => Number(b) - Number(a));
  const folder = join(VERSIONS_FOLDER, newest ?? "", "bin");
  return newest !== undefined && existsSync(join(folder, "initdb")) ? folder : undefined;
}

async function childrenOf(processId: number): Promise<readonly number[]> {
  const { stdout } = await run("ps", ["--ppid", String(processId), "-o", "pid="]);
  return stdout.trim().split(/\s+/).map(Number);
}

function systemIdOf(flag: "-u" | "-g", user: string): number {
  return Number(spawnSync("id", [flag, user], { encoding: "utf8" }).stdout);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject).listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
