import { Command, CommanderError } from "commander";
import { version } from "../version.ts";
import { optionNames, errorLines } from "./errorReport.ts";
import { printError } from "./terminal.ts";
import { reportUsageErrors, UsageError } from "./usageErrors.ts";

/** A command, which is loaded only if it is used: the help of the program needs no more than this. */
interface CommandEntry {
  readonly description: string;
  /** Its arguments, as in its usage line. */
  readonly operands?: string;
  readonly load: () => Promise<Command>;
}

/** In the order of the help. */
const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  serve: {
    description: "run the HTTP service",
    load: async () => (await import("./serve.ts")).serveCommand(),
  },
  ingest: {
    description: "write an atlas from hazard maps (GeoTIFF, NetCDF, HDF5, Zarr)",
    load: async () => (await import("./ingest.ts")).ingestCommand(),
  },
  atlas: {
    description: "inspect, verify, export and publish an atlas",
    load: async () => (await import("./atlas.ts")).atlasCommand(),
  },
  query: {
    description: "query the hazards at one location, or within a radius of it",
    load: async () => (await import("./query.ts")).queryCommand(),
  },
  portfolio: {
    description: "score the hazards of a file of places",
    operands: "<in> <out>",
    load: async () => (await import("./portfolio.ts")).portfolioCommand(),
  },
  align: {
    description: "compute the implied temperature rise of companies from their baseline and projected emissions",
    operands: "[in] [out]",
    load: async () => (await import("./align.ts")).alignCommand(),
  },
  company: {
    description: "estimate the transition and physical climate risk of companies",
    operands: "<in> [out]",
    load: async () => (await import("./company.ts")).companyCommand(),
  },
  accounts: {
    description: "manage the accounts that hold API keys",
    load: async () => (await import("./accounts.ts")).accountsCommand(),
  },
  keys: {
    description: "manage the API keys that callers send as X-API-Key",
    load: async () => (await import("./keys.ts")).keysCommand(),
  },
  customers: {
    description: "list the customers to which the usage of an account is attributed; callers register them over HTTP",
    load: async () => (await import("./customers.ts")).customersCommand(),
  },
  usage: {
    description: "report, export, audit and archive metered usage",
    load: async () => (await import("./usage.ts")).usageCommand(),
  },
};

/**
 * Runs the command line and reports errors on stderr.
 *
 * @param words arguments after the program name
 * @returns the exit code, or undefined if `process.exitCode` already has the right value
 * @throws any error that is a bug, so that it is printed with its stack
 */
export async function runProgram(words: readonly string[]): Promise<number | undefined> {
  let running: Command | undefined;
  const used = usedCommand(words);
  const program = (await createProgram((name) => name === used)).hook("preAction", (_program, command) => {
    running = command;
  });
  try {
    await program.parseAsync(words, { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    const lines = error instanceof UsageError ? error.lines : errorLines(error, optionNames(running));
    if (lines === undefined) throw error;
    printError(`isotherm: ${lines.join("\n  ")}`);
    return 1;
  }
}

/** Returns the name of the command that the arguments use; undefined if they use none, or one that does not exist. */
function usedCommand(words: readonly string[]): string | undefined {
  const [first, second] = words.filter((word) => !word.startsWith("-"));
  return first === "help" ? second : first;
}

/** Returns the command line. @param isUsed whether to load a command; the others only appear in the help */
export async function createProgram(isUsed: (name: string) => boolean = () => true): Promise<Command> {
  const program = new Command("isotherm")
    .description(
      "Climate risk of locations and companies: hazards, implied temperature rise, transition and physical risk.",
    )
    .version(version, "-V, --version")
    // Otherwise an option that both a command and its subcommand have would be taken from the subcommand.
    .enablePositionalOptions()
    .addHelpText(
      "after",
      "\nExit codes: 0 success; 1 error, reported on stderr; 2 isotherm company rejected some of the companies;\n" +
        "130 stopped by Ctrl-C; 141 closed pipe; 143 stopped by SIGTERM.",
    );
  for (const [name, { description, operands, load }] of Object.entries(COMMANDS)) {
    const command = isUsed(name) ? await load() : new Command(name);
    if (!isUsed(name) && operands !== undefined) command.arguments(operands);
    program.addCommand(command.description(description));
  }
  addVersion(program);
  reportUsageErrors(program);
  return program;
}

/** Adds `--version` to every subcommand. */
function addVersion(command: Command): void {
  for (const child of command.commands) {
    child.version(version, "-V, --version");
    addVersion(child);
  }
}
