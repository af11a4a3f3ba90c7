import { execFile, spawnSync } from "node:child_process";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { describe } from "vitest";

const run = promisify(execFile);

/** Where Debian puts the programs of PostgreSQL. */
const VERSIONS_FOLDER = "/usr/lib/postgresql";
const binaries = newestBinaries();
if (binaries === undefined) {
  // On CI a skipped test would be a check that cannot fail.
  if (process.env["CI"] === "true") throw new Error(`PostgreSQL is needed on CI and not in ${VERSIONS_FOLDER}.`);
  console.warn(`skipped: there is no PostgreSQL in ${VERSIONS_FOLDER} (apt-get install postgresql)`);
}

/** A suite that needs a server: skipped, with the reason printed, where there is none. */
export const describeWithPostgres = describe.skipIf(binaries === undefined);

/** A server of the test's own, in a folder that goes with it. */
export interface PostgresServer {
  readonly port: number;
  /** Makes an empty database. @returns its address */
  newDatabase(options?: { readonly encoding?: string }): Promise<string>;
  /** Ends the server as a power cut would end its processes. */
  kill(): Promise<void>;
  /** Ends the server, waiting for nobody. */
  stop(): Promise<void>;
  /** @param settings such as `fsync=off` */
  start(settings?: readonly string[]): Promise<void>;
  /** Stops it and removes everything. */
  done(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresServer> {
  if (binaries === undefined) throw new Error("There is no PostgreSQL here.");
  const folder = await mkdtemp(join(tmpdir(), "isotherm-postgres-"));
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? "postgres" : undefined;
  if (user !== undefined) await chown(folder, idOf("-u", user), idOf("-g", user));
  const data = join(folder, "data");
  const port = await freePort();
  const program = (name: string, ...parameters: string[]): Promise<unknown> => {
    const command = [join(binaries, name), ...parameters];
    return user === undefined
      ? run(command[0] ?? "", command.slice(1), { cwd: folder })
      : run("runuser", ["-u", user, "--", ...command], { cwd: folder });
  };
  const control = (...parameters: string[]): Promise<unknown> => program("pg_ctl", "-D", data, "-w", ...parameters);
  const start = async (settings: readonly string[] = []): Promise<void> => {
    const all = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", ...settings];
    const options = all.map((setting) => `-c ${setting}`).join(" ");
    await control("start", "-l", join(folder, "log"), "-o", options);
  };
  let databaseCount = 0;

  await program("initdb", "-D", data, "-N", "-A", "trust", "-U", "isotherm", "-E", "UTF8", "--locale=C.UTF-8");
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
    async kill() {
      const [pid = ""] = (await run("head", ["-n", "1", join(data, "postmaster.pid")])).stdout.split("\n");
      process.kill(Number(pid), "SIGKILL");
      // Its processes notice by themselves; while one is there, the folder is taken.
      await control("stop", "-m", "immediate").catch(() => undefined);
    },
    async stop() {
      await control("stop", "-m", "fast");
    },
    start,
    async done() {
      await control("stop", "-m", "immediate").catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function newestBinaries(): string | undefined {
  if (!existsSync(VERSIONS_FOLDER)) return undefined;
  const [newest] = readdirSync(VERSIONS_FOLDER).toSorted((a, b) => Number(b) - Number(a));
  const folder = join(VERSIONS_FOLDER, newest ?? "", "bin");
  return newest !== undefined && existsSync(join(folder, "initdb")) ? folder : undefined;
}

function idOf(which: "-u" | "-g", user: string): number {
  return Number(spawnSync("id", [which, user], { encoding: "utf8" }).stdout);
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
