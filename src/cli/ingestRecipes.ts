/** Makes the subcommands of `isotherm ingest` from the list of recipes. */
import { Command, InvalidArgumentError, Option } from "commander";
import type { RecipeOption } from "../ingest/recipes/recipe.ts";
import { type RecipeName, RECIPES } from "../ingest/recipes/recipeList.ts";

/** Returns the subcommand of each recipe, with its own options, and without an action. */
export function recipeCommands(): readonly { readonly name: RecipeName; readonly command: Command }[] {
  return (Object.keys(RECIPES) as RecipeName[]).map((name) => {
    const { summary, help, options, manifestArgument } = RECIPES[name];
    const command = new Command(name)
      .description(summary)
      .argument(
        manifestArgument === undefined ? "<source...>" : "<manifest...>",
        manifestArgument ?? "maps: files, folders, zip archives or http(s) addresses",
      )
      .addHelpText("after", help);
    for (const option of options) command.addOption(optionOf(option));
    return { name, command };
  });
}

function optionOf({ name, kind, value = "value", description, choices }: RecipeOption): Option {
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (kind === "flag") return new Option(flag, description);
  const option = new Option(`${flag} <${value}>`, description);
  if (kind === "text") return choices === undefined ? option : option.choices(choices);
  if (kind === "number") return option.argParser(readNumber);
  if (kind === "numbers") return option.argParser(readNumbers);
  if (kind === "pairs") return option.argParser(readPairs);
  return option.argParser((text: string, before: readonly string[] | undefined) => [
    ...(before ?? []),
    ...text.split(",").map((item) => readText(item, choices)),
  ]);
}

function readText(text: string, choices: readonly string[] | undefined): string {
  if (text === "") throw new InvalidArgumentError("It must be one or more names, separated by commas.");
  if (choices?.includes(text) === false) throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
  return text;
}

/** Parses numbers that are separated by commas, and adds them to those given before. */
export function readNumbers(text: string, before: readonly number[] = []): readonly number[] {
  return [...before, ...text.split(",").map(readNumber)];
}

/**
 * Parses pairs `key=value` that are separated by commas, and adds them to those given before.
 * @throws InvalidArgumentError if one is not a pair, or if a key has two values
 */
export function readPairs(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const pairs = { ...before };
  for (const pair of text.split(",")) {
    const [key = "", value = "", ...others] = pair.split("=");
    if (key === "" || value === "" || others.length > 0)
      throw new InvalidArgumentError("It must be key=value, or several of them, separated by commas.");
    if (pairs[key] !== undefined && pairs[key] !== value)
      throw new InvalidArgumentError(`${key} is given as ${pairs[key]} and as ${value}.`);
    pairs[key] = value;
  }
  return pairs;
}

/** Parses a finite number. */
export function readNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("It must be a number.");
  return value;
}
