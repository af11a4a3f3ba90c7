import { readFileSync, writeFileSync } from "node:fs";
import { inspect } from "node:util";
import { runInThisContext } from "node:vm";
import { expect, test } from "vitest";
import { IsothermClient } from "../../src/client/client.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { HEADERS, startTestHost } from "../host/testHost.ts";

/** The page whose first example is run. ISOTHERM_UPDATE_EXAMPLES=1 updates its output instead of comparing it. */
const PAGE = new URL("../../docs/client.md", import.meta.url);

test("the example of docs/client.md prints the documented output", async () => {
  const text = readFileSync(PAGE, "utf8");
  const [example = "", code = "", output] = /```js\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/.exec(text) ?? [];
  const body = code
    .replace(/^import .*\n/, "")
    .replace("http://127.0.0.1:8080", "${baseUrl}")
    .replace('"${baseUrl}"', "baseUrl")
    .replace("process.env.ISOTHERM_API_KEY", "apiKey");
  const atlas = await openAtlas("demo");
  const host = await startTestHost({ atlas });
  try {
    let stdoutText = "";
    const console = {
      log: (value: unknown) => (stdoutText += `${typeof value === "string" ? value : inspect(value)}\n`),
    };
    const run = runInThisContext(`(async (IsothermClient, baseUrl, apiKey, console) => {${body}})`) as (
      ...args: unknown[]
    ) => Promise<void>;
    await run(IsothermClient, host.address.url, HEADERS["X-API-Key"], console);
    if (process.env["ISOTHERM_UPDATE_EXAMPLES"] === "1") {
      writeFileSync(PAGE, text.replace(example, `\`\`\`js\n${code}\`\`\`\n\n\`\`\`\n${stdoutText}\`\`\``));
    } else expect(output).toBe(stdoutText);
  } finally {
    await host.close();
    await atlas.close();
  }
});
