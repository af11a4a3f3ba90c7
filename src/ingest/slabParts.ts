/**
 * Saves finished parts of slabs to disk, so that an interrupted ingest does not compute them again. A slab of
 * high-resolution maps of many climate models takes long to compute; saving its parts bounds the work lost when the process
 * is killed.
 */
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeSynced } from "../files/files.ts";
import type { EncodedTiles, TileRange } from "../atlas/tileEncoding.ts";
import type { WorkSteps } from "../atlas/writer.ts";
import type { GroupRows, PartKey } from "./partComputer.ts";

/** Parts of earlier releases, which had no tiles, were named `part-` and `cells-`. */
const PART_NAME = /^tiles-(\d+)-(\d+)-\d+-\d+-\d+$/;

/** The arrays of encoded tiles in the order in which they are saved, after the steps. */
const ARRAY_NAMES = ["totals", "byteEnds", "bounds", "states", "bytes"] as const;
type ArrayName = (typeof ARRAY_NAMES)[number];

/** What precedes the arrays of a saved part. */
interface PartHeader extends Pick<GroupRows, "counts" | "worst"> {
  readonly stepCount: number;
  /** For each stored group; `lengths` has the number of elements of each array. */
  readonly tiles: readonly { readonly range: TileRange; readonly lengths: Readonly<Record<ArrayName, number>> }[];
}

/**
 * The parts saved in a work folder. The name of the folder is a hash of all inputs, so a part found there is valid. A part
 * is written to a temporary file that is then renamed, so a part is either complete or absent.
 */
export class SlabParts {
  readonly #steps: WorkSteps;
  readonly #names: Set<string>;

  private constructor(steps: WorkSteps, names: Set<string>) {
    this.#steps = steps;
    this.#names = names;
  }

  /** Lists the parts saved in the work folder. */
  static async open(steps: WorkSteps): Promise<SlabParts> {
    const names = (await readdir(steps.folder)).filter((name) => PART_NAME.test(name));
    return new SlabParts(steps, new Set(names));
  }

  /** True if a checkpoint is due. */
  get isDue(): boolean {
    return this.#steps.isDue();
  }

  /** Returns a saved part, or undefined if it was not saved. */
  async find(key: PartKey): Promise<GroupRows | undefined> {
    const name = partFileName(key);
    if (!this.#names.has(name)) return undefined;
    const bytes = await readFile(join(this.#steps.folder, name));
    return decodePart(new Uint8Array(bytes).buffer);
  }

  /** Saves parts and records the checkpoint. */
  async save(parts: readonly (PartKey & { readonly rows: GroupRows })[]): Promise<void> {
    for (const { rows, ...key } of parts) {
      const name = partFileName(key);
      const temporaryPath = join(this.#steps.folder, `${name}.tmp`);
      await writeSynced(temporaryPath, encodePart(rows));
      await rename(temporaryPath, join(this.#steps.folder, name));
      this.#names.add(name);
    }
    if (parts.length > 0) this.#steps.saved();
  }

  /** Removes the parts of slabs that end at or before a row of the source grid. */
  async removeBefore(row: number): Promise<void> {
    for (const name of this.#names) {
      const [, firstRow = NaN, rowCount = NaN] = (PART_NAME.exec(name) ?? []).map(Number);
      if (!(firstRow + rowCount <= row)) continue;
      await rm(join(this.#steps.folder, name), { force: true });
      this.#names.delete(name);
    }
  }
}

function partFileName({ group, window }: PartKey): string {
  return `tiles-${window.firstRow}-${window.rowCount}-${window.firstColumn}-${window.columnCount}-${group}`;
}

/** Returns the size of the header, the header as JSON and the arrays, each padded to a multiple of 4 bytes. */
function encodePart({ steps, tiles = [], counts, worst }: GroupRows): Buffer {
  const header: PartHeader = {
    counts,
    worst,
    stepCount: steps.length,
    tiles: tiles.map(({ firstRow, rowCount, firstColumn, columnCount, ...arrays }) => ({
      range: { firstRow, rowCount, firstColumn, columnCount },
      lengths: Object.fromEntries(ARRAY_NAMES.map((name) => [name, arrays[name].length])) as Record<ArrayName, number>,
    })),
  };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const arrays = [steps, ...tiles.flatMap((each) => ARRAY_NAMES.map((name) => each[name]))];
  return Buffer.concat([Uint32Array.of(text.length), text, ...arrays].flatMap(padded));
}

function padded(array: Uint8Array | Uint16Array | Uint32Array): readonly Uint8Array[] {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return [bytes, new Uint8Array(paddedSize(bytes.length) - bytes.length)];
}

function paddedSize(sizeBytes: number): number {
  return 4 * Math.ceil(sizeBytes / 4);
}

function decodePart(buffer: ArrayBuffer): GroupRows {
  const textSize = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, textSize))) as PartHeader;
  let offset = 4 + paddedSize(textSize);
  const take = <Numbers extends ArrayBufferView>(
    type: new (buffer: ArrayBuffer, offset: number, length: number) => Numbers,
    length: number,
  ): Numbers => {
    const array = new type(buffer, offset, length);
    offset += paddedSize(array.byteLength);
    return array;
  };
  const steps = take(Uint16Array, header.stepCount);
  const tiles = header.tiles.map(({ range, lengths }): EncodedTiles => ({
    ...range,
    totals: take(Uint32Array, lengths.totals),
    byteEnds: take(Uint32Array, lengths.byteEnds),
    bounds: take(Uint16Array, lengths.bounds),
    states: take(Uint8Array, lengths.states),
    bytes: take(Uint8Array, lengths.bytes),
  }));
  return { steps, tiles, counts: header.counts, worst: header.worst };
}
