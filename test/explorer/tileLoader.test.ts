import { describe, expect, test } from "vitest";
import type { TileAddress } from "../../src/explorer/data/explorerData.ts";
import { TileLoader } from "../../src/explorer/data/tileLoader.ts";
import type { ValueTile } from "../../src/tiles/valueTile.ts";

const LAYER = {
  hazard: "cyclones",
  scenario: "rcp8p5",
  analysisYear: 2050,
  metric: "wind_speed_mps",
  z: 5,
  y: 0,
} as const;
const addressOf = (x: number): TileAddress => ({ ...LAYER, x });
const tileOf = ({ x }: TileAddress): ValueTile => ({
  stepsPerUnit: x,
  offset: 0,
  isBlockMaximum: false,
  blockSizeCells: 1,
  steps: new Uint16Array(0),
});

interface Load {
  readonly x: number;
  readonly signal: AbortSignal;
  finish(): void;
  fail(error: Error): void;
}

/** A loader whose loads the test finishes. */
function controlledLoader(options: ConstructorParameters<typeof TileLoader>[1] = {}) {
  const loads: Load[] = [];
  const loader = new TileLoader(
    (address, signal) =>
      new Promise((resolve, reject) =>
        loads.push({ x: address.x, signal, finish: () => resolve(tileOf(address)), fail: reject }),
      ),
    options,
  );
  return { loader, loads, started: () => loads.map(({ x }) => x) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("TileLoader", () => {
  test("loads a tile once, for callers at the same time and for later ones", async () => {
    const { loader, loads } = controlledLoader();
    const tiles = [loader.tile(addressOf(1)), loader.tile(addressOf(1))];
    loads[0]?.finish();
    expect(await Promise.all(tiles)).toEqual([tileOf(addressOf(1)), tileOf(addressOf(1))]);
    expect(await loader.tile(addressOf(1))).toEqual(tileOf(addressOf(1)));
    expect(loads).toHaveLength(1);
  });

  test("does not confuse layers", async () => {
    const { loader, loads } = controlledLoader();
    const others = [
      { analysisYear: 2080 },
      { scenario: "rcp4p5" },
      { metric: "probability" },
      { z: 6 },
      { y: 1 },
    ] as const;
    void loader.tile(addressOf(1));
    for (const other of others) void loader.tile({ ...addressOf(1), ...other });
    expect(loads).toHaveLength(6);
  });

  test("loads at most six tiles at the same time, and the last one requested first", async () => {
    const { loader, loads, started } = controlledLoader();
    const tiles = Array.from({ length: 9 }, (_, x) => loader.tile(addressOf(x)));
    expect(started()).toEqual([0, 1, 2, 3, 4, 5]);
    loads[0]?.finish();
    await settled();
    expect(started()).toEqual([0, 1, 2, 3, 4, 5, 8]);
    for (let i = 0; i < 9; i++) {
      loads[i]?.finish();
      await settled();
    }
    expect((await Promise.all(tiles)).map(({ stepsPerUnit }) => stepsPerUnit)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("keeps the tiles used last", async () => {
    const { loader, loads, started } = controlledLoader({ keptCountMax: 2 });
    const load = async (x: number): Promise<void> => {
      const tile = loader.tile(addressOf(x));
      loads.at(-1)?.finish();
      await tile;
    };
    await load(1);
    await load(2);
    await load(1);
    await load(3); // evicts 2
    await load(1);
    expect(started()).toEqual([1, 2, 3]);
    await load(2);
    expect(started()).toEqual([1, 2, 3, 2]);
  });

  test("forgets its tiles, and does not keep those that were being loaded", async () => {
    const { loader, loads, started } = controlledLoader();
    const first = loader.tile(addressOf(1));
    loads[0]?.finish();
    await first;
    const running = loader.tile(addressOf(2));
    loader.clear();
    loads[1]?.finish();
    expect(await running).toEqual(tileOf(addressOf(2)));
    void loader.tile(addressOf(1));
    void loader.tile(addressOf(2));
    expect(started()).toEqual([1, 2, 1, 2]);
  });

  test("aborts a load when its last caller has aborted", async () => {
    const { loader, loads } = controlledLoader();
    const [first, second] = [new AbortController(), new AbortController()];
    const tiles = [loader.tile(addressOf(1), first.signal), loader.tile(addressOf(1), second.signal)];
    first.abort(new Error("first"));
    await expect(tiles[0]).rejects.toThrow("first");
    expect(loads[0]?.signal.aborted).toBe(false);
    second.abort(new Error("second"));
    await expect(tiles[1]).rejects.toThrow("second");
    expect(loads[0]?.signal.aborted).toBe(true);
  });

  test("loads a tile again that was aborted, and does not start an aborted tile that was waiting", async () => {
    const { loader, loads, started } = controlledLoader({ parallelMax: 1 });
    const [running, waiting] = [new AbortController(), new AbortController()];
    const tiles = [loader.tile(addressOf(1), running.signal), loader.tile(addressOf(2), waiting.signal)];
    waiting.abort(new Error("left the map"));
    await expect(tiles[1]).rejects.toThrow("left the map");
    running.abort(new Error("left the map"));
    await expect(tiles[0]).rejects.toThrow("left the map");
    const again = loader.tile(addressOf(1));
    loads[0]?.fail(new Error("aborted"));
    await settled();
    expect(started()).toEqual([1, 1]);
    loads[1]?.finish();
    expect(await again).toEqual(tileOf(addressOf(1)));
  });

  test("does not keep a place for a waiting tile that was aborted", async () => {
    const { loader, loads, started } = controlledLoader({ parallelMax: 1 });
    const waiting = new AbortController();
    const first = loader.tile(addressOf(1));
    const aborted = loader.tile(addressOf(2), waiting.signal);
    waiting.abort(new Error("left the map"));
    await expect(aborted).rejects.toThrow("left the map");
    loads[0]?.finish();
    await first;
    await settled();
    const next = loader.tile(addressOf(3));
    expect(started()).toEqual([1, 3]);
    loads[1]?.finish();
    expect(await next).toEqual(tileOf(addressOf(3)));
  });

  test("reports a failed load and loads the tile again when it is next requested", async () => {
    const { loader, loads } = controlledLoader();
    const failed = loader.tile(addressOf(1));
    loads[0]?.fail(new Error("no answer"));
    await expect(failed).rejects.toThrow("no answer");
    const again = loader.tile(addressOf(1));
    loads[1]?.finish();
    expect(await again).toEqual(tileOf(addressOf(1)));
  });

  test("rejects a signal that is already aborted without a load", async () => {
    const { loader, loads } = controlledLoader();
    await expect(loader.tile(addressOf(1), AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
    expect(loads).toHaveLength(0);
  });
});
