import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeptValue, PlaceBlock } from "../../../src/places/scores/placeBlock.ts";
import type { PlaceSource } from "../../../src/places/readers/blockAssembler.ts";
import { openPlaceSource, type PlaceSourceOptions } from "../../../src/places/readers/openPlaceSource.ts";

/** Writes a file and runs a function with its path. The file is removed afterwards. */
export async function withPlaceFile<T>(
  name: string,
  content: string | Uint8Array,
  run: (path: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "isotherm-places-"));
  try {
    const path = join(folder, name);
    await writeFile(path, content);
    return await run(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What a file of places contains. */
export interface ReadPlaces {
  readonly source: Omit<PlaceSource, "positions" | "blocks" | "close">;
  readonly blocks: readonly PlaceBlock[];
  /** Kept values by row, with the name of their column. */
  readonly rows: readonly Readonly<Record<string, KeptValue>>[];
  readonly latitudes: readonly number[];
  readonly longitudes: readonly number[];
  readonly radiiKm: readonly number[];
  /** Errors by row of the file. */
  readonly errors: Readonly<Record<number, { readonly reason: string; readonly message: string }>>;
}

/** Reads all rows of a file of places. */
export async function readPlaces(
  path: string,
  options: PlaceSourceOptions = {},
  isWanted: (index: number) => boolean = () => true,
): Promise<ReadPlaces> {
  const source = await openPlaceSource(path, options);
  try {
    const blocks: PlaceBlock[] = [];
    for await (const block of source.blocks({ isWanted })) blocks.push(block);
    const { columns, keptColumns, omittedColumns, rowCount, sizeBytes } = source;
    const errors = blocks.flatMap((block) =>
      [...block.errors].map(([row, error]) => [block.firstRow + row, error] as const),
    );
    return {
      source: { columns, keptColumns, omittedColumns, rowCount, sizeBytes },
      blocks,
      get rows() {
        return blocks.flatMap((block) =>
          Array.from({ length: block.rowCount }, (_, row) =>
            Object.fromEntries(keptColumns.map(({ name }, column) => [name, block.kept[column]?.[row] ?? null])),
          ),
        );
      },
      latitudes: blocks.flatMap(({ latitudes }) => [...latitudes]),
      longitudes: blocks.flatMap(({ longitudes }) => [...longitudes]),
      radiiKm: blocks.flatMap(({ radiiKm }) => [...radiiKm]),
      errors: Object.fromEntries(errors),
    };
  } finally {
    await source.close();
  }
}

/** Reads all rows of a file with this name and content. */
export async function readContent(
  name: string,
  content: string | Uint8Array,
  options: PlaceSourceOptions = {},
): Promise<ReadPlaces> {
  return await withPlaceFile(name, content, async (path) => await readPlaces(path, options));
}
