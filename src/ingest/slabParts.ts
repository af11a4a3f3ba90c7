/**
 * Saves finished parts of slabs to disk, so that an interrupted ingest does not compute them again. A slab of fine maps of
 * many climate models takes longer than a row of tiles; saving its parts bounds the work lost when the process is killed.
 */
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeSynced } from "../atlas/files.ts";
import type { WorkSteps } from "../atlas/writer.ts";
import type { LargestRounding } from "./curve.ts";
import type { CellWindow } from "./raster.ts";

/** Finished cells of one group in a window of the source's grid. */
export interface GroupRows {
  /** u16[rowCount][columnCount][layers] */
  readonly steps: Uint16Array;
  /** u8[rowCount][columnCount], the FLAG_ bits of curve.ts */
  readonly flags: Uint8Array;
  readonly worst: LargestRounding;
}

/** Identifies a part of a slab: the cells of one group in a window. */
export interface PartKey {
  readonly group: number;
  readonly window: CellWindow;
}

const NAME = /^part-(\d+)-(\d+)-\d+-\d+-\d+$/;

/**
 * The parts saved in a work folder. The name of the folder is a hash of all inputs, so a part found there is valid. A part
 * is written to a temporary file and renamed: it is complete or absent.
 */
export class SlabParts {
  readonly #steps: WorkSteps;
  readonly #names: Set<string>;

  private constructor(steps: WorkSteps, names: Set<string>) {
    this.#steps = steps;
    this.#names = names;
  }

  static async open(steps: WorkSteps): Promise<SlabParts> {
    const names = (await readdir(steps.folder)).filter((name) => NAME.test(name));
    return new SlabParts(steps, new Set(names));
  }

  /** Whether a checkpoint is due. */
  get isDue(): boolean {
    return this.#steps.isDue();
  }

  /** Returns a saved part, or undefined if it was not saved. */
  async find(key: PartKey): Promise<GroupRows | undefined> {
    const name = nameOf(key);
    if (!this.#names.has(name)) return undefined;
    const bytes = await readFile(join(this.#steps.folder, name));
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const [worstSize, stepsSize] = [view.getUint32(0, true), view.getUint32(4, true)];
    const text = bytes.subarray(8, 8 + worstSize);
    const stepsAt = 8 + worstSize;
    // Copied because a Uint16Array must be aligned to 2 bytes.
    const steps = new Uint16Array(new Uint8Array(bytes.subarray(stepsAt, stepsAt + stepsSize)).buffer);
    const flags = new Uint8Array(bytes.subarray(stepsAt + stepsSize));
    return { steps, flags, worst: JSON.parse(text.toString()) as LargestRounding };
  }

  async save(parts: readonly (PartKey & { readonly rows: GroupRows })[]): Promise<void> {
    for (const { rows, ...key } of parts) {
      const name = nameOf(key);
      const { steps, flags, worst } = rows;
      const text = Buffer.from(JSON.stringify(worst));
      const sizes = Buffer.from(Uint32Array.of(text.length, steps.byteLength).buffer);
      const stepBytes = Buffer.from(steps.buffer, steps.byteOffset, steps.byteLength);
      const aside = join(this.#steps.folder, `${name}.aside`);
      await writeSynced(aside, Buffer.concat([sizes, text, stepBytes, flags]));
      await rename(aside, join(this.#steps.folder, name));
      this.#names.add(name);
    }
    if (parts.length > 0) this.#steps.saved();
  }

  /** Removes the parts of slabs that end at or before a row of the source grid. */
  async removeBefore(row: number): Promise<void> {
    for (const name of this.#names) {
      const [, firstRow = NaN, rowCount = NaN] = (NAME.exec(name) ?? []).map(Number);
      if (!(firstRow + rowCount <= row)) continue;
      await rm(join(this.#steps.folder, name), { force: true });
      this.#names.delete(name);
    }
  }
}

function nameOf({ group, window }: PartKey): string {
  return `part-${window.firstRow}-${window.rowCount}-${window.firstColumn}-${window.columnCount}-${group}`;
}
