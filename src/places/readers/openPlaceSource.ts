import { type Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { extname } from "node:path";
import { RADIUS_KM_MAX } from "../../contract/ranges.ts";
import { Fault, isFault } from "../../errors.ts";
import { isNotFound } from "../../files/files.ts";
import type { PlaceSource } from "./blockAssembler.ts";
import { checkContentKind } from "./fileText.ts";
import { openCsvSource } from "./csvSource.ts";
import { openGeojsonSource, openNdjsonSource } from "./jsonSource.ts";
import { openParquetSource } from "./parquetSource.ts";

/** Formats of files of places. A Parquet file with the key `geo` is read as GeoParquet. */
export const PLACE_FORMATS = ["csv", "ndjson", "geojson", "parquet"] as const;
export type PlaceFormat = (typeof PLACE_FORMATS)[number];

const FORMAT_OF_EXTENSION: Readonly<Record<string, PlaceFormat>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".txt": "csv",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".geojson": "geojson",
  ".json": "geojson",
  ".parquet": "parquet",
  ".geoparquet": "parquet",
};
const COMPRESSED_EXTENSIONS: ReadonlySet<string> = new Set([".gz", ".zip", ".bz2", ".xz", ".zst", ".br"]);
const CHUNK_SIZE_BYTES = 1 << 20;

export interface PlaceSourceOptions {
  /** By default, the extension of the file determines the format. */
  readonly format?: PlaceFormat | undefined;
  /** Names of columns; by default, they are found by usual names. */
  readonly columns?:
    | {
        readonly id?: string | undefined;
        readonly latitude?: string | undefined;
        readonly longitude?: string | undefined;
      }
    | undefined;
  /** Column with the radius of each place in kilometers. */
  readonly radiusColumn?: string | undefined;
  /**
   * Radius in kilometers of the places without a value in `radiusColumn`. By default, such places are invalid, and without
   * `radiusColumn` all places are points.
   */
  readonly radiusKm?: number | undefined;
  /** Size of the pieces in which text is read. The blocks do not depend on it. */
  readonly chunkSizeBytes?: number | undefined;
}

/**
 * Opens a file of places.
 *
 * @throws Fault `configuration_invalid` if the file does not exist or its format is not supported
 * @throws Fault `invalid_request` naming the file and what is wrong with its header, columns or structure; `blocks` throws
 *   it as well
 */
export async function openPlaceSource(path: string, options: PlaceSourceOptions = {}): Promise<PlaceSource> {
  rejectStandardInput(path);
  const format = options.format ?? formatOf(path);
  const { size: sizeBytes } = await statPlaceFile(path);
  const { radiusKm } = options;
  if (radiusKm !== undefined && !(radiusKm >= 0 && radiusKm <= RADIUS_KM_MAX)) {
    throw new Fault("invalid_request", `radius must be between 0 and ${RADIUS_KM_MAX} kilometers (got ${radiusKm}).`);
  }
  const requested = { ...options.columns, radiusKm: options.radiusColumn };
  const file = { path, sizeBytes, chunkSizeBytes: options.chunkSizeBytes ?? CHUNK_SIZE_BYTES };
  try {
    await checkContentKind(path, format);
    const source = await OPENERS[format](file, { requested, radiusKm });
    return { ...source, blocks: (blockOptions) => withPath(path, source.blocks(blockOptions)) };
  } catch (error) {
    throw faultWithPath(path, error);
  }
}

const OPENERS: Readonly<Record<PlaceFormat, typeof openCsvSource>> = {
  csv: openCsvSource,
  ndjson: openNdjsonSource,
  geojson: openGeojsonSource,
  parquet: openParquetSource,
};

async function* withPath<T>(path: string, items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw faultWithPath(path, error);
  }
}

function faultWithPath(path: string, error: unknown): unknown {
  if (!isFault(error)) return error;
  const { code, message, details, items } = error;
  return new Fault(code, `${path}: ${message}`, { details, items, cause: error });
}

/** @throws Fault `configuration_invalid` if the path is `-` */
export function rejectStandardInput(path: string): void {
  if (path !== "-") return;
  const message =
    "Standard input is not supported: the input must be a file, which is read again when a run is resumed.";
  throw new Fault("configuration_invalid", message);
}

function formatOf(path: string): PlaceFormat {
  const extension = extname(path).toLowerCase();
  const format = Object.hasOwn(FORMAT_OF_EXTENSION, extension) ? FORMAT_OF_EXTENSION[extension] : undefined;
  if (format !== undefined) return format;
  const what = extension === "" ? "the name has no extension" : `the extension ${extname(path)} is not supported`;
  const advice = COMPRESSED_EXTENSIONS.has(extension)
    ? "decompress it first"
    : `or set --from to one of ${PLACE_FORMATS.join(", ")}`;
  const extensions = Object.keys(FORMAT_OF_EXTENSION).join(", ");
  throw new Fault("configuration_invalid", `${path}: ${what}; the file must end in ${extensions}; ${advice}.`);
}

async function statPlaceFile(path: string): Promise<Stats> {
  let stats: Stats;
  try {
    stats = await stat(path);
  } catch (error) {
    if (isNotFound(error)) throw new Fault("configuration_invalid", `${path}: no such file.`, { cause: error });
    throw error;
  }
  if (stats.isDirectory()) throw new Fault("configuration_invalid", `${path} is a folder; give the name of a file.`);
  if (!stats.isFile()) {
    const message = `${path} is not a regular file; places must be in a file, which is read again when a run is resumed.`;
    throw new Fault("configuration_invalid", message);
  }
  if (stats.size === 0) throw new Fault("invalid_request", `${path}: the file is empty.`);
  return stats;
}
