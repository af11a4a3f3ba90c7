import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { type Command, Option } from "commander";
import { Fault } from "../errors.ts";

/** Options that select a ledger on PostgreSQL. */
export interface DatabaseFlags {
  /** The address of the database, also if it was read from `databaseFile`. */
  readonly database?: string;
  readonly databaseFile?: string;
}

/** Longest content of the file. */
const FILE_BYTES_MAX = 16_384;
/** Permissions that the file must not have: others must not read it, and only its owner may write it. */
const FORBIDDEN_MODE = 0o027;

/** Adds `--database` and `--database-file` to a command, which then finds the address in the flag `database`. */
export function addDatabaseOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--database <url>",
        "PostgreSQL ledger instead of SQLite: postgres://user:password@host/name; use --database-file for an address with a password",
      ).env("ISOTHERM_DATABASE_URL"),
    )
    .addOption(
      new Option(
        "--database-file <file>",
        "file with the address of the PostgreSQL ledger, not readable by others",
      ).env("ISOTHERM_DATABASE_FILE"),
    )
    .hook("preAction", (_command, action) => readDatabaseOptions(action));
}

/** Sets the flag `database` to the address in the file. @throws Fault `configuration_invalid` */
function readDatabaseOptions(command: Command): void {
  const { database, databaseFile } = command.opts<DatabaseFlags>();
  const isGiven = (name: keyof DatabaseFlags): boolean => command.getOptionValueSource(name) === "cli";
  if (database !== undefined && isGiven("database")) hidePassword(database);
  if (databaseFile === undefined) return;
  if (database !== undefined && isGiven("database") === isGiven("databaseFile")) {
    const message = isGiven("database")
      ? "--database and --database-file are mutually exclusive; set only one of them."
      : "ISOTHERM_DATABASE_URL and ISOTHERM_DATABASE_FILE are mutually exclusive; set only one of them.";
    throw new Fault("configuration_invalid", message);
  }
  // An option takes precedence over the environment.
  if (database === undefined || isGiven("databaseFile")) {
    command.setOptionValueWithSource("database", readDatabaseFile(databaseFile), "config");
  }
}

/**
 * Reads the address of a database from a file.
 * @throws Fault `configuration_invalid` if it is not a regular file, others have access to it, or it has no address
 */
export function readDatabaseFile(file: string): string {
  const reject = (problem: string, cause?: unknown): Fault =>
    new Fault("configuration_invalid", `The database file ${file} ${problem}.`, { details: { file }, cause });
  let descriptor: number;
  try {
    // Opening a FIFO without O_NONBLOCK would wait for a writer.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw reject(`cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`, error);
  }
  try {
    const stats = fstatSync(descriptor);
    const problem = fileProblem(stats);
    if (problem !== undefined) throw reject(problem);
    const address = readFileSync(descriptor, "utf8").trim();
    if (!/^postgres(?:ql)?:\/\/\S+$/.test(address)) {
      throw reject("must contain one line, an address such as postgres://user:password@host/name");
    }
    return address;
  } finally {
    closeSync(descriptor);
  }
}

function fileProblem(stats: Stats): string | undefined {
  if (!stats.isFile()) return "is not a regular file";
  if (stats.size > FILE_BYTES_MAX) return `has ${stats.size} bytes; an address has at most ${FILE_BYTES_MAX}`;
  const mode = stats.mode & 0o777;
  if (process.platform === "win32" || (mode & FORBIDDEN_MODE) === 0) return undefined;
  return (
    `has mode ${mode.toString(8).padStart(4, "0")}, so that other users can read or change it; ` +
    "set mode 0600 (chmod 600), or 0640 if a group has to read it"
  );
}

/** Removes the arguments of the process from the output of `ps` if an address in them has a password. */
function hidePassword(address: string): void {
  if (/^[a-z]+:\/\/[^/@:]*:[^@]*@/i.test(address) || /[?&]password=/i.test(address)) process.title = "isotherm";
}
