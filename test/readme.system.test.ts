import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { curlRequest } from "./curlCommand.ts";
import { startedUrl } from "./startedUrl.ts";

/**
 * Runs the examples of the README against the built package and compares their output with the README.
 * ISOTHERM_UPDATE_EXAMPLES=1 writes the actual output into the README instead.
 */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CLI = `${ROOT}dist/cli/main.js`;
const IS_UPDATING = process.env["ISOTHERM_UPDATE_EXAMPLES"] === "1";
const run = promisify(execFile);

const README = `${ROOT}README.md`;
let text = readFileSync(README, "utf8");

/** Returns the fenced code blocks of a language with their offsets in the README. */
function blocks(language: string): { readonly code: string; readonly index: number }[] {
  const fence = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g");
  return [...text.matchAll(fence)].map((match) => ({
    code: match[1] ?? "",
    index: match.index + language.length + 4,
  }));
}

function compare(language: string, position: number, output: string): void {
  const block = blocks(language)[position];
  if (block === undefined) throw new Error(`The README has no ${language} block ${position}.`);
  if (IS_UPDATING) {
    text = text.slice(0, block.index) + output + text.slice(block.index + block.code.length);
    writeFileSync(README, text);
  } else {
    expect(block.code).toBe(output);
  }
}

/** Returns the command after the prompt. It extends to the end of the line, or of the line with its last closing quote. */
function commandIn(code: string): { readonly command: string; readonly line: string } {
  const [line = "", command = ""] = /^\$ ((?:'[^']*'|[^'\n])+)$/m.exec(code) ?? [];
  return { command, line };
}

/** Replaces durations and rates, which differ in every run. */
function maskDurations(text: string): string {
  return text.replace(/[\d.,]+(?= s\b)/g, "…").replace(/[\d,]+(?= \w+\/s\b)/g, "…");
}

/** Replaces ids and times that differ in every run. */
function maskVolatile(text: string): string {
  return text
    .replace(/"request_id":"[^"]+"/, '"request_id":"…"')
    .replace(/"customer_id":"[^"]+"/g, '"customer_id":"…"')
    .replace(/"created_at":"[^"]+"/, '"created_at":"…"');
}

let server: ReturnType<typeof spawn>;
let baseUrl: string;
let data: string;
/** Folder of a project in which the package is installed. */
let project: string;
const variables: Record<string, string> = {};
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "isotherm-readme-"));
  mkdirSync(join(project, "node_modules"));
  symlinkSync(ROOT, join(project, "node_modules", "isotherm"));
  data = join(project, "isotherm-data");
  const flags = ["--demo", "--port", "0", "--admin-port", "0", "--data", data];
  server = spawn(process.execPath, [CLI, "serve", ...flags], { cwd: ROOT });
  baseUrl = await new Promise((resolve, reject) => {
    let printed = "";
    server.stdout?.on("data", (piece: Buffer) => {
      printed += piece.toString();
      const url = startedUrl(printed);
      if (url !== undefined) resolve(url);
    });
    server.once("exit", (code) => reject(new Error(`serve ended with ${code}: ${printed}`)));
  });
  const credentials = JSON.parse(readFileSync(join(data, "demo-credentials.json"), "utf8")) as { api_key: string };
  variables["API_KEY"] = credentials.api_key;
});
afterAll(async () => {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  expect(await ended).toBe(0);
  rmSync(project, { recursive: true });
});

describe("the README's examples", () => {
  test("the library example prints the documented output", async () => {
    const [example] = blocks("js");
    mkdirSync(`${ROOT}build`, { recursive: true });
    const file = `${ROOT}build/readme-example.mjs`;
    writeFileSync(file, example?.code ?? "");
    const { stdout } = await run(process.execPath, [file], { cwd: ROOT });
    compare("json", 0, stdout);
  });

  for (const position of blocks("console").keys()) {
    test(`console block ${position} prints the documented output`, async () => {
      const { command, line } = commandIn(blocks("console")[position]?.code ?? "");
      let output: string;
      if (command.startsWith("curl ")) {
        const { url, init } = curlRequest(command, variables);
        const response = await fetch(url.replace("http://127.0.0.1:8080", baseUrl), init);
        const body = await response.text();
        // Later examples use the id of the new customer.
        const [, customerId] = response.status === 201 ? (/"customer_id":"([^"]+)"/.exec(body) ?? []) : [];
        if (customerId !== undefined) variables["CUSTOMER_ID"] = customerId;
        output = `${JSON.stringify(JSON.parse(maskVolatile(body)), undefined, 2)}\n`;
      } else {
        const [npx, name, ...rest] = command.split(" ");
        expect([npx, name]).toEqual(["npx", "isotherm"]);
        const { stdout } = await run(process.execPath, [CLI, ...rest], { cwd: project });
        output = rest[0] === "portfolio" ? maskDurations(stdout) : stdout;
      }
      compare("console", position, `${line}\n${output}`);
    });
  }
});
