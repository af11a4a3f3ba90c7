/**
 * Saves finished parts of slabs to disk, so that an interrupted ingest does not compute them again. A slab of
 * high-resolution maps of many climate models takes long to compute; saving its parts bounds the work lost when the process
 * is killed.
 */
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeSynced } from "../files.ts";
import type { EncodedTiles, TileRange } from "../atlas/tileEncoding.ts";
import type { WorkSteps } from "../atlas/writer.ts";
import type { GroupRows, PartKey } from "./partComputer.ts";

/** Parts of earlier releases, which had no tiles, were named `part-` and `cells-`. */
const PART_NAME = /^tiles-(\d+)-(\d+)-\d+-\d+-\d+$/;

/** The arrays of the tiles of a group in a saved part. */
const ARRAY_TYPES = {
  totals: Uint32Array,
  byteEnds: Uint32Array,
  bounds: Uint16Array,
  states: Uint8Array,
  bytes: Uint8Array,
} as const;
type ArrayName = keyof typeof ARRAY_TYPES;
const ARRAY_NAMES = Object.keys(ARRAY_TYPES) as ArrayName[];
/** Each array starts at a multiple of this, so that it is aligned. */
const ALIGNMENT_BYTES = 4;

/** What precedes the arrays of a saved part. */
interface PartHeader extends Pick<GroupRows, "counts" | "worst"> {
  readonly stepCount: number;
  /** For each group that the pack stores: its tiles, and the number of elements of each array. */
  readonly tiles: readonly (TileRange & { readonly lengths: Readonly<Record<ArrayName, number>> })[];
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

/** Returns the size of the header, the header as JSON, the cells and the arrays, each padded to ALIGNMENT_BYTES. */
function encodePart({ steps, tiles, counts, worst }: GroupRows): Buffer {
  if (tiles === undefined) throw new Error("Only parts with encoded tiles are saved.");
  const header: PartHeader = {
    counts,
    worst,
    stepCount: steps.length,
    tiles: tiles.map(({ firstRow, rowCount, firstColumn, columnCount, ...arrays }) => ({
      firstRow,
      rowCount,
      firstColumn,
      columnCount,
      lengths: Object.fromEntries(ARRAY_NAMES.map((name) => [name, arrays[name].length])) as Record<ArrayName, number>,
    })),
  };
  const text = JSON.stringify(header);
  const headerText = Buffer.from(text.padEnd(alignedSize(text.length)));
  const arrays = [steps, ...tiles.flatMap((group) => ARRAY_NAMES.map((name) => group[name]))];
  const padded = arrays.flatMap(({ buffer, byteOffset, byteLength }) => [
    new Uint8Array(buffer, byteOffset, byteLength),
    new Uint8Array(alignedSize(byteLength) - byteLength),
  ]);
  return Buffer.concat([Buffer.from(Uint32Array.of(headerText.length).buffer), headerText, ...padded]);
}

function decodePart(buffer: ArrayBuffer): GroupRows {
  const headerSize = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, headerSize));
  const { counts, worst, stepCount, tiles } = JSON.parse(text) as PartHeader;
  let offset = 4 + headerSize;
  const next = <Numbers extends ArrayBufferView>(
    type: new (buffer: ArrayBuffer, offset: number, length: number) => Numbers,
    length: number,
  ): Numbers => {
    const numbers = new type(buffer, offset, length);
    offset += alignedSize(numbers.byteLength);
    return numbers;
  };
  const steps = next(Uint16Array, stepCount);
  const groups = tiles.map(({ lengths, ...range }): EncodedTiles => {
    const arrays = ARRAY_NAMES.map((name) => [name, next<ArrayBufferView>(ARRAY_TYPES[name], lengths[name])]);
    return { ...range, ...(Object.fromEntries(arrays) as Pick<EncodedTiles, ArrayName>) };
  });
  return { steps, counts, worst, tiles: groups };
}

function alignedSize(bytes: number): number {
  return ALIGNMENT_BYTES * Math.ceil(bytes / ALIGNMENT_BYTES);
}
