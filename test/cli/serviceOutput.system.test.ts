/** What a service without a terminal writes to standard output, and what `ps` shows of it. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startedUrl } from "../startedUrl.ts";

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "isotherm-output-"));
});
afterEach(() => rmSync(data, { recursive: true }));

/** Starts `isotherm serve --demo`. */
function start(flags: readonly string[]) {
  const common = ["--demo", "--workers", "0", "--drain-delay", "0", "--data", data];
  const child = spawn(process.execPath, [CLI, "serve", ...common, ...flags], { env: { PATH: process.env["PATH"] } });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  return { child, output, exited: once(child, "close") };
}

type LogLine = Readonly<Record<string, unknown>>;
const linesOf = (text: string): LogLine[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogLine);

test("writes only JSON lines: one for the start, one per response except to probes, one for the stop", async () => {
  const { child, output, exited } = start(["--port", "0", "--admin-port", "0"]);
  await expect.poll(() => startedUrl(output.stdout)).toBeDefined();
  const url = startedUrl(output.stdout) ?? "";
  const { metrics } = linesOf(output.stdout)[0] as { readonly metrics: string };
  for (const path of ["/healthz", "/readyz", "/", "/nowhere"]) await (await fetch(url + path)).text();
  await (await fetch(metrics)).text();
  child.kill("SIGTERM");
  expect(await exited).toStrictEqual([0, null]);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
  const lines = linesOf(output.stdout);
  expect(lines[0]).toStrictEqual({
    level: "info",
    time,
    event: "started",
    url,
    documentation: `${url}/docs`,
    metrics: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/) as string,
    atlas: "demo",
    atlas_release: expect.any(String) as string,
    synthetic: true,
    demo_credentials: join(data, "demo-credentials.json"),
  });
  const responses = lines.filter((line) => "request_id" in line);
  expect(responses.map(({ status, code }) => [status, code])).toStrictEqual([
    [200, undefined],
    [404, "route_not_found"],
  ]);
  expect(lines.filter(({ event }) => event === "stopping")).toMatchObject([{ level: "info", signal: "SIGTERM" }]);
  expect(lines).toHaveLength(4);
  expect(output.stderr).toBe("");
});

test("writes the start and the stop also without a log of responses", async () => {
  const { child, output, exited } = start(["--port", "0", "--admin-port", "none", "--log", "none"]);
  await expect.poll(() => startedUrl(output.stdout)).toBeDefined();
  await (await fetch(startedUrl(output.stdout) ?? "")).text();
  child.kill("SIGINT");
  await exited;
  expect(linesOf(output.stdout).map(({ event }) => event)).toStrictEqual(["started", "stopping"]);
});

test("writes a record if it cannot start, and the message for people to standard error", async () => {
  const occupied = createServer().listen(0, "127.0.0.1");
  await once(occupied, "listening");
  const { port } = occupied.address() as AddressInfo;
  const { output, exited } = start(["--port", String(port), "--admin-port", "none"]);
  expect(await exited).toStrictEqual([1, null]);
  occupied.close();
  expect(linesOf(output.stdout)).toMatchObject([
    { level: "fatal", event: "failed", error: { message: expect.stringContaining("the port is in use") as string } },
  ]);
  expect(output.stderr).toMatch(/^isotherm: Cannot listen on port \d+ of 127\.0\.0\.1: the port is in use/);
});

test.each(["a file", "an option"])("the database password in %s is in neither ps nor the output", async (source) => {
  // A server that accepts connections and never responds, so that the service waits for it.
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const connected = once(silent, "connection");
  const address = `postgres://user:geheim123@127.0.0.1:${(silent.address() as AddressInfo).port}/ledger`;
  const file = join(data, "address");
  writeFileSync(file, `${address}\n`, { mode: 0o600 });
  const flags = source === "a file" ? ["--database-file", file] : ["--database", address];
  const { child, output, exited } = start(["--port", "0", "--admin-port", "none", ...flags]);
  await connected;
  const shown = execFileSync("ps", ["-o", "args=", "-p", String(child.pid)], { encoding: "utf8" });
  expect(shown).not.toBe("");
  expect(shown).not.toContain("geheim123");
  child.kill("SIGKILL");
  await exited;
  silent.close();
  expect(output.stdout + output.stderr).not.toContain("geheim123");
});
