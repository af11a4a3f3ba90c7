import { describe, expect, test } from "vitest";
import type { SampleLayer } from "../../src/hazard/sampleRequest.ts";
import { LAYERS, packed, useSampledAtlas } from "./sampledAtlas.ts";

useSampledAtlas();

describe("sample", () => {
  test("rejects requests and layers that are not objects", async () => {
    for (const none of [undefined, null, 5]) {
      const expected = { code: "invalid_request", items: [{ pointer: "", code: "wrong_type" }] };
      await expect(packed.sample(none as never)).rejects.toMatchObject(expected);
      await expect(packed.sampleSteps(none as never)).rejects.toMatchObject(expected);
    }
    const places = { latitudes: Float64Array.of(1), longitudes: Float64Array.of(2) };
    await expect(packed.sample({ hazard: "riverine_floods", layers: [], ...places })).rejects.toMatchObject({
      message: "layers must be an array of at least one layer.", // without a count of errors
    });
    const layers = [LAYERS[0], null, undefined, "depth_meters"] as unknown as SampleLayer[];
    await expect(packed.sample({ hazard: "riverine_floods", layers, ...places })).rejects.toMatchObject({
      code: "invalid_request",
      items: [1, 2, 3].map((i) => ({ pointer: `/layers/${i}`, code: "wrong_type" })),
    });
  });

  describe("unknown members", () => {
    const places = { latitudes: Float64Array.of(1), longitudes: Float64Array.of(2) };
    const layer = { scenario: "rcp4p5", analysisYear: 2030, metric: "depth_meters" } as const;
    const validRequest = { hazard: "riverine_floods", layers: [layer], ...places };
    const unknown = (pointer: string, suggestion?: string): object =>
      expect.objectContaining({
        pointer,
        code: "unknown",
        ...(suggestion === undefined ? {} : { did_you_mean: suggestion }),
      });

    test.each([
      ["radius", "radiusKm"],
      ["radius_km", "radiusKm"],
      ["radiusM", "radiusKm"],
      ["aggregation_method", "method"],
      ["aggregationMethod", "method"],
      ["latitude", "latitudes"],
      ["longitude", "longitudes"],
      ["hazards", "hazard"],
      ["scenarios", "layers"],
      ["analysis_years", "layers"],
      ["on_progress", "onProgress"],
    ])("rejects %s in the request and suggests %s", async (name, suggestion) => {
      await expect(packed.sample({ ...validRequest, [name]: 5 })).rejects.toMatchObject({
        code: "invalid_request",
        items: [unknown(`/${name}`, suggestion)],
      });
    });

    test.each(["radius", "total_hazard", "aggregation_method"])("rejects %s in a request for steps", async (name) => {
      await expect(packed.sampleSteps({ ...validRequest, [name]: 5 })).rejects.toMatchObject({
        code: "invalid_request",
        items: [unknown(`/${name}`)],
      });
    });

    test("rejects analysis_year in a layer and suggests analysisYear", async () => {
      const { analysisYear: _, ...rest } = layer;
      for (const call of [packed.sample, packed.sampleSteps] as const) {
        await expect(
          call({ ...validRequest, layers: [layer, { ...rest, analysis_year: 2030 }] } as never),
        ).rejects.toMatchObject({
          code: "invalid_request",
          items: [unknown("/layers/1/analysis_year", "analysisYear")],
        });
        await expect(
          call({ ...validRequest, layers: [{ ...layer, hazard: "wildfire" }] } as never),
        ).rejects.toMatchObject({
          items: [unknown("/layers/0/hazard")],
        });
      }
    });

    test("lists the missing members of a layer", async () => {
      await expect(
        packed.sample({ ...validRequest, layers: [{ metric: "depth_meters" }] } as never),
      ).rejects.toMatchObject({
        code: "invalid_request",
        items: [
          { pointer: "/layers/0/scenario", code: "missing" },
          { pointer: "/layers/0/analysisYear", code: "missing" },
        ],
      });
    });

    test("rejects an unknown array in into", async () => {
      const into = { values: new Float64Array(1), reasons: new Uint8Array(1), reason: new Uint8Array(1) };
      await expect(packed.sample({ ...validRequest, into })).rejects.toMatchObject({
        items: [unknown("/into/reason", "reasons")],
      });
    });

    test("rejects a signal and a listener of the wrong type", async () => {
      for (const call of [packed.sample, packed.sampleSteps] as const) {
        await expect(call({ ...validRequest, signal: "now", onProgress: 5 } as never)).rejects.toMatchObject({
          items: [
            { pointer: "/signal", code: "wrong_type" },
            { pointer: "/onProgress", code: "wrong_type" },
          ],
        });
      }
    });
  });

  test("rejects a request with all errors and their pointers", async () => {
    const request = {
      hazard: "riverine_floods",
      layers: LAYERS,
      latitudes: Float64Array.of(1, 91, NaN),
      longitudes: Float64Array.of(1, 2, -181),
    };
    await expect(packed.sample(request)).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ pointer: "/latitudes/1" }, { pointer: "/latitudes/2" }, { pointer: "/longitudes/2" }],
    });
    await expect(packed.sample({ ...request, latitudes: Float64Array.of(1, 2, 3) })).rejects.toMatchObject({
      items: [{ pointer: "/longitudes/2" }],
    });
    const rest = { hazard: "floods", layers: [], latitudes: [1], longitudes: [1], radiusKm: 101, method: "sum" };
    await expect(packed.sample(rest as never)).rejects.toMatchObject({
      items: [
        { pointer: "/hazard" },
        { pointer: "/layers" },
        { pointer: "/latitudes" },
        { pointer: "/longitudes" },
        { pointer: "/radiusKm" },
        { pointer: "/method" },
      ],
    });
    const places = { latitudes: Float64Array.of(1), longitudes: Float64Array.of(2) };
    const layers = [{ scenario: "rcp2p6", analysisYear: 2025, metric: "wind_speed_mps" } as const];
    await expect(packed.sample({ hazard: "riverine_floods", layers, ...places })).rejects.toMatchObject({
      code: "combination_unavailable",
      items: [
        { pointer: "/layers/0/scenario" },
        { pointer: "/layers/0/analysisYear" },
        { pointer: "/layers/0/metric" },
      ],
    });
    const longer = { hazard: "riverine_floods", layers: LAYERS, ...places, longitudes: Float64Array.of(1, 2) };
    await expect(packed.sample(longer)).rejects.toMatchObject({ items: [{ pointer: "/longitudes" }] });
  });
});
