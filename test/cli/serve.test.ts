import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { serveCommand } from "../../src/cli/serve.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { atlasOf, quarters } from "../host/hosting.ts";

vi.mock("../../src/openAtlas.ts", () => ({ openAtlas: vi.fn<typeof openAtlas>() }));

const close = vi.fn<() => Promise<void>>(() => Promise.resolve());
let printed = "";

beforeEach(() => {
  printed = "";
  for (const name of ["ISOTHERM_ATLAS", "ISOTHERM_HOST", "ISOTHERM_PORT"]) vi.stubEnv(name, undefined);
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  vi.mocked(openAtlas).mockImplementation((address) =>
    Promise.resolve({ ...atlasOf(), release: `${address}-1`, synthetic: address === "demo", close }),
  );
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  close.mockClear();
  vi.mocked(openAtlas).mockReset();
});

/** Runs the command until it listens, does something there, then stops it by a signal. */
async function served(
  flags: readonly string[],
  act: (url: string) => Promise<void>,
  signal = "SIGTERM",
): Promise<void> {
  const done = serveCommand().parseAsync(["--port", "0", ...flags], { from: "user" });
  await vi.waitFor(() => expect(printed).toContain("curl"), { timeout: 10_000, interval: 10 });
  await act(/listens on (\S+)/.exec(printed)?.[1] ?? "");
  process.emit(signal as "SIGTERM");
  await done;
}

const refused = (flags: readonly string[]): Promise<unknown> => {
  const command = serveCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return command.parseAsync(flags, { from: "user" });
};

describe("isotherm serve", () => {
  test.each(["SIGTERM", "SIGINT"])(
    "says where, what and how to try it; %s stops it and closes the atlas",
    async (signal) => {
      const listening = process.listenerCount(signal);
      await served(
        ["--demo"],
        async (url) => {
          expect(printed).toContain("release demo-1");
          expect(printed).toMatch(/SYNTHETIC/);
          expect(printed).toMatch(/no keys yet.*loopback only/);
          const example = /curl '([^']+)'/.exec(printed)?.[1] ?? "";
          expect(example.startsWith(url)).toBe(true);
          const response = await fetch(example);
          expect([response.status, response.headers.get("x-atlas-release")]).toStrictEqual([200, "demo-1"]);
          const query = {
            latitude: 11.59,
            longitude: 43.15,
            hazards: ["riverine_floods", "coastal_floods"],
            analysis_years: [2050],
            scenarios: ["rcp8p5"],
            radius: 10,
          } as const;
          expect(await response.json()).toStrictEqual(quarters(query));
          expect(close).not.toHaveBeenCalled();
        },
        signal,
      );
      expect(close).toHaveBeenCalledTimes(1);
      expect(process.listenerCount(signal)).toBe(listening);
      await expect(fetch(/listens on (\S+)/.exec(printed)?.[1] ?? "")).rejects.toThrow("fetch failed");
    },
  );

  test("serves the atlas that the environment names, and calls no real numbers synthetic", async () => {
    vi.stubEnv("ISOTHERM_ATLAS", "some/folder");
    await served([], () => Promise.resolve());
    expect(vi.mocked(openAtlas).mock.calls).toStrictEqual([["some/folder", {}]]);
    expect(printed).not.toContain("SYNTHETIC");
  });

  test("goes on answering when nobody reads what it writes", async () => {
    await served(["--demo"], async (url) => {
      process.stdout.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write" }));
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    });
    expect(printed).toContain("Stopping");
  });

  test("takes --demo before the environment", async () => {
    vi.stubEnv("ISOTHERM_ATLAS", "some/folder");
    await served(["--demo"], () => Promise.resolve());
    expect(vi.mocked(openAtlas).mock.calls).toStrictEqual([["demo", {}]]);
  });

  test("never serves synthetic numbers unasked, nor one of two atlases", async () => {
    const configuration = { code: "configuration_invalid" };
    await expect(refused([])).rejects.toMatchObject(configuration);
    await expect(refused(["--demo", "--atlas", "some/folder"])).rejects.toMatchObject(configuration);
    expect(openAtlas).not.toHaveBeenCalled();
  });

  test("listens on loopback only, and closes the atlas when it cannot listen", async () => {
    await expect(refused(["--demo", "--host", "0.0.0.0"])).rejects.toMatchObject({ code: "configuration_invalid" });
    expect(close).toHaveBeenCalledTimes(1);
  });

  test.each(["-1", "65536", "80.5", "http", ""])("refuses the port '%s'", async (port) => {
    await expect(refused(["--demo", `--port=${port}`])).rejects.toThrow("whole number from 0 to 65535");
  });

  test("refuses a wrong port from the environment", async () => {
    vi.stubEnv("ISOTHERM_PORT", "eighty");
    await expect(refused(["--demo"])).rejects.toThrow("whole number from 0 to 65535");
  });
});
