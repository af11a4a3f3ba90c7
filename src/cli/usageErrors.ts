import { type Command, type CommanderError, Help, type Option } from "commander";

/** A command line that cannot be run: what is wrong, a line each. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly lines: readonly string[];

  constructor(lines: readonly string[], cause: CommanderError) {
    super(lines.join("\n"), { cause });
    this.lines = lines;
  }
}

/**
 * Makes a command and those below it throw `UsageError` where commander would print one fault and end the process, and
 * marks required options in their help.
 */
export function reportUsageErrors(command: Command): void {
  command
    .exitOverride((error) => {
      // Help and the version have been printed, here also on request: there is nothing to report.
      if (error.exitCode === 0 || error.code === "commander.help") throw error;
      throw new UsageError(linesOf(command, error), error);
    })
    .configureOutput({ outputError: () => undefined })
    .configureHelp({
      optionDescription: (option) =>
        `${option.mandatory ? "(required) " : ""}${Help.prototype.optionDescription.call(new Help(), option)}`,
    });
  for (const child of command.commands) reportUsageErrors(child);
}

function linesOf(command: Command, error: CommanderError): readonly string[] {
  const isMissing = /^commander\.(missingMandatoryOptionValue|missingArgument)$/.test(error.code);
  const faults = isMissing ? missingOf(command) : [error.message.replace(/^error: /, "")];
  return [...faults, `See ${pathOf(command)} --help.`];
}

/** All arguments and options that are required and missing; commander names the first alone. */
function missingOf(command: Command): readonly string[] {
  // What is left of options is unknown: a required one may be missing because its name is mistyped.
  const unknown = command.args.filter((word) => /^-[^0-9]/.test(word));
  const operands = command.args.filter((word) => !unknown.includes(word));
  const missing = [
    ...command.registeredArguments
      .filter((argument, index) => argument.required && operands[index] === undefined)
      .map((argument) => `<${argument.name()}>: ${argument.description}`),
    ...command.options
      .filter((option) => option.mandatory && valueOf(command, option) === undefined)
      .map(({ flags, description }) => `${flags}: ${description}`),
  ];
  return [
    missing.length === 1 ? "this is missing:" : "these are missing:",
    ...missing,
    ...unknown.map((word) => `and there is no option ${word}.`),
  ];
}

function valueOf(command: Command, option: Option): unknown {
  return command.getOptionValue(option.attributeName());
}

/** The words that call a command, such as `isotherm keys create`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
