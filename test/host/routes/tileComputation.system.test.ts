/** Which map tiles the service computes, how many at the same time, and when it stops computing one. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Problem } from "../../../src/contract/wireTypes.ts";
import type { Atlas } from "../../../src/hazard/answer.ts";
import type { ValueTileRequest } from "../../../src/hazard/valueTiles.ts";
import type { ServeOptions } from "../../../src/host/main.ts";
import { openAtlas } from "../../../src/openAtlas.ts";
import { decodeValueTile, type ValueTile } from "../../../src/tiles/valueTile.ts";
import { eventually } from "../../eventually.ts";
import { startTestHost, type TestHost } from "../testHost.ts";

const TILE = { hazard: "riverine_floods", scenario: "rcp8p5", analysisYear: 2050, metric: "depth_meters" } as const;
/** Addresses that differ from the first one in one part each. */
const ADDRESSES: readonly ValueTileRequest[] = [
  { ...TILE, z: 3, x: 4, y: 2 },
  { ...TILE, hazard: "coastal_floods", z: 3, x: 4, y: 2 },
  { ...TILE, scenario: "rcp4p5", z: 3, x: 4, y: 2 },
  { ...TILE, analysisYear: 2030, z: 3, x: 4, y: 2 },
  { ...TILE, metric: "rp_100", z: 3, x: 4, y: 2 },
  { ...TILE, z: 4, x: 4, y: 2 },
  { ...TILE, z: 3, x: 5, y: 2 },
  { ...TILE, z: 3, x: 4, y: 3 },
];

let demo: Atlas;
beforeAll(async () => {
  demo = await openAtlas("demo");
});
afterAll(() => demo.close());

function pathOf({ hazard, scenario, analysisYear, metric, z, x, y }: ValueTileRequest, extension = "bin"): string {
  return `/api/v1/tiles/${hazard}/${scenario}/${analysisYear}/${metric}/${z}/${x}/${y}.${extension}`;
}

function tileOf(step: number): ValueTile {
  return {
    stepsPerUnit: 1000,
    offset: 0,
    isBlockMaximum: false,
    blockSizeCells: 1,
    steps: new Uint16Array(65_536).fill(step),
  };
}

/** Starts a host for the duration of a test. */
async function startHost(options: Partial<ServeOptions>): Promise<TestHost> {
  const host = await startTestHost(options);
  onTestFinished(() => host.close());
  return host;
}

/** An atlas whose tiles are computed until the test releases them. */
class HeldTiles {
  /** Steps of the tiles that were started, and their signals. */
  readonly started: { readonly x: number; readonly signal: AbortSignal | undefined }[] = [];
  readonly #release: () => void;
  readonly #released: Promise<void>;

  constructor() {
    let release: () => void = () => undefined;
    this.#released = new Promise((resolve) => (release = resolve));
    this.#release = release;
  }

  get atlas(): Atlas {
    return {
      ...demo,
      valueTile: async ({ x }, { signal } = {}) => {
        this.started.push({ x, signal });
        await Promise.race([
          this.#released,
          new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error))),
        ]);
        return tileOf(x);
      },
    };
  }

  release(): void {
    this.#release();
  }
}

test("tiles that differ in any part of their address, or in their form, are computed separately and kept", async () => {
  const computed: ValueTileRequest[] = [];
  const atlas: Atlas = {
    ...demo,
    valueTile: (request) => Promise.resolve(tileOf(computed.push(request))),
  };
  const host = await startHost({ atlas });
  for (let round = 0; round < 2; round++) {
    const steps = [];
    for (const address of ADDRESSES) {
      const response = await host.ask(pathOf(address));
      expect({ address, status: response.status }).toEqual({ address, status: 200 });
      steps.push(decodeValueTile(new Uint8Array(await response.arrayBuffer())).steps[0]);
    }
    expect(steps).toEqual(ADDRESSES.map((_, i) => i + 1));
  }
  expect(computed).toEqual(ADDRESSES);
  const image = await host.ask(pathOf(ADDRESSES[0] ?? { ...TILE, z: 0, x: 0, y: 0 }, "png"));
  expect(image.headers.get("content-type")).toBe("image/png");
  expect(computed).toHaveLength(ADDRESSES.length + 1);
});

describe("tiles that are requested at the same time", () => {
  test("are computed one after another without worker threads, and rejected if too many wait", async () => {
    const held = new HeldTiles();
    const host = await startHost({ atlas: held.atlas, limits: { tilesPerS: 1e9, tileBurst: 2 } });
    const responses: Response[] = [];
    const requests = [0, 1, 2, 3].map(async (x) => responses.push(await host.ask(pathOf({ ...TILE, z: 4, x, y: 0 }))));
    // One is computed, two wait, and the fourth to arrive is answered at once.
    await eventually(() => expect(responses).toHaveLength(1));
    expect(responses.map(({ status }) => status)).toEqual([503]);
    const problem = (await responses[0]?.json()) as Problem;
    expect(problem.code).toBe("overloaded");
    expect(problem.detail).toBe("The account already has 2 map tiles waiting; retry when some have been answered.");
    expect(responses[0]?.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(held.started).toHaveLength(1);
    held.release();
    await Promise.all(requests);
    expect(responses.slice(1).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(held.started).toHaveLength(3);
  });

  test("stop being computed when the client disconnects, and the next one is computed", async () => {
    const held = new HeldTiles();
    const host = await startHost({ atlas: held.atlas });
    const client = new AbortController();
    const abandoned = host.ask(pathOf({ ...TILE, z: 4, x: 1, y: 0 }), { signal: client.signal });
    await eventually(() => expect(held.started.map(({ x }) => x)).toEqual([1]));
    const next = host.ask(pathOf({ ...TILE, z: 4, x: 2, y: 0 }));
    client.abort();
    await expect(abandoned).rejects.toThrow("aborted");
    await eventually(() => expect(held.started.map(({ x }) => x)).toEqual([1, 2]));
    expect(held.started[0]?.signal?.aborted).toBe(true);
    held.release();
    expect((await next).status).toBe(200);
  });
});
