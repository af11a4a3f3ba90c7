import { Command, CommanderError } from "commander";
import { version } from "../version.ts";
import { accountsCommand } from "./accounts.ts";
import { alignCommand } from "./align.ts";
import { atlasCommand } from "./atlas.ts";
import { companyCommand } from "./company.ts";
import { customersCommand } from "./customers.ts";
import { ingestCommand } from "./ingest.ts";
import { keysCommand } from "./keys.ts";
import { queryCommand } from "./query.ts";
import { optionNames, refusalLines } from "./refusal.ts";
import { serveCommand } from "./serve.ts";
import { EXIT_CODE_CLOSED_PIPE, isClosedPipe } from "./standardOutput.ts";
import { usageCommand } from "./usage.ts";
import { reportUsageErrors, UsageError } from "./usageErrors.ts";

/**
 * Runs the command line, and reports its errors on stderr.
 *
 * @param words what follows the name of the program
 * @returns the exit code, undefined where the command has set `process.exitCode` or may be left at 0
 * @throws whatever is a bug, to be seen with its stack
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
    if (isClosedPipe(error)) return EXIT_CODE_CLOSED_PIPE;
    const lines = error instanceof UsageError ? error.lines : refusalLines(error, optionNames(running));
    if (lines === undefined) throw error;
    process.stderr.write(`isotherm: ${lines.join("\n  ")}\n`);
    return 1;
  }
}

function createProgram(): Command {
  const program = new Command("isotherm")
    .description("What the climate will do at any place on Earth: cyclones, wildfire, coastal and river floods.")
    .version(version, "-V, --version")
    .addHelpText(
      "after",
      "\nExit codes: 0 done; 1 an error, reported on stderr; 2 isotherm company refused some of the companies;\n" +
        "130, 141, 143 ended by Ctrl-C, by a reader that closed the pipe, by SIGTERM.",
    )
    .addCommand(serveCommand())
    .addCommand(ingestCommand())
    .addCommand(atlasCommand())
    .addCommand(queryCommand())
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

/** Gives every command `--version`, as each has `--help`. */
function addVersion(command: Command): void {
  for (const child of command.commands) {
    child.version(version, "-V, --version");
    addVersion(child);
  }
}
