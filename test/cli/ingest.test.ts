import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ingestCommand } from "../../src/cli/ingest.ts";
import { ingestLayers } from "../../src/ingest/ingest.ts";

vi.mock("../../src/ingest/ingest.ts", () => ({ ingestLayers: vi.fn<typeof ingestLayers>() }));

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

let stdoutText = "";
let stderrText = "";
let listenersBefore: readonly number[] = [];
const listeners = (): readonly number[] => SIGNALS.map((signal) => process.listenerCount(signal));
beforeEach(() => {
  stdoutText = "";
  stderrText = "";
  listenersBefore = listeners();
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdoutText += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderrText += String(text);
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
  ] as const)("stops on %s, explains how to continue and exits with %i", async (signal, code) => {
    vi.mocked(ingestLayers).mockImplementation(
      (options) =>
        new Promise((_resolve, reject) => {
          options.signal?.addEventListener("abort", () => reject(options.signal?.reason as Error));
          setImmediate(() => process.emit(signal, signal));
        }),
    );
    await run();
    expect(process.exitCode).toBe(code);
    expect(stderrText).toMatch(/^Stopped\. Run the same command again to continue/);
    expect(stdoutText).toBe("");
    expect(listeners()).toEqual(listenersBefore);
  });

  test("rethrows errors and removes its signal listeners", async () => {
    vi.mocked(ingestLayers).mockRejectedValue(new Error("no map"));
    await expect(run()).rejects.toThrow("no map");
    expect(process.exitCode).toBeUndefined();
    expect(listeners()).toEqual(listenersBefore);
  });

  test("passes --keep-meridian to the ingest", async () => {
    vi.mocked(ingestLayers).mockRejectedValue(new Error("no map"));
    await expect(run("--keep-meridian", "east")).rejects.toThrow("no map");
    expect(vi.mocked(ingestLayers).mock.calls[0]?.[0]).toMatchObject({ keepMeridian: "east" });
  });

  test("prints the release and the duration", async () => {
    vi.mocked(ingestLayers).mockResolvedValue({
      atlas: "data/atlas",
      release: "20260101-00000000",
      groups: [],
      ignoredFiles: [],
      durationMs: 1250,
    });
    await run();
    expect(vi.mocked(ingestLayers).mock.calls[0]?.[0]).toMatchObject({ manifest: "storm.json", out: "data/atlas" });
    expect(stdoutText).toContain("release 20260101-00000000 of data/atlas written in 1.3 s");
    expect(process.exitCode).toBeUndefined();
  });
});
