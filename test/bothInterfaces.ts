/** Sends the same requests to the built command line and to a test host, for tables of edge cases. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProblemItem } from "../src/contract/wireTypes.ts";
import { startTestHost, type TestHost } from "./host/testHost.ts";

const CLI = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));

/** An error as a table states it: its code and the pointer or the parameter that it names. */
export type Refusal = readonly [code: string, location: string];

export interface HttpAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface CommandAnswer {
  readonly exitCode: number | null;
  readonly stderr: string;
  /** Text of the output file, or of standard output; undefined if the command wrote no file. */
  readonly output: string | undefined;
}

/** Starts a host that is ready. */
export async function startedHost(): Promise<TestHost> {
  const host = await startTestHost();
  await host.ready;
  return host;
}

/** Posts a body, which may be JSON text that no JavaScript value has, such as 1e999. */
export async function post(host: TestHost, target: string, body: unknown): Promise<HttpAnswer> {
  const response = await host.ask(target, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

/** Returns code and location of every error of a refused request, in the order of the response. */
export function refusalsOf({ body }: HttpAnswer): readonly Refusal[] {
  const { errors = [] } = body as { readonly errors?: readonly ProblemItem[] };
  return errors.map(({ code, pointer, parameter }) => [code, pointer ?? parameter ?? ""]);
}

/**
 * Runs a command of the built command line in an empty folder that has the given files.
 *
 * @param out name of the output file that is read, or `stdout`
 */
export async function runCommand(
  args: readonly string[],
  files: Readonly<Record<string, string>>,
  out = "out.json",
): Promise<CommandAnswer> {
  const folder = mkdtempSync(join(tmpdir(), "isotherm-edge-"));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const child = spawn(process.execPath, [CLI, ...args], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject).once("close", resolve);
    });
    if (out === "stdout") return { exitCode, stderr, output: stdout };
    const path = join(folder, out);
    return { exitCode, stderr, output: existsSync(path) ? readFileSync(path, "utf8") : undefined };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
