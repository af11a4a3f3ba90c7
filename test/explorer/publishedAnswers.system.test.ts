/** The engine of a published folder returns the bytes of the API's answers. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Entity, HazardQueryInput, HazardResult } from "../../src/contract/wireTypes.ts";
import type { CallMessage, ReplyMessage } from "../../src/concurrency/threadCalls.ts";
import type { EngineCall } from "../../src/explorer/data/engineData.ts";
import { describeInChromium } from "../browser/chromium.ts";
import {
  pixelLatitudes,
  pixelLongitudes,
  pixelOfLatitude,
  pixelOfLongitude,
  TILE_PIXELS,
} from "../../src/tiles/mercator.ts";
import { decodeValueTile, STEP_NO_DATA, STEP_OUTSIDE, type ValueTile, valueOfStep } from "../../src/tiles/valueTile.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { GENERATED_BOX, writeGeneratedAtlas } from "./atlases.ts";
import { closeExplorers, openExplorer, type OpenedExplorer } from "./explorerPage.ts";

/** A call of the engine, and the request of the API with the same answer. */
interface Call extends EngineCall {
  readonly path: string;
  readonly body?: unknown;
}

function pathWith(path: string, parameters: object): string {
  const pairs = (Object.entries(parameters) as [string, unknown][]).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
}

/** Draws a place in the maps or near them. */
function placeOf(random: SeededRandom) {
  const { south, north, west, east } = GENERATED_BOX;
  const marginDeg = random.pick([0, 0, 0, 0.5, 5]);
  return {
    latitude: random.between({ min: south - marginDeg, max: north + marginDeg }),
    longitude: random.between({ min: west - marginDeg, max: east + marginDeg }),
    radius: random.chance(0.4) ? 0 : random.between({ min: 0.1, max: 100 }),
    aggregation_method: random.pick(["max", "mean"] as const),
  };
}

function hazardCall(random: SeededRandom): Call {
  const query: HazardQueryInput = {
    ...placeOf(random),
    hazards: random.pick([["riverine_floods"], ["riverine_floods", "cyclones"]] as const),
    analysis_years: random.pick([[2030], [1980, 2030, 2050]]),
    scenarios: random.pick([["rcp4p5"], ["baseline", "rcp4p5", "rcp8p5"]] as const),
    total_hazard: random.chance(0.5),
    anthropogenic: random.chance(0.3),
    detail: random.chance(0.5),
  };
  return { name: "hazardRisk", args: [query], path: pathWith("/api/v1/hazard-risk", query) };
}

function curveCall(random: SeededRandom): Call {
  const query = {
    ...placeOf(random),
    hazards: ["riverine_floods"],
    analysis_years: [2030],
    scenarios: ["rcp4p5"],
    threshold: random.between({ min: 0, max: 3 }),
    return_periods: [3, 30, 300],
    detail: random.chance(0.5),
  };
  return { name: "curve", args: [query], path: pathWith("/api/v1/hazard-risk/curve", query) };
}

function alignmentCall(random: SeededRandom): Call {
  const emissions = () => ({
    scope1: random.between({ min: 0, max: 1e6 }),
    scope2: random.between({ min: 0, max: 1e5 }),
    scope3: random.between({ min: 0, max: 1e7 }),
  });
  const entity: Entity = {
    entity_info: {
      name: "Example",
      asset_type: "equity",
      country: random.pick(["Germany", "India", "Brazil", "Atlantis"]),
      industry: random.pick(["Steel", "Banks", "Cement", "Unknown"]),
    },
    data: [{ year: 2023, emissions: emissions(), financials: { revenue: random.between({ min: 1e6, max: 1e9 }) } }],
    projected_emissions: [2030, 2040, 2050].map((year) => ({ year, emissions: emissions() })),
  };
  const parameters = random.pick([
    {},
    { detail: true },
    { basis: "emissions", include: ["by_scope", "overall"] },
    { budget_scenario: "below_2c", convergence: 0.5 },
  ]);
  const path = pathWith("/api/v1/temperature-alignment-projections", parameters);
  return { name: "alignTemperature", args: [[entity], parameters], path, body: [entity] };
}

function companyCall(random: SeededRandom): Call {
  const request = {
    name: "Example",
    country: random.pick(["Germany", "India", "Brazil"]),
    industry: random.pick(["cement_lime", "miscellaneous"]),
    revenue: String(Math.round(random.between({ min: 1e8, max: 1e10 }))),
    transition_scenarios: ["NGFS_NET_ZERO_2050", "NGFS_CURRENT_POLICIES"],
    assessment_years: [2030, 2050],
  };
  return { name: "totalClimateRisk", args: [request], path: "/analyze/total-climate-risk", body: request };
}

function callsOf(): readonly Call[] {
  const random = randomFrom(19);
  const kinds: readonly (readonly [number, (random: SeededRandom) => Call])[] = [
    [111, hazardCall],
    [50, curveCall],
    [20, alignmentCall],
    [15, companyCall],
  ];
  const lists: readonly Call[] = [
    { name: "catalog", args: [], path: "/api/v1/hazards" },
    { name: "industries", args: [], path: "/api/v1/reference/industries" },
    { name: "countries", args: [], path: "/api/v1/reference/countries" },
    { name: "scenarios", args: [], path: "/api/v1/reference/scenarios" },
  ];
  return [...lists, ...kinds.flatMap(([count, callOf]) => Array.from({ length: count }, () => callOf(random)))];
}

/** Runs calls in a second engine of the page. @returns the results as JSON; the message of an error */
function runInPage({ page, url }: OpenedExplorer, calls: readonly Call[]): Promise<readonly string[]> {
  const workerUrl = page.workers()[0]?.url();
  if (workerUrl === undefined) throw new Error("the page must have started the engine");
  const run = { workerUrl, atlasAddress: `${url}atlas/`, calls: calls.map(({ name, args }) => ({ name, args })) };
  return page.evaluate(({ workerUrl, atlasAddress, calls }) => {
    const worker = new Worker(workerUrl, { type: "module" });
    const send = (request: CallMessage): void => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- for windows; workers have no target origin
      worker.postMessage(request);
    };
    const texts: string[] = [];
    let received = 0;
    const all = new Promise<readonly string[]>((resolve) => {
      worker.addEventListener("message", ({ data }: MessageEvent<ReplyMessage>) => {
        // The first ids are those of the start and of the opening.
        if (!("id" in data) || data.id < 2) return;
        texts[data.id - 2] = "result" in data ? JSON.stringify(data.result) : data.error.message;
        received += 1;
        if (received === calls.length) resolve(texts);
      });
    });
    send({ id: 1, name: "open", argument: atlasAddress });
    for (const [i, call] of calls.entries()) send({ id: i + 2, name: "run", argument: call });
    return all.finally(() => worker.terminate());
  }, run);
}

describeInChromium("the engine of a published folder", () => {
  let folder: string;
  let published: OpenedExplorer;
  let service: OpenedExplorer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "isotherm-answers-"));
    const atlas = await writeGeneratedAtlas(folder);
    published = await openExplorer({ atlas, published: true });
    service = await openExplorer({ atlas });
    await published.page.getByRole("navigation").waitFor();
  });
  afterAll(async () => {
    await closeExplorers();
    await rm(folder, { recursive: true, force: true });
  });

  async function requestAnswer({ path, body }: Call): Promise<string> {
    const { api_key = "", customer_id = "" } = service.credentials ?? {};
    const headers = { "X-API-Key": api_key, "X-Customer-ID": customer_id, "Content-Type": "application/json" };
    const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(new URL(path.slice(1), service.url), init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${text}`);
    return text;
  }

  test("returns 200 answers that are the API's, byte for byte", async () => {
    const calls = callsOf();
    const answers = await runInPage(published, calls);
    const expected: string[] = [];
    for (const call of calls) expected.push(await requestAnswer(call));
    expect(answers).toHaveLength(200);
    expect(answers).toEqual(expected);
    // Many of the answers have values.
    const withDepth = expected.filter((text) => /"depth_meters":0\.\d/.test(text));
    expect(withDepth.length).toBeGreaterThan(40);
  });

  test("returns the elements of a batch, also those of invalid queries", async () => {
    const random = randomFrom(20);
    const queries = Array.from({ length: 20 }, () => hazardCall(random).args[0] as HazardQueryInput).map(
      (query, index) => (index % 5 === 4 ? { ...query, radius: 101 } : query),
    );
    const [text = ""] = await runInPage(published, [{ name: "hazardRiskBatch", args: [queries], path: "" }]);
    const answer = await requestAnswer({
      name: "hazardRiskBatch",
      args: [],
      path: "/api/v1/hazard-risk/batch",
      body: queries,
    });
    const withoutRequest = (_: string, value: unknown): unknown =>
      typeof value === "object" && value !== null && "request_id" in value
        ? { ...value, request_id: "", type: "" }
        : value;
    const { results } = JSON.parse(answer, withoutRequest) as { readonly results: readonly object[] };
    expect(JSON.parse(text, withoutRequest)).toEqual(results);
    expect(results.filter((result) => "error" in result)).toHaveLength(4);
  });

  test("has map tiles whose values at 1,000 places are those of the API, and the service has the same tiles", async () => {
    const random = randomFrom(21);
    const { south, north, west, east } = GENERATED_BOX;
    const layer = {
      hazard: "riverine_floods",
      scenario: "rcp4p5",
      analysisYear: 2030,
      metric: "depth_meters",
    } as const;
    // Centers of pixels, at zooms at which a pixel is smaller than a cell.
    const places = Array.from({ length: 1000 }, () => {
      const z = 9 + random.below(3);
      const column = Math.floor(pixelOfLongitude(z, random.between({ min: west - 0.1, max: east + 0.1 })));
      const row = Math.floor(pixelOfLatitude(z, random.between({ min: south - 0.1, max: north + 0.1 })));
      const tile = { z, x: Math.floor(column / TILE_PIXELS), y: Math.floor(row / TILE_PIXELS) };
      const [pixelColumn, pixelRow] = [column % TILE_PIXELS, row % TILE_PIXELS];
      return {
        tile,
        pixel: pixelRow * TILE_PIXELS + pixelColumn,
        latitude: pixelLatitudes(tile)[pixelRow] ?? NaN,
        longitude: pixelLongitudes(tile)[pixelColumn] ?? NaN,
      };
    });
    const keyOf = ({ z, x, y }: (typeof places)[number]["tile"]): string => `${z}/${x}/${y}`;
    const tiles = [...new Map(places.map(({ tile }) => [keyOf(tile), tile])).values()];
    const calls = tiles.map((tile): Call => ({ name: "valueTile", args: [{ ...layer, ...tile }], path: "" }));
    const texts = await runInPage(published, calls);
    const decoded = new Map(
      tiles.map((tile, index) => {
        const { steps, ...rest } = JSON.parse(texts[index] ?? "") as Omit<ValueTile, "steps"> & {
          readonly steps: Readonly<Record<string, number>>;
        };
        return [keyOf(tile), { ...rest, steps: Uint16Array.from(Object.values(steps)) }];
      }),
    );
    const queries = places.map(({ latitude, longitude }) => ({
      latitude,
      longitude,
      hazards: ["riverine_floods"],
      analysis_years: [2030],
      scenarios: ["rcp4p5"],
    }));
    const batch = await requestAnswer({ name: "catalog", args: [], path: "/api/v1/hazard-risk/batch", body: queries });
    const { results } = JSON.parse(batch) as { readonly results: readonly HazardResult[] };
    const reasons: Readonly<Record<number, string>> = { [STEP_NO_DATA]: "no_data", [STEP_OUTSIDE]: "outside_coverage" };
    const counts = { value: 0, zero: 0, no_data: 0, outside_coverage: 0 };
    for (const [index, { tile, pixel }] of places.entries()) {
      const values = decoded.get(keyOf(tile));
      const step = values?.steps[pixel] ?? -1;
      const year = results[index]?.results[0]?.scenarios[0]?.analysis_years[0];
      const found = values === undefined ? undefined : (valueOfStep(values, step) ?? reasons[step]);
      const expected = year?.metrics.depth_meters ?? year?.no_data;
      expect(found, `place ${index}`).toBe(expected);
      counts[typeof expected === "number" ? (expected > 0 ? "value" : "zero") : (expected as "no_data")] += 1;
    }
    for (const [kind, count] of Object.entries(counts)) expect(count, kind).toBeGreaterThan(20);
    for (const tile of tiles.slice(0, 5)) {
      const path = `/api/v1/tiles/riverine_floods/rcp4p5/2030/depth_meters/${keyOf(tile)}.bin`;
      const headers = { "X-API-Key": service.credentials?.api_key ?? "" };
      const response = await fetch(new URL(path.slice(1), service.url), { headers });
      expect(decodeValueTile(new Uint8Array(await response.arrayBuffer()))).toEqual(decoded.get(keyOf(tile)));
    }
  });
});
