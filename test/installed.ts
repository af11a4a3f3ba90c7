import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/**
 * Installs the packed package as users do, and runs the command that its message prints, to the letter. Each install
 * compiles better-sqlite3 for one to two minutes, or downloads it, so that optionalPackages.test.ts takes these tests in
 * on request alone.
 */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 900_000;

let folder: string;
let tarball: string;
beforeAll(async () => {
  // Not below the temporary folder of the system, where a stray node_modules would be found.
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

/** Runs a shell command until it listens, and tells the status of /docs then; or what it says when it ends. */
function serve(command: string, cwd: string): Promise<{ readonly said: string; readonly docsStatus?: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", `exec ${command} serve --demo --port 0 --admin-port 0`], { cwd });
    let said = "";
    let docs: Promise<number> | undefined;
    const hear = (piece: Buffer): void => {
      said += piece.toString();
      const [, url] = /Documentation: (http\S+)/.exec(said) ?? [];
      if (url === undefined || docs !== undefined) return;
      docs = statusOf(url);
      void docs.finally(() => child.kill("SIGINT")).catch(reject);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    child.once("close", () => {
      if (docs === undefined) resolve({ said });
      else docs.then((docsStatus) => resolve({ said, docsStatus }), reject);
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
    "works in %s after the one command that it prints",
    async (where, install) => {
      const cwd = join(folder, where.replaceAll(" ", "-"));
      mkdirSync(cwd);
      const command = await install(cwd);
      const { said } = await serve(command, cwd);
      const [, advice = ""] = /^ {2}(npm install .*)$/m.exec(said) ?? [];
      expect(said.match(/npm install/g)).toHaveLength(1);
      await run("sh", ["-c", advice], { cwd, maxBuffer: 1 << 26 });
      const after = await serve(command, cwd);
      expect(after.said).toContain("Isotherm listens on");
      expect(after.docsStatus).toBe(200);
    },
    INSTALL_TIMEOUT_MS,
  );
});
