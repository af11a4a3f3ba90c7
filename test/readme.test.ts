import { execFile, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/**
 * The examples of the README, run as they stand there, give what stands below them. Both come from the built
 * package. ISOTHERM_UPDATE_EXAMPLES=1 writes the true output into the README instead of comparing.
 */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CLI = "dist/cli/main.js";
const IS_UPDATING = process.env["ISOTHERM_UPDATE_EXAMPLES"] === "1";
const run = promisify(execFile);

const README = `${ROOT}README.md`;
let text = readFileSync(README, "utf8");

/** Fenced blocks of a language: their text, and where it is. */
function blocks(language: string): { readonly code: string; readonly index: number }[] {
  const fence = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g");
  return [...text.matchAll(fence)].map((match) => ({
    code: match[1] ?? "",
    index: match.index + language.length + 4,
  }));
}

function compare(language: string, position: number, whole: string): void {
  const block = blocks(language)[position];
  if (block === undefined) throw new Error(`The README has no ${language} block ${position}.`);
  if (IS_UPDATING) {
    text = text.slice(0, block.index) + whole + text.slice(block.index + block.code.length);
    writeFileSync(README, text);
  } else {
    expect(block.code).toBe(whole);
  }
}

/** The command after the prompt, as it is typed: to the end of the line, or of the line that closes what it quotes. */
function commandIn(code: string): { readonly command: string; readonly line: string } {
  const [line = "", command = ""] = /^\$ ((?:'[^']*'|[^'\n])+)$/m.exec(code) ?? [];
  return { command, line };
}

let server: ReturnType<typeof spawn>;
let baseUrl: string;
beforeAll(async () => {
  server = spawn(process.execPath, [CLI, "serve", "--demo", "--port", "0"], { cwd: ROOT });
  baseUrl = await new Promise((resolve, reject) => {
    let printed = "";
    server.stdout?.on("data", (piece: Buffer) => {
      printed += piece.toString();
      const [, url] = /listens on (http:\S+)/.exec(printed) ?? [];
      if (url !== undefined) resolve(url);
    });
    server.once("exit", (code) => reject(new Error(`serve ended with ${code}: ${printed}`)));
  });
});
afterAll(async () => {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  expect(await ended).toBe(0);
});

describe("the README's examples", () => {
  test("the library prints what it says", async () => {
    const [example] = blocks("js");
    mkdirSync(`${ROOT}build`, { recursive: true });
    const file = `${ROOT}build/readme-example.mjs`;
    writeFileSync(file, example?.code ?? "");
    const { stdout } = await run(process.execPath, [file], { cwd: ROOT });
    compare("json", 0, stdout);
  });

  for (const position of blocks("console").keys()) {
    test(`console block ${position} prints what it says`, async () => {
      const { command, line } = commandIn(blocks("console")[position]?.code ?? "");
      const [, address, body] =
        /^curl 'http:\/\/127\.0\.0\.1:8080([^']+)'(?: -H 'Content-Type: application\/json' -d '([^']+)')?$/.exec(
          command,
        ) ?? [];
      let output: string;
      if (address === undefined) {
        const [name, ...rest] = command.split(" ");
        expect(name).toBe("isotherm");
        output = (await run(process.execPath, [CLI, ...rest], { cwd: ROOT })).stdout;
      } else {
        const sent = { method: "POST", headers: { "Content-Type": "application/json" } };
        const response = await fetch(baseUrl + address, body === undefined ? {} : { ...sent, body });
        const told = (await response.text()).replace(/"request_id":"[^"]+"/, '"request_id":"…"');
        output = `${JSON.stringify(JSON.parse(told), undefined, 2)}\n`;
      }
      compare("console", position, `${line}\n${output}`);
    });
  }
});
