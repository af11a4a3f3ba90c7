import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CellAtlas } from "../../src/atlas/cellSource.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { openPackedAtlas } from "../../src/atlas/packedAtlas.ts";
import { Sampler } from "../../src/atlas/sampler.ts";
import { sampleSteps } from "../../src/hazard/sample.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { expectSameBytes } from "../sameBytes.ts";
import { randomFrom } from "../seededRandom.ts";
import { CACHE_BYTES, folder, LAYERS, packed, placesFrom, useSampledAtlas } from "./sampledAtlas.ts";

useSampledAtlas();

describe("sampleSteps", () => {
  let atlas: CellAtlas;
  let sampler: Sampler;
  beforeAll(async () => {
    const kernel = await Kernel.load();
    atlas = await openPackedAtlas(kernel, diskBlobs(folder), { headerCacheBytes: 1 << 20 });
    sampler = new Sampler(kernel, atlas, { cacheBytes: CACHE_BYTES });
  });
  afterAll(() => atlas.close());

  for (const [name, layers] of [
    ["missing and repeated layers", LAYERS],
    ["layers in stored order", LAYERS.slice(0, 2).toReversed()],
    ["layers in a different order", LAYERS.slice(0, 2)],
    ["a layer that the atlas does not have", LAYERS.slice(2, 3)],
  ] as const) {
    test(`returns the steps of the values that sample returns for ${name}`, async () => {
      const request = { hazard: "riverine_floods", layers, ...placesFrom(randomFrom(80), 9000) };
      const { values, reasons } = await packed.sample(request);
      const into = new Uint16Array(values.length).fill(5);
      for (const output of [{}, { into }]) {
        const { steps, stepsPerUnit, offsets } = await sampleSteps(sampler, { ...request, ...output });
        if ("into" in output) expect(steps).toBe(into);
        expect(steps.length).toBe(values.length);
        expect(offsets).toEqual(stepsPerUnit.map((each) => (Number.isNaN(each) ? NaN : 0)));
        const valuesFromSteps = Float64Array.from(steps, (found, i) => {
          const layer = i % layers.length;
          return found > 65_533 ? NaN : found / (stepsPerUnit[layer] ?? 0) + (offsets[layer] ?? 0);
        });
        expectSameBytes(valuesFromSteps, values);
        const expectedReasons = Uint8Array.from(steps, (found, i) => {
          if (Number.isNaN(stepsPerUnit[i % layers.length])) return found === 65_534 ? 3 : 9;
          return found === 65_534 ? 1 : found === 65_535 ? 2 : 0;
        });
        expectSameBytes(expectedReasons, reasons);
      }
    });
  }

  test("reports progress and stops when aborted", async () => {
    const request = { hazard: "riverine_floods", layers: LAYERS.slice(0, 1), ...placesFrom(randomFrom(81), 9000) };
    const reports: number[] = [];
    await sampleSteps(sampler, { ...request, onProgress: (done) => reports.push(done) });
    expect(reports.at(-1)).toBe(9000);
    const signal = AbortSignal.abort(new Error("aborted before the call"));
    await expect(sampleSteps(sampler, { ...request, signal })).rejects.toThrow("aborted before the call");
  });

  test("rejects circles and output arrays of the wrong type or length", async () => {
    const places = { latitudes: Float64Array.of(1, 2), longitudes: Float64Array.of(1, 2) };
    const request = { hazard: "riverine_floods", layers: LAYERS.slice(0, 2), ...places };
    await expect(sampleSteps(sampler, { ...request, radiusKm: 5, method: "max" } as never)).rejects.toMatchObject({
      code: "invalid_request",
      items: [
        {
          pointer: "/radiusKm",
          detail: "radiusKm is not accepted, because stored steps exist only for single cells; use sample for circles.",
        },
        { pointer: "/method" },
      ],
    });
    for (const into of [new Uint16Array(3), new Int16Array(4), null, new Uint16Array(places.latitudes.buffer, 0, 4)]) {
      await expect(sampleSteps(sampler, { ...request, into } as never)).rejects.toMatchObject({
        items: [{ pointer: "/into" }],
      });
    }
    await expect(sampleSteps(sampler, { ...request, latitudes: Float64Array.of(1, 91) })).rejects.toMatchObject({
      items: [{ pointer: "/latitudes/1" }],
    });
  });
});
