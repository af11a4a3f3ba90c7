import { type Command, type CommanderError, Help, type Option } from "commander";

/** An invalid command line, with one line per error. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly lines: readonly string[];

  constructor(lines: readonly string[], cause: CommanderError) {
    super(lines.join("\n"), { cause });
    this.lines = lines;
  }
}

/**
 * Makes a command and its subcommands throw `UsageError` instead of printing the first error and exiting, and marks
 * required options in the help.
 */
export function reportUsageErrors(command: Command): void {
  command
    .exitOverride((error) => {
      // Help or the version was printed; there is no error to report.
      if (error.exitCode === 0 || error.code === "commander.help") throw error;
      throw new UsageError(usageErrorLines(command, error), error);
    })
    .configureOutput({ outputError: () => undefined })
    .configureHelp({
      optionDescription: (option) =>
        `${option.mandatory ? "(required) " : ""}${Help.prototype.optionDescription.call(new Help(), option)}`,
    });
  for (const child of command.commands) reportUsageErrors(child);
}

function usageErrorLines(command: Command, error: CommanderError): readonly string[] {
  const isMissing = /^commander\.(missingMandatoryOptionValue|missingArgument)$/.test(error.code);
  const faults = isMissing ? missingArguments(command) : [error.message.replace(/^error: /, "")];
  return [...faults, `See ${commandPath(command)} --help.`];
}

/** Lists all missing required arguments and options; commander reports only the first. */
function missingArguments(command: Command): readonly string[] {
  // Remaining options are unknown; a required option may be missing because its name is misspelled.
  const unknown = command.args.filter((word) => /^-[^0-9]/.test(word));
  const operands = command.args.filter((word) => !unknown.includes(word));
  const missing = [
    ...command.registeredArguments
      .filter((argument, index) => argument.required && operands[index] === undefined)
      .map((argument) => `<${argument.name()}>: ${argument.description}`),
    ...command.options
      .filter((option) => option.mandatory && optionValue(command, option) === undefined)
      .map(({ flags, description }) => `${flags}: ${description}`),
  ];
  return [
    missing.length === 1 ? "missing required argument or option:" : "missing required arguments or options:",
    ...missing,
    ...unknown.map((word) => `unknown option ${word}`),
  ];
}

function optionValue(command: Command, option: Option): unknown {
  return command.getOptionValue(option.attributeName());
}

/** Returns the words that invoke a command, such as `isotherm keys create`. */
function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}
