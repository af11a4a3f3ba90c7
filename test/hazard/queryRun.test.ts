import { describe, expect, onTestFinished, test } from "vitest";
import type { CurveQueryInput, HazardQueryInput } from "../../src/contract/wireTypes.ts";
import { HAZARD_NAMES } from "../../src/contract/names.ts";
import type { LocalAtlas } from "../../src/hazard/answer.ts";
import { openLocalAtlas } from "../../src/openAtlas.ts";

const QUERY = {
  latitude: 11.59,
  longitude: 43.15,
  hazards: HAZARD_NAMES,
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
  radius: 2,
} as const satisfies HazardQueryInput;
const CURVE: CurveQueryInput = { ...QUERY, hazards: ["riverine_floods"], analysis_years: [1980, 2050] };

/** Calls an atlas without cached tiles. Returns how often it fetched tiles, and calls a listener before the first. */
async function fetchesOf(call: (atlas: LocalAtlas) => Promise<unknown>, onFirst = (): void => undefined) {
  const atlas = await openLocalAtlas("demo", 64 << 20);
  onTestFinished(() => atlas.close());
  let count = 0;
  atlas.tileUse.onFetch(() => {
    count += 1;
    if (count === 1) onFirst();
  });
  const [settled] = await Promise.allSettled([call(atlas)]);
  return { count, settled };
}

const CALLS = [
  ["hazardRisk", (atlas: LocalAtlas, signal?: AbortSignal) => atlas.hazardRisk(QUERY, { signal })],
  [
    "hazardRiskBatch",
    (atlas: LocalAtlas, signal?: AbortSignal) => atlas.hazardRiskBatch([QUERY], signal ? { signal } : {}),
  ],
  ["curve", (atlas: LocalAtlas, signal?: AbortSignal) => atlas.curve(CURVE, { signal })],
] as const;

describe.each(CALLS)("%s", (_, call) => {
  test("reads nothing further once its signal is aborted", async () => {
    const whole = await fetchesOf((atlas) => call(atlas));
    expect(whole.settled.status).toBe("fulfilled");
    const abort = new AbortController();
    const reason = new Error("the client has left");
    const aborted = await fetchesOf(
      (atlas) => call(atlas, abort.signal),
      () => abort.abort(reason),
    );
    expect(aborted.settled).toEqual({ status: "rejected", reason });
    expect(aborted.count).toBeLessThan(whole.count);
  });

  test("reads nothing if its signal is already aborted", async () => {
    const reason = new Error("too late");
    const aborted = await fetchesOf((atlas) => call(atlas, AbortSignal.abort(reason)));
    expect(aborted).toMatchObject({ count: 0, settled: { status: "rejected", reason } });
  });
});

test("rejects a signal that is none", async () => {
  const atlas = await openLocalAtlas("demo", 64 << 20);
  onTestFinished(() => atlas.close());
  const signal = "soon" as unknown as AbortSignal;
  const fault = { code: "invalid_request", items: [{ pointer: "/signal", code: "wrong_type" }] };
  await expect(atlas.hazardRisk(QUERY, { signal })).rejects.toMatchObject(fault);
  await expect(atlas.curve(CURVE, { signal })).rejects.toMatchObject(fault);
});
