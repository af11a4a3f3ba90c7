import { LANES, tileBytes, type TileForm } from "../kernel/field.ts";
import type { Kernel, Region } from "../kernel/instance.ts";
import { PYRAMID_SIZE, TILE_SIZE } from "../kernel/kernel.generated.ts";
import { prefixTile } from "../kernel/tiles.ts";
import type { TileState } from "./cellSource.ts";
import { CONSTANT_STEPS, TOTAL_COUNT_SHIFT } from "./tile.ts";

/** State of a tile whose cells are all equal. */
export type Constant = Exclude<TileState, "cells">;

/**
 * Shared tiles for constant states, which most tiles of most layers have. All fields share one tile per state, form and
 * vector count. The memory of these tiles is not part of the cache.
 */
export class ConstantTiles {
  readonly #kernel: Kernel;
  readonly #regions = new Map<string, Region>();
  readonly #pointers = new Set<number>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Returns whether a pointer is the pointer of a shared tile. */
  has(pointer: number): boolean {
    return this.#pointers.has(pointer);
  }

  /** Returns the shared tile of a state. The first call for a state may grow the memory. */
  of(form: TileForm, state: Constant, vectorCount: number): Region {
    // Without valid cells, bounds, totals and prefixes are the same for nodata and outside.
    const stored = form === "cells" || state === "zero" ? state : "nodata";
    const name = `${form} ${stored} ${vectorCount}`;
    let region = this.#regions.get(name);
    if (region === undefined) {
      region = this.#kernel.reserve(tileBytes(form, vectorCount));
      this.#write(region, form, { state: stored, vectorCount });
      this.#regions.set(name, region);
      this.#pointers.add(region.pointer);
    }
    return region;
  }

  #write(
    region: Region,
    form: TileForm,
    { state, vectorCount }: { readonly state: Constant; readonly vectorCount: number },
  ): void {
    if (form === "cells") {
      this.#kernel.u16(region).fill(CONSTANT_STEPS[state]);
    } else if (form === "prefixes") {
      this.#kernel.withScratch((scratch) => {
        const cells = scratch.reserve(tileBytes("cells", vectorCount));
        this.#kernel.u16(cells).fill(CONSTANT_STEPS[state]);
        prefixTile(this.#kernel, { cellsPointer: cells.pointer, prefixesPointer: region.pointer, vectorCount });
      });
    } else {
      const section = constantSection(form, state, vectorCount * LANES);
      this.#kernel.bytes(region).set(new Uint8Array(section.buffer));
    }
  }
}

/** Returns the bounds or totals section of a pyramid tile whose cells all have one state. */
export function constantSection(form: TileForm, state: Constant, layerCount: number): Uint16Array | Uint32Array {
  const edge = PYRAMID_SIZE * TILE_SIZE;
  if (form === "bounds") return new Uint16Array(TILE_SIZE * TILE_SIZE * layerCount).fill(state === "zero" ? 1 : 0);
  const total = state === "zero" ? TILE_SIZE * TOTAL_COUNT_SHIFT : 0;
  return new Uint32Array(edge * PYRAMID_SIZE * layerCount).fill(total);
}
