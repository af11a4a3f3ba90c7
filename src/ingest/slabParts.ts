/**
 * Saves finished parts of slabs to disk, so that an interrupted ingest does not compute them again. A slab of
 * high-resolution maps of many climate models takes long to compute; saving its parts bounds the work lost when the process
 * is killed.
 */
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeSynced } from "../files.ts";
import type { WorkSteps } from "../atlas/writer.ts";
import type { GroupRows, PartKey } from "./partComputer.ts";

/** Parts of earlier releases, which also had flags, were named `part-`. */
const PART_NAME = /^cells-(\d+)-(\d+)-\d+-\d+-\d+$/;

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
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const headerEnd = 4 + view.getUint32(0, true);
    const header = JSON.parse(bytes.subarray(4, headerEnd).toString()) as Omit<GroupRows, "steps">;
    // Copied because a Uint16Array must be aligned to 2 bytes.
    return { ...header, steps: new Uint16Array(new Uint8Array(bytes.subarray(headerEnd)).buffer) };
  }

  /** Saves parts and records the checkpoint. */
  async save(parts: readonly (PartKey & { readonly rows: GroupRows })[]): Promise<void> {
    for (const { rows, ...key } of parts) {
      const name = partFileName(key);
      const { steps, ...header } = rows;
      const headerText = Buffer.from(JSON.stringify(header));
      const headerSize = Buffer.from(Uint32Array.of(headerText.length).buffer);
      const stepBytes = Buffer.from(steps.buffer, steps.byteOffset, steps.byteLength);
      const temporaryPath = join(this.#steps.folder, `${name}.tmp`);
      await writeSynced(temporaryPath, Buffer.concat([headerSize, headerText, stepBytes]));
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
  return `cells-${window.firstRow}-${window.rowCount}-${window.firstColumn}-${window.columnCount}-${group}`;
}
