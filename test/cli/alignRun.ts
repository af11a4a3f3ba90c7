/** Runs `isotherm align` on files in a folder that is deleted after each test. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { alignCommand } from "../../src/cli/align.ts";
import { type Fault, isFault } from "../../src/errors.ts";

let output = "";
/** Text that the command wrote to standard output. */
export const stdoutText = (): string => output;
export const folder = join(tmpdir(), `isotherm-align-${randomUUID()}`);

/** Gives each test of the calling file an empty folder, and captures what it writes to standard output. */
export function useAlignFolder(): void {
  beforeEach(() => {
    output = "";
    vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      output += String(text);
      return true;
    });
    mkdirSync(folder);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });
}

/** Returns a path in the folder. */
export const inFolder = (name: string): string => join(folder, name);

/** Runs the command on a file with this text and returns the output. */
export async function runAlign(
  name: string,
  text: string | Uint8Array,
  out: string,
  ...flags: string[]
): Promise<string> {
  writeFileSync(inFolder(name), text);
  await alignCommand().parseAsync([inFolder(name), inFolder(out), ...flags], { from: "user" });
  return readFileSync(inFolder(out), "utf8");
}

/** Runs the command on an invalid file, checks that no other file is left behind, and returns the fault. */
export async function faultOf(name: string, text: string | Uint8Array, ...flags: string[]): Promise<Fault> {
  const error: unknown = await runAlign(name, text, "out.csv", ...flags).catch((thrown: unknown) => thrown);
  expect(readdirSync(folder)).toStrictEqual([name]);
  if (!isFault(error)) throw new Error(`expected a Fault (got ${String(error)})`, { cause: error });
  return error;
}

/** Returns the detail text of each error. */
export const details = ({ items }: Fault): string[] => items.map(({ detail }) => detail);
