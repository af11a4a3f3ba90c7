import { type Coords, type DoneCallback, GridLayer, type GridLayerOptions } from "leaflet";
import { MERCATOR_LAT_DEG_MAX, pixelAt, TILE_PIXELS, type TileAddress, tileOfPixel } from "../../tiles/mercator.ts";
import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ValueTile } from "../../tiles/valueTile.ts";
import type { ExplorerData, LayerAddress } from "../data/explorerData.ts";
import type { MapPoint } from "../map/mapOverlay.ts";
import { type PaintRule, paintTile, type PixelValue, pixelValue, type ShownTile } from "../map/paint.ts";

/** Draws a tile. Tiles that are no longer needed abort the signal. */
type DrawTile = (canvas: HTMLCanvasElement, tile: TileAddress, signal: AbortSignal) => Promise<void>;

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

/** The layers that are drawn, and their colors. */
export interface ValueLayerSource {
  readonly shown: ReadonlySignal<LayerAddress>;
  readonly compared: ReadonlySignal<LayerAddress | undefined>;
  readonly rule: ReadonlySignal<PaintRule>;
}

/** The value drawn at a place, or why there is none. */
export interface ValueAt {
  readonly value: PixelValue | "loading" | "failed";
  /** Cells along an edge of the block with this maximum; 1 if the value is that of a cell. */
  readonly blockSizeCells: number;
}

interface DrawnTile {
  readonly canvas: HTMLCanvasElement;
  readonly shown: ShownTile;
}

/** Draws value tiles, and reads values from the tiles that are drawn. */
export class ValueLayer {
  readonly layer: CanvasLayer;
  /** The first error since the layer was changed or drawn again. */
  readonly error: Signal<Error | undefined> = signal(undefined);
  readonly isLoading: Signal<boolean> = signal(false);
  /** Changes when tiles arrive or are drawn again, so that the value under the cursor is read again. */
  readonly revision: Signal<number> = signal(0);
  /** One of the tiles that are drawn; undefined until one has arrived. */
  readonly sample: ReadonlySignal<ShownTile | undefined>;
  readonly #data: ExplorerData;
  readonly #source: ValueLayerSource;
  /** By address; the same tile can be drawn in several copies of the world. */
  readonly #drawn = new Map<string, Set<DrawnTile>>();
  readonly #disposals: (() => void)[] = [];

  constructor(data: ExplorerData, source: ValueLayerSource, pane: string) {
    this.#data = data;
    this.#source = source;
    this.layer = new CanvasLayer((canvas, tile, abort) => this.#draw(canvas, tile, abort), { pane });
    this.layer.on("tileerror", ({ error }) => (this.error.value ??= error));
    this.layer.on("loading", () => (this.isLoading.value = true));
    this.layer.on("load", () => (this.isLoading.value = false));
    this.sample = computed(() => {
      void this.revision.value;
      for (const copies of this.#drawn.values()) for (const { shown } of copies) return shown;
      return undefined;
    });
    let isFirst = true;
    const layers = computed(() => JSON.stringify([source.shown.value, source.compared.value]));
    this.#disposals.push(
      effect(() => {
        void layers.value;
        if (!isFirst) this.reload();
        isFirst = false;
      }),
      effect(() => this.#repaint(source.rule.value)),
    );
  }

  /** Loads and draws all tiles again. */
  reload(): void {
    this.error.value = undefined;
    this.#drawn.clear();
    this.revision.value = this.revision.peek() + 1;
    this.layer.redraw();
  }

  /** Returns the value of the pixel that is drawn at a place. */
  valueAt({ latitude, longitude }: MapPoint, zoom: number): ValueAt {
    if (Math.abs(latitude) > MERCATOR_LAT_DEG_MAX) return { value: "outside", blockSizeCells: 1 };
    const { address, index } = tileOfPixel(pixelAt(zoom, { latDeg: latitude, lonDeg: longitude }));
    const [drawn] = this.#drawn.get(keyOf(address)) ?? [];
    if (drawn === undefined) {
      return { value: this.error.peek() === undefined ? "loading" : "failed", blockSizeCells: 1 };
    }
    const { tile, other } = drawn.shown;
    const blockSizeCells = Math.max(tile.blockSizeCells, other?.blockSizeCells ?? 1);
    return { value: pixelValue(drawn.shown, index), blockSizeCells };
  }

  dispose(): void {
    this.#disposals.forEach((dispose) => dispose());
    this.layer.remove();
  }

  async #draw(canvas: HTMLCanvasElement, address: TileAddress, abort: AbortSignal): Promise<void> {
    const { shown, compared } = this.#source;
    const load = async (layer: LayerAddress | undefined): Promise<ValueTile | undefined> =>
      layer === undefined ? undefined : this.#data.valueTile({ ...layer, ...address }, abort);
    const [tile, other] = await Promise.all([load(shown.peek()), load(compared.peek())]);
    abort.throwIfAborted();
    if (tile === undefined) return;
    const drawn: DrawnTile = { canvas, shown: { tile, other } };
    paint(drawn, this.#source.rule.peek());
    const key = keyOf(address);
    const copies = this.#drawn.get(key) ?? new Set();
    this.#drawn.set(key, copies.add(drawn));
    abort.addEventListener("abort", () => {
      copies.delete(drawn);
      if (copies.size === 0 && this.#drawn.get(key) === copies) this.#drawn.delete(key);
    });
    this.revision.value = this.revision.peek() + 1;
  }

  #repaint(rule: PaintRule): void {
    for (const copies of this.#drawn.values()) for (const drawn of copies) paint(drawn, rule);
  }
}

function paint({ canvas, shown }: DrawnTile, rule: PaintRule): void {
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("the browser has no 2D canvas");
  const image = context.createImageData(TILE_PIXELS, TILE_PIXELS);
  paintTile(shown, rule, image.data);
  context.putImageData(image, 0, 0);
}

function keyOf({ z, x, y }: TileAddress): string {
  return `${z}/${x}/${y}`;
}
