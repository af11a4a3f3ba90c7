import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openServiceLog } from "../../src/cli/serviceLog.ts";
import { Fault } from "../../src/errors.ts";

let folder = "";
let file = "";
let fd = -1;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-log-"));
  file = join(folder, "log");
  fd = openSync(file, "w");
});
afterEach(() => {
  closeSync(fd);
  rmSync(folder, { recursive: true });
});

const linesIn = (path: string): unknown[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);

test("writes one line per response with a time and without process fields", () => {
  const { log, flush } = openServiceLog({ fd });
  log({ request_id: "r1", method: "GET", route: "/healthz", status: 200, duration_ms: 1.5, units: 2, key_id: "k" });
  log({ request_id: "r2", status: 503, code: "usage_not_recorded", error: { name: "Fault", message: "m" } });
  flush();
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
  expect(linesIn(file)).toStrictEqual([
    {
      level: "info",
      time,
      request_id: "r1",
      method: "GET",
      route: "/healthz",
      status: 200,
      duration_ms: 1.5,
      units: 2,
      key_id: "k",
    },
    {
      level: "error",
      time,
      request_id: "r2",
      status: 503,
      code: "usage_not_recorded",
      error: { name: "Fault", message: "m" },
    },
  ]);
});

test("flushes without a call of flush", async () => {
  const { log } = openServiceLog({ fd });
  log({ request_id: "r1", status: 200 });
  await vi.waitFor(() => expect(linesIn(file)).toHaveLength(1), { timeout: 5_000 });
});

test("logs a fatal error without the messages of its causes", () => {
  const { fatal, flush } = openServiceLog({ fd });
  fatal(new Fault("ledger_unavailable", "The ledger has stopped.", { cause: new Error("SECRET at 11.5, 43.1") }));
  flush();
  expect(linesIn(file)).toMatchObject([
    { level: "fatal", error: { name: "Fault", message: "The ledger has stopped." } },
  ]);
  expect(readFileSync(file, "utf8")).not.toContain("SECRET");
});
