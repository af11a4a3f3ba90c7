import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/**
 * Installs the packed package as users do and runs the printed command unchanged. Each install downloads better-sqlite3 or
 * compiles it for one to two minutes, so optionalPackages.test.ts imports these tests only on request.
 */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 900_000;

let folder: string;
let tarball: string;
beforeAll(async () => {
  // Outside the system's temporary folder, where packages could resolve from a stray node_modules.
  folder = mkdtempSync(join(homedir(), ".isotherm-install-"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: ROOT });
  tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function statusOf(url: string): Promise<number> {
  const { status } = await fetch(url);
  return status;
}

/** Starts `serve` and, once it listens, returns the status of /docs and stops it. Returns only the output if it exits. */
function serve(command: string, cwd: string): Promise<{ readonly output: string; readonly docsStatus?: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", `exec ${command} serve --demo --port 0 --admin-port 0`], { cwd });
    let output = "";
    let docs: Promise<number> | undefined;
    const onData = (piece: Buffer): void => {
      output += piece.toString();
      const [, url] = /Documentation: (http\S+)/.exec(output) ?? [];
      if (url === undefined || docs !== undefined) return;
      docs = statusOf(url);
      void docs.finally(() => child.kill("SIGINT")).catch(reject);
    };
    child.stdout.on("data", onData);
    child.stderr.on("data", onData);
    child.once("error", reject);
    child.once("close", () => {
      if (docs === undefined) resolve({ output });
      else docs.then((docsStatus) => resolve({ output, docsStatus }), reject);
    });
  });
}

describe("isotherm serve --demo of an installed package", () => {
  test.each([
    [
      "a project",
      async (cwd: string): Promise<string> => {
        writeFileSync(join(cwd, "package.json"), "{}");
        await run("npm", ["install", tarball], { cwd });
        return "node node_modules/isotherm/dist/cli/main.js";
      },
    ],
    [
      "a global prefix",
      async (cwd: string): Promise<string> => {
        await run("npm", ["install", "--global", "--prefix", join(cwd, "prefix"), tarball], { cwd });
        return join(cwd, "prefix/bin/isotherm");
      },
    ],
  ] as const)(
    "works in %s after the printed command has run",
    async (where, install) => {
      const cwd = join(folder, where.replaceAll(" ", "-"));
      mkdirSync(cwd);
      const command = await install(cwd);
      const { output } = await serve(command, cwd);
      const [, advice = ""] = /^ {2}(npm install .*)$/m.exec(output) ?? [];
      expect(output.match(/npm install/g)).toHaveLength(1);
      await run("sh", ["-c", advice], { cwd, maxBuffer: 1 << 26 });
      const after = await serve(command, cwd);
      expect(after.output).toContain("Isotherm listens on");
      expect(after.docsStatus).toBe(200);
    },
    INSTALL_TIMEOUT_MS,
  );
});
