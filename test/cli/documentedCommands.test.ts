/** The documented command lines of isotherm: each is parsed by the program, without running it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { UsageError } from "../../src/cli/usageErrors.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOCS = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`);
const PAGES = ["README.md", "CONTRIBUTING.md", "examples/README.md", "SECURITY.md", ...DOCS.toSorted()];
const textOf = (page: string): string => readFileSync(join(ROOT, page), "utf8");

/** Options of other programs that pages mention in the running text: Docker, npm, V8, Slurm, GNU parallel, and the benchmarks. */
const OTHER_OPTIONS = new Set([
  "--array",
  "--build-arg",
  "--memory",
  "--global",
  "--heap-growing-percent",
  "--joblog",
  "--resume-failed",
  "--starts",
]);

/** A text and the page that contains it. */
type Located = readonly [page: string, text: string];

/** Returns the contents of fenced blocks without a language or in that of a shell. */
function shellBlocks(page: string): readonly string[] {
  const blocks = textOf(page).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...blocks]
    .filter(([, language = ""]) => ["", "sh", "console", "ini"].includes(language))
    .map(([, , code = ""]) => code);
}

/** Splits a shell command into words, up to a pipe, redirection, comment or the next command. */
function wordsOf(command: string): readonly string[] {
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? "",
  );
  const end = words.findIndex((word) => /^(\||>|<|#|&&|;|…)/.test(word));
  return end < 0 ? words : words.slice(0, end);
}

/** Returns what follows the name of the program in each command line of a page, except lines that are abbreviated. */
function commandLines(page: string): readonly Located[] {
  return shellBlocks(page)
    .flatMap((code) => code.replaceAll(/\\\n\s*/g, "").split("\n"))
    .filter((line) => !/^\s*(#|npm |git |docker build)/.test(line))
    .flatMap((line) => {
      const [, text] = /(?:^|[\s/])(?:isotherm|(?:dist|debug)\/cli\/main\.js) (.*)$/.exec(line) ?? [];
      if (text === undefined || text.includes("…")) return [];
      // xargs adds operands from its standard input.
      return [[page, line.includes("xargs") ? `${text.replace(/ *<.*/, "")} OPERAND` : text] as const];
    });
}

/** Returns the code in the running text of a page that matches, without its line breaks. */
function codeSpans(page: string, pattern: RegExp): readonly Located[] {
  const prose = textOf(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/`([^`]+)`/g)]
    .map(([, code = ""]) => code.replaceAll(/\s+/g, " "))
    .filter((code) => pattern.test(code))
    .map((text) => [page, text]);
}

function allCommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

/** Returns whether a command only groups others; some both take operands and have subcommands. */
const isGroup = (command: Command): boolean => command.commands.length > 0 && command.registeredArguments.length === 0;

/** Returns the program with actions that do nothing. */
async function idleProgram(): Promise<Command> {
  const program = await createProgram();
  for (const command of allCommands(program)) {
    if (!isGroup(command)) command.action(() => undefined);
  }
  return program;
}

const longNamesOf = (command: Command): readonly (string | undefined)[] =>
  allCommands(command).flatMap(({ options }) => options.map(({ long }) => long));

/** Returns the errors of a command line; none if it is valid up to an option that names a file, which does not exist here. */
async function errorsOf(text: string): Promise<readonly string[]> {
  const words = wordsOf(text).map((word) =>
    word.replace("BATCH:HASH", `1:${"0".repeat(64)}`).replaceAll(/\$[A-Z_]+/g, "1"),
  );
  try {
    await (await idleProgram()).parseAsync(words, { from: "user" });
    return [];
  } catch (error) {
    if (error instanceof UsageError) return error.lines;
    const { cause } = error as { readonly cause?: { readonly code?: unknown } };
    if (cause?.code === "ENOENT") return [];
    throw error;
  }
}

/** Follows the words of a command line to the innermost command. @returns the command and the words that it does not consume */
async function commandOf(
  words: readonly string[],
): Promise<{ readonly command: Command; readonly rest: readonly string[] }> {
  let command = await createProgram();
  let depth = 0;
  for (const word of words) {
    const next = command.commands.find((child) => child.name() === word);
    if (next === undefined) break;
    command = next;
    depth++;
  }
  return { command, rest: words.slice(depth) };
}

const LINES = PAGES.flatMap(commandLines);
const SPANS = PAGES.flatMap((page) => codeSpans(page, /^(npx )?isotherm [a-z]/));

describe("documented commands", () => {
  test("are found on the pages", () => {
    expect(LINES.length).toBeGreaterThan(60);
    expect(SPANS.length).toBeGreaterThan(30);
    expect(new Set(LINES.map(([, text]) => text.split(" ")[0])).size).toBeGreaterThanOrEqual(9);
  });

  test.each(LINES)("%s: isotherm %s", async (_page, text) => {
    expect(await errorsOf(text)).toEqual([]);
  });

  test.each(SPANS)("%s mentions %s", async (_page, text) => {
    const { command, rest } = await commandOf(wordsOf(text.replace(/^npx /, "")).slice(1));
    expect(command.name()).not.toBe("isotherm");
    if (isGroup(command)) expect(rest.filter((word) => !/^(<|--|[A-Z])/.test(word))).toEqual([]);
    const names = [...longNamesOf(command), "--help"];
    for (const word of rest.filter((each) => each.startsWith("--"))) expect(names).toContain(word.split("=")[0]);
  });

  test("have no other options in the running text", async () => {
    const known = new Set([...longNamesOf(await createProgram()), ...OTHER_OPTIONS]);
    const unknown = PAGES.flatMap((page) => codeSpans(page, /^--[a-z]/)).filter(
      ([, text]) => !known.has(/^--[a-z0-9-]+/.exec(text)?.[0]),
    );
    expect(unknown).toEqual([]);
  });

  test("with unknown commands, options and missing values are errors", async () => {
    const lines = [
      "ingest jrc-flods a --out b",
      "ingest jrc-floods a --out b --no-such",
      "query --atlas demo --lat",
      "atlas inform a",
    ];
    for (const line of lines) expect(await errorsOf(line)).not.toEqual([]);
  });
});
