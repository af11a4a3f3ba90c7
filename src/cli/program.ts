import { Command, CommanderError } from "commander";
import { version } from "../version.ts";
import { accountsCommand } from "./accounts.ts";
import { alignCommand } from "./align.ts";
import { atlasCommand } from "./atlas.ts";
import { companyCommand } from "./company.ts";
import { customersCommand } from "./customers.ts";
import { ingestCommand } from "./ingest.ts";
import { keysCommand } from "./keys.ts";
import { portfolioCommand } from "./portfolio.ts";
import { queryCommand } from "./query.ts";
import { optionNames, errorLines } from "./errorReport.ts";
import { serveCommand } from "./serve.ts";
import { printError } from "./terminal.ts";
import { usageCommand } from "./usage.ts";
import { reportUsageErrors, UsageError } from "./usageErrors.ts";

/**
 * Runs the command line and reports errors on stderr.
 *
 * @param words arguments after the program name
 * @returns the exit code, or undefined if `process.exitCode` already has the right value
 * @throws any error that is a bug, so that it is printed with its stack
 */
export async function runProgram(words: readonly string[]): Promise<number | undefined> {
  let running: Command | undefined;
  const program = createProgram().hook("preAction", (_program, command) => {
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

/** Returns the command line with all of its commands. */
export function createProgram(): Command {
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
    )
    .addCommand(serveCommand())
    .addCommand(ingestCommand())
    .addCommand(atlasCommand())
    .addCommand(queryCommand())
    .addCommand(portfolioCommand())
    .addCommand(alignCommand())
    .addCommand(companyCommand())
    .addCommand(accountsCommand())
    .addCommand(keysCommand())
    .addCommand(customersCommand())
    .addCommand(usageCommand());
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
