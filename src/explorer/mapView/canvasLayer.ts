import { type Coords, type DoneCallback, GridLayer, type GridLayerOptions } from "leaflet";
import { TILE_PIXELS, type TileAddress } from "../../tiles/mercator.ts";

/** Draws a tile. Tiles that are no longer needed abort the signal. */
export type DrawTile = (canvas: HTMLCanvasElement, tile: TileAddress, signal: AbortSignal) => Promise<void>;

/** A layer of canvases, one per tile. */
export class CanvasLayer extends GridLayer {
  readonly #draw: DrawTile;
  readonly #aborts = new WeakMap<HTMLElement, AbortController>();

  constructor(draw: DrawTile, options: GridLayerOptions) {
    super({ tileSize: TILE_PIXELS, updateWhenZooming: false, keepBuffer: 1, ...options });
    this.#draw = draw;
    this.on("tileunload", ({ tile }) => this.#aborts.get(tile)?.abort());
  }

  protected override createTile({ z, x, y }: Coords, done: DoneCallback): HTMLElement {
    const canvas = document.createElement("canvas");
    canvas.width = TILE_PIXELS;
    canvas.height = TILE_PIXELS;
    const abort = new AbortController();
    this.#aborts.set(canvas, abort);
    this.#draw(canvas, { z, x, y }, abort.signal).then(
      () => done(undefined, canvas),
      (error: unknown) => {
        if (!abort.signal.aborted) done(error instanceof Error ? error : new Error(String(error)), canvas);
      },
    );
    return canvas;
  }
}
