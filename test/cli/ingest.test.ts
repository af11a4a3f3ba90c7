import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ingestCommand } from "../../src/cli/ingest.ts";
import { ingestLayers } from "../../src/ingest/ingest.ts";

vi.mock("../../src/ingest/ingest.ts", () => ({ ingestLayers: vi.fn<typeof ingestLayers>() }));

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

let printed = "";
let noticed = "";
let listening: readonly number[] = [];
const listeners = (): readonly number[] => SIGNALS.map((signal) => process.listenerCount(signal));
beforeEach(() => {
  printed = "";
  noticed = "";
  listening = listeners();
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    noticed += String(text);
    return true;
  });
});
afterEach(() => {
  process.exitCode = undefined;
  vi.restoreAllMocks();
  vi.mocked(ingestLayers).mockReset();
});

const run = (...flags: string[]) =>
  ingestCommand().parseAsync(["layers", "storm.json", "--out", "data/atlas", ...flags], { from: "user" });

describe("isotherm ingest", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("told to stop by %s stops in order, says how to go on, and exits with %i", async (signal, code) => {
    vi.mocked(ingestLayers).mockImplementation(
      (options) =>
        new Promise((_resolve, reject) => {
          options.signal?.addEventListener("abort", () => reject(options.signal?.reason as Error));
          setImmediate(() => process.emit(signal, signal));
        }),
    );
    await run();
    expect(process.exitCode).toBe(code);
    expect(noticed).toMatch(/^Stopped\. The same command goes on from here/);
    expect(printed).toBe("");
    expect(listeners()).toEqual(listening);
  });

  test("passes on what goes wrong, and listens to signals no longer", async () => {
    vi.mocked(ingestLayers).mockRejectedValue(new Error("no map"));
    await expect(run()).rejects.toThrow("no map");
    expect(process.exitCode).toBeUndefined();
    expect(listeners()).toEqual(listening);
  });

  test("passes on which column of a repeated meridian counts", async () => {
    vi.mocked(ingestLayers).mockRejectedValue(new Error("no map"));
    await expect(run("--keep-meridian", "east")).rejects.toThrow("no map");
    expect(vi.mocked(ingestLayers).mock.calls[0]?.[0]).toMatchObject({ keepMeridian: "east" });
  });

  test("reports what was done", async () => {
    vi.mocked(ingestLayers).mockResolvedValue({
      atlas: "data/atlas",
      release: "20260101-00000000",
      groups: [],
      setAside: [],
      durationMs: 1250,
    });
    await run();
    expect(vi.mocked(ingestLayers).mock.calls[0]?.[0]).toMatchObject({ manifest: "storm.json", out: "data/atlas" });
    expect(printed).toContain("release 20260101-00000000 of data/atlas, in 1.3 s");
    expect(process.exitCode).toBeUndefined();
  });
});
