import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { DemoCredentials } from "../../src/cli/demoCredentials.ts";
import { serveCommand } from "../../src/cli/serve.ts";
import { openLedger } from "../../src/ledger/openLedger.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { fakeAtlas, quarterResult } from "../host/testHost.ts";
import { MemoryLedger } from "../host/memoryLedger.ts";

vi.mock("../../src/openAtlas.ts", () => ({ openAtlas: vi.fn<typeof openAtlas>() }));
vi.mock("../../src/ledger/openLedger.ts", () => ({ openLedger: vi.fn<typeof openLedger>() }));

const close = vi.fn<() => Promise<void>>(() => Promise.resolve());
const wasTerminal = process.stdout.isTTY;
let stdoutText = "";
let data = "";
let ledger: MemoryLedger;
let closeLedger = vi.fn<() => Promise<void>>();

beforeEach(async () => {
  stdoutText = "";
  data = await mkdtemp(join(tmpdir(), "isotherm-serve-"));
  ledger = new MemoryLedger();
  closeLedger = vi.spyOn(ledger, "close");
  for (const name of Object.keys(process.env)) if (name.startsWith("ISOTHERM_")) vi.stubEnv(name, undefined);
  vi.stubEnv("ISOTHERM_LOG", "none");
  vi.stubEnv("ISOTHERM_ADMIN_PORT", "none");
  process.stdout.isTTY = true;
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdoutText += String(text);
    return true;
  });
  vi.mocked(openAtlas).mockImplementation((address) =>
    Promise.resolve({ ...fakeAtlas(), release: `${address}-1`, synthetic: address === "demo", close }),
  );
  vi.mocked(openLedger).mockImplementation(() => Promise.resolve(ledger as never));
});
afterEach(async () => {
  process.stdout.isTTY = wasTerminal;
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  close.mockClear();
  vi.mocked(openAtlas).mockReset();
  vi.mocked(openLedger).mockReset();
  await rm(data, { recursive: true });
});

const urlPrinted = (): string => /listens on (\S+)/.exec(stdoutText)?.[1] ?? "";
const credentials = async (): Promise<DemoCredentials> =>
  JSON.parse(await readFile(join(data, "demo-credentials.json"), "utf8")) as DemoCredentials;

/** Runs the service, performs an action against it, then stops it with a signal. */
async function withService(
  flags: readonly string[],
  act: (url: string) => Promise<void>,
  signal: NodeJS.Signals = "SIGINT",
): Promise<void> {
  stdoutText = "";
  const done = serveCommand().parseAsync(["--port", "0", "--data", data, ...flags], { from: "user" });
  await vi.waitFor(() => expect(stdoutText).toMatch(/curl|keys create/), { timeout: 10_000, interval: 10 });
  await act(urlPrinted());
  process.emit(signal, signal);
  await done;
}

const runWith = (flags: readonly string[]): Promise<unknown> => {
  const command = serveCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return command.parseAsync(["--data", data, ...flags], { from: "user" });
};

describe("isotherm serve", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "prints its address, atlas and an example request; on %s it stops and closes the atlas and the ledger",
    async (signal) => {
      const listenerCount = process.listenerCount(signal);
      await withService(
        ["--demo", "--drain-delay", "0"],
        async (url) => {
          expect(stdoutText).toContain("release demo-1");
          expect(stdoutText).toMatch(/SYNTHETIC/);
          expect(stdoutText).toContain(join(data, "demo-credentials.json"));
          expect((await credentials()).base_url).toBe(url);
          expect(close).not.toHaveBeenCalled();
          expect(closeLedger).not.toHaveBeenCalled();
        },
        signal,
      );
      expect(close).toHaveBeenCalledTimes(1);
      expect(closeLedger).toHaveBeenCalledTimes(1);
      expect(process.listenerCount(signal)).toBe(listenerCount);
      await expect(fetch(urlPrinted())).rejects.toThrow("fetch failed");
    },
  );

  test("prints a curl command that works in a shell and does not contain the key", async () => {
    await withService(["--demo"], async () => {
      const line = stdoutText.split("\n").find((each) => each.trimStart().startsWith("curl")) ?? "";
      const { stdout } = await promisify(execFile)("sh", ["-c", line.replace("curl", "curl -sS")]);
      const query = {
        latitude: 11.59,
        longitude: 43.15,
        hazards: ["riverine_floods", "coastal_floods"],
        analysis_years: [2050],
        scenarios: ["rcp8p5"],
        radius: 10,
      } as const;
      expect(JSON.parse(stdout)).toStrictEqual(quarterResult(query));
      expect(ledger.entries).toMatchObject([{ meter: "hazard_values", units: 2, atlasRelease: "demo-1" }]);
      const { api_key } = await credentials();
      expect(line).not.toContain(api_key);
      // Only the address of the explorer has the key, in the part that browsers send to no server.
      const withKey = stdoutText.split("\n").filter((each) => each.includes(api_key));
      expect(withKey).toStrictEqual([expect.stringMatching(/^Explorer: http:[^#]+#key=/)]);
    });
  });

  test("creates the demo key and customer once, in a file that only its owner can read", async () => {
    await withService(["--demo"], () => Promise.resolve());
    const first = await credentials();
    const { mode } = await stat(join(data, "demo-credentials.json"));
    expect(mode & 0o777).toBe(0o600);
    expect(Object.keys(first)).toStrictEqual(["base_url", "api_key", "customer_id"]);

    await withService(["--demo"], () => Promise.resolve());
    expect({ ...(await credentials()), base_url: "" }).toStrictEqual({ ...first, base_url: "" });
    expect([ledger.accounts.size, ledger.keys.size, ledger.customers.size]).toStrictEqual([1, 1, 1]);
  });

  test.each([
    ["revoked the key", (): unknown => Promise.all([...ledger.keys.keys()].map((id) => ledger.revokeKey(id)))],
    [
      "rotated the key",
      (): unknown => Promise.all([...ledger.keys.keys()].map((keyId) => ledger.rotateKey({ keyId, overlapS: 3600 }))),
    ],
    [
      "archived the customer",
      (): unknown => Promise.all([...ledger.customers.values()].map((customer) => ledger.archiveCustomer(customer))),
    ],
  ])("creates new credentials after an operator has %s", async (_what, act) => {
    await withService(["--demo"], () => Promise.resolve());
    const first = await credentials();
    await act();
    await withService(["--demo"], async (url) => {
      const { api_key, customer_id } = await credentials();
      expect(api_key).not.toBe(first.api_key);
      const headers = { "X-API-Key": api_key, "X-Customer-ID": customer_id };
      const target = "/api/v1/hazard-risk?latitude=1&longitude=2&hazards=wildfire&analysis_years=2050&scenarios=rcp8p5";
      expect((await fetch(url + target, { headers })).status).toBe(200);
    });
  });

  test("serves the atlas of the environment without creating a key or a synthetic notice", async () => {
    vi.stubEnv("ISOTHERM_ATLAS", "some/folder");
    vi.stubEnv("ISOTHERM_WORKERS", "3");
    vi.stubEnv("ISOTHERM_CACHE", "64");
    await withService([], () => Promise.resolve());
    expect(vi.mocked(openAtlas).mock.calls).toStrictEqual([["some/folder", { workers: 3, cacheBytes: 64 << 20 }]]);
    expect(vi.mocked(openLedger).mock.calls).toStrictEqual([[{ data }, {}]]);
    expect(stdoutText).not.toContain("SYNTHETIC");
    expect(stdoutText).toContain("isotherm keys create");
    expect(ledger.accounts.size).toBe(0);
  });

  test("uses the ledger database of the environment", async () => {
    vi.stubEnv("ISOTHERM_DATABASE_URL", "postgres://somewhere/ledger");
    await withService(["--atlas", "a"], () => Promise.resolve());
    expect(vi.mocked(openLedger).mock.calls).toStrictEqual([
      [{ database: "postgres://somewhere/ledger" }, { anchorFolder: data }],
    ]);
  });

  test("applies the limits of its options", async () => {
    const flags = ["--body-limit=1", "--batch-limit=2", "--value-limit=3", "--entity-limit=4"];
    const rates = ["--requests-per-second=5", "--request-burst=6", "--tiles-per-second=7", "--tile-burst=8"];
    await withService(["--demo", ...flags, ...rates], async (url) => {
      const headers = { "X-API-Key": (await credentials()).api_key };
      const response = await fetch(`${url}/api/v1/limits`, { headers });
      expect(response.headers.get("ratelimit-policy")).toBe('"account";q=6;w=2');
      const text = JSON.stringify(await response.json());
      for (const value of [1 << 20, 2, 3, 4, 5, 6, 7, 8]) expect(text).toContain(`:${value}`);
    });
  });

  test("allows the CORS origins of the environment", async () => {
    vi.stubEnv("ISOTHERM_CORS_ORIGIN", "https://a.example, https://b.example");
    await withService(["--demo"], async (url) => {
      for (const origin of ["https://a.example", "https://b.example"]) {
        const response = await fetch(`${url}/healthz`, { headers: { Origin: origin } });
        expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      }
    });
  });

  test("serves metrics on the admin port only", async () => {
    await withService(["--demo", "--admin-port", "0"], async (url) => {
      const metrics = /Metrics: (\S+)/.exec(stdoutText)?.[1] ?? "";
      expect(await (await fetch(metrics)).text()).toContain("isotherm_units_total");
      expect((await fetch(`${url}/metrics`)).status).toBe(404);
    });
  });

  test("keeps responding during the drain delay after SIGTERM", async () => {
    let url = "";
    let isStopped = false;
    const done = withService(
      ["--demo", "--drain-delay", "0.5"],
      async (address) => {
        url = address;
        await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
      },
      "SIGTERM",
    ).then(() => (isStopped = true));
    await vi.waitFor(() => expect(stdoutText).toContain("Stopping"), { timeout: 10_000, interval: 5 });
    const response = await fetch(`${url}/readyz`);
    expect([response.status, response.headers.get("connection"), isStopped]).toStrictEqual([503, "close", false]);
    expect(await response.json()).toMatchObject({ code: "overloaded", retryable: true });
    await done;
  });

  test.each(["the ledger", "an uncaught exception", "an unhandled rejection"])(
    "exits with 1 after a fatal error: %s",
    async (what) => {
      const before = process.exitCode;
      try {
        const done = serveCommand().parseAsync(["--port", "0", "--data", data, "--demo"], { from: "user" });
        await vi.waitFor(() => expect(stdoutText).toContain("curl"), { timeout: 10_000, interval: 10 });
        const error = new Error("disk gone");
        if (what === "the ledger") ledger.fail(error);
        else if (what === "an uncaught exception") process.emit("uncaughtException", error);
        else process.emit("unhandledRejection", error, Promise.resolve());
        await done;
        expect(process.exitCode).toBe(1);
        expect(closeLedger).toHaveBeenCalledTimes(1);
        await expect(fetch(urlPrinted())).rejects.toThrow("fetch failed");
      } finally {
        process.exitCode = before;
      }
    },
  );

  test("keeps running if the reader of its output closes the pipe", async () => {
    await withService(["--demo"], async (url) => {
      process.stdout.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write" }));
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    });
    expect(stdoutText).toContain("Stopping");
  });

  test("--demo takes precedence over ISOTHERM_ATLAS", async () => {
    vi.stubEnv("ISOTHERM_ATLAS", "some/folder");
    await withService(["--demo", "--workers", "0"], () => Promise.resolve());
    expect(vi.mocked(openAtlas).mock.calls).toStrictEqual([
      ["demo", { workers: 0, cacheBytes: expect.any(Number) as number }],
    ]);
  });

  test("rejects a missing atlas and --demo together with --atlas", async () => {
    const expectedFault = { code: "configuration_invalid" };
    await expect(runWith([])).rejects.toMatchObject(expectedFault);
    await expect(runWith(["--demo", "--atlas", "some/folder"])).rejects.toMatchObject(expectedFault);
    expect(openAtlas).not.toHaveBeenCalled();
  });

  test("closes the atlas and the ledger if it cannot listen", async () => {
    const listenerCount = process.listenerCount("SIGTERM");
    await expect(runWith(["--demo", "--host", "203.0.113.1"])).rejects.toMatchObject({ code: "configuration_invalid" });
    expect(close).toHaveBeenCalledTimes(1);
    expect(closeLedger).toHaveBeenCalledTimes(1);
    expect(process.listenerCount("SIGTERM")).toBe(listenerCount);
  });

  test.each([
    ["port", "-1", "integer from 0 to 65535"],
    ["port", "65536", "integer from 0 to 65535"],
    ["port", "80.5", "integer from 0 to 65535"],
    ["port", "http", "integer from 0 to 65535"],
    ["port", "", "integer from 0 to 65535"],
    ["admin-port", "some", "integer from 0 to 65535"],
    ["workers", "1.5", "integer from 0 to 256"],
    ["drain-delay", "-1", "number of seconds from 0 to 3600"],
    ["requests-per-second", "0", "integer from 1 to 1000000000"],
    ["key-lookup-limit", "0", "integer from 1 to 1000000000"],
    ["trust-proxy", "10.0.0.0/33", "IP addresses or ranges such as"],
    ["exempt-address", "localhost", "IP addresses or ranges such as"],
  ])("rejects --%s '%s'", async (flag, text, message) => {
    await expect(runWith(["--demo", `--${flag}=${text}`])).rejects.toThrow(message);
  });

  test("rejects --database together with --database-file, and prefers options to the environment", async () => {
    const file = join(data, "address");
    await writeFile(file, "postgres://user:secret@file/ledger\n", { mode: 0o600 });
    const both = ["--atlas", "a", "--database", "postgres://option/ledger", "--database-file", file];
    await expect(runWith(both)).rejects.toThrow("--database and --database-file are mutually exclusive");
    const opened = async (flags: readonly string[]): Promise<unknown> => {
      vi.mocked(openLedger).mockClear();
      await withService(["--atlas", "a", ...flags], () => Promise.resolve());
      return vi.mocked(openLedger).mock.calls[0]?.[0];
    };
    vi.stubEnv("ISOTHERM_DATABASE_URL", "postgres://environment/ledger");
    expect(await opened(["--database-file", file])).toStrictEqual({ database: "postgres://user:secret@file/ledger" });
    vi.stubEnv("ISOTHERM_DATABASE_FILE", file);
    expect(await opened(["--database", "postgres://option/ledger"])).toStrictEqual({
      database: "postgres://option/ledger",
    });
    await expect(runWith(["--atlas", "a"])).rejects.toThrow("ISOTHERM_DATABASE_URL and ISOTHERM_DATABASE_FILE are");
  });

  test("rejects an invalid origin", async () => {
    await expect(runWith(["--demo", "--cors-origin", "example.org/path"])).rejects.toThrow(/CORS origin must be/);
  });

  test("rejects an invalid port from the environment", async () => {
    vi.stubEnv("ISOTHERM_PORT", "eighty");
    await expect(runWith(["--demo"])).rejects.toThrow("integer from 0 to 65535");
  });
});
