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

/** The arrays of a saved part, those with the largest elements first, so that each is aligned. */
const ARRAY_TYPES = {
  totals: Uint32Array,
  byteEnds: Uint32Array,
  steps: Uint16Array,
  bounds: Uint16Array,
  states: Uint8Array,
  bytes: Uint8Array,
} as const;
type ArrayName = keyof typeof ARRAY_TYPES;

/** What precedes the arrays of a saved part. */
interface PartHeader extends Pick<GroupRows, "counts" | "worst"> {
  readonly tiles: TileRange;
  /** Number of elements of each array. */
  readonly lengths: Readonly<Record<ArrayName, number>>;
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

/** Returns the size of the header, the header as JSON padded to a multiple of 4 bytes, and the arrays. */
function encodePart({ steps, tiles, counts, worst }: GroupRows): Buffer {
  if (tiles === undefined) throw new Error("Only parts with encoded tiles are saved.");
  const { firstRow, rowCount, firstColumn, columnCount } = tiles;
  const arrays = (Object.keys(ARRAY_TYPES) as ArrayName[]).map((name) => {
    const array = name === "steps" ? steps : tiles[name];
    return { name, length: array.length, bytes: new Uint8Array(array.buffer, array.byteOffset, array.byteLength) };
  });
  const lengths = Object.fromEntries(arrays.map(({ name, length }) => [name, length]));
  const header = JSON.stringify({ counts, worst, tiles: { firstRow, rowCount, firstColumn, columnCount }, lengths });
  const headerText = Buffer.from(header.padEnd(4 * Math.ceil(header.length / 4)));
  const headerSize = Buffer.from(Uint32Array.of(headerText.length).buffer);
  return Buffer.concat([headerSize, headerText, ...arrays.map(({ bytes }) => bytes)]);
}

function decodePart(buffer: ArrayBuffer): GroupRows {
  const headerSize = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, headerSize));
  const { counts, worst, tiles, lengths } = JSON.parse(text) as PartHeader;
  let offset = 4 + headerSize;
  const arrays = Object.fromEntries(
    (Object.keys(ARRAY_TYPES) as ArrayName[]).map((name) => {
      const array = new ARRAY_TYPES[name](buffer, offset, lengths[name]);
      offset += array.byteLength;
      return [name, array];
    }),
  ) as { readonly [Name in ArrayName]: InstanceType<(typeof ARRAY_TYPES)[Name]> };
  const { steps, ...tileArrays } = arrays;
  return { steps, counts, worst, tiles: { ...tiles, ...tileArrays } as EncodedTiles };
}
