import { describe, expect, test } from "vitest";
import type { ValueTileRequest } from "../../../src/hazard/valueTiles.ts";
import { Turns } from "../../../src/concurrency/turns.ts";
import type { RouteContext } from "../../../src/host/route.ts";
import { computeTile, type TileForm } from "../../../src/host/routes/mapTiles.ts";
import { SharedCalls } from "../../../src/concurrency/sharedCalls.ts";
import { SizedCache } from "../../../src/concurrency/sizedCache.ts";
import type { ValueTile } from "../../../src/tiles/valueTile.ts";

const REQUEST: ValueTileRequest = {
  hazard: "riverine_floods",
  scenario: "rcp8p5",
  analysisYear: 2050,
  metric: "depth_meters",
  z: 8,
  x: 158,
  y: 119,
};
const TILE: ValueTile = {
  stepsPerUnit: 1,
  offset: 0,
  isBlockMaximum: true,
  blockSizeCells: 8,
  steps: new Uint16Array(65_536),
};
const FORM: TileForm = { extension: "bin", encode: () => Uint8Array.of(1, 2, 3), memoryPerByte: 1 };
const ENCODED = { body: [Uint8Array.of(1, 2, 3)], blockSizeCells: 8 };
const NEVER = new AbortController().signal;

interface Computation {
  readonly x: number;
  readonly signal: AbortSignal | undefined;
  finish(): void;
}

/** A service whose tiles the test finishes. */
function tileService({ runningMax = 4 } = {}) {
  const computations: Computation[] = [];
  const services = {
    atlas: {
      valueTile: ({ x }: ValueTileRequest, { signal }: { readonly signal?: AbortSignal } = {}) =>
        new Promise<ValueTile>((resolve) => computations.push({ x, signal, finish: () => resolve(TILE) })),
    },
    tiles: {
      gate: new Turns({ runningMax, waitingPerTenantMax: 4 }),
      calls: new SharedCalls(),
      recent: new SizedCache(1 << 20),
    },
  };
  const tile = ({ x = 158, account = "a", signal = NEVER, form = FORM } = {}) =>
    computeTile({ ...REQUEST, x }, form, {
      services,
      caller: { accountId: account, keyId: account },
      signal,
    } as unknown as RouteContext);
  return { tile, computations, gate: services.tiles.gate };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a map tile", () => {
  test("is computed once for requests at the same time, also of different accounts", async () => {
    const { tile, computations } = tileService();
    const bodies = [tile(), tile(), tile({ account: "b" })];
    expect(computations).toHaveLength(1);
    computations[0]?.finish();
    const [first, ...others] = await Promise.all(bodies);
    expect(first).toEqual(ENCODED);
    // The same list, because it is the key of the compressed forms.
    for (const { body } of [...others, await tile()]) expect(body).toBe(first?.body);
    expect(computations).toHaveLength(1);
  });

  test("is computed apart from other tiles and other forms", () => {
    const { tile, computations } = tileService();
    void tile();
    void tile({ x: 159 });
    void tile({ form: { ...FORM, extension: "png" } });
    expect(computations.map(({ x }) => x)).toEqual([158, 159, 158]);
  });

  test("is not computed again for a request that waited for a place meanwhile", async () => {
    const { tile, computations } = tileService({ runningMax: 1 });
    const bodies = [tile(), tile()];
    computations[0]?.finish();
    expect(await Promise.all(bodies)).toEqual([ENCODED, ENCODED]);
    expect(computations).toHaveLength(1);
  });

  test("is computed until the last client has left", async () => {
    const { tile, computations, gate } = tileService();
    const [first, second] = [new AbortController(), new AbortController()];
    const bodies = [tile({ signal: first.signal }), tile({ signal: second.signal })];
    first.abort(new Error("first left"));
    await expect(bodies[0]).rejects.toThrow("first left");
    expect(computations[0]?.signal?.aborted).toBe(false);
    second.abort(new Error("second left"));
    await expect(bodies[1]).rejects.toThrow("second left");
    expect(computations[0]?.signal?.aborted).toBe(true);
    await settled();
    expect([gate.runningCount, gate.waitingCount]).toEqual([0, 0]);
  });
});
