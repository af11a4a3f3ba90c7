/** Maps in zip archives: `maps.zip/folder/map.tif`. Entries that are stored or deflated are read, also ZIP64. */
import { createWriteStream } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { crc32 as zlibCrc32 } from "node:zlib";
import {
  type Entry,
  fromRandomAccessReaderPromise,
  RandomAccessReader,
  type ZipFile,
  type ZipFileOptions,
} from "yauzl";
import { messageOf, sourceFault } from "../raster.ts";
import { ZARR_METADATA } from "./fileFormat.ts";
import { type ByteSource, openBytes } from "./byteSource.ts";
import { rangeWithin, STORED_BYTES_MAX, type ZarrFiles } from "./zarr/store.ts";

const ENTRY_COUNT_MAX = 1_000_000;
const [STORED, DEFLATED] = [0, 8];
const METHODS: Readonly<Record<number, string>> = {
  9: "Deflate64",
  12: "bzip2",
  14: "LZMA",
  93: "Zstandard",
  95: "XZ",
  99: "AES encryption",
};

/** An open archive. */
export class ZipArchive {
  readonly #file: string;
  readonly #zip: ZipFile;
  /** By name. */
  readonly entries: ReadonlyMap<string, Entry>;

  private constructor(file: string, zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file;
    this.#zip = zip;
    this.entries = entries;
  }

  /**
   * Opens an archive on disk.
   * @throws Fault `source_invalid` if it is damaged or exceeds a limit
   */
  static async open(path: string): Promise<ZipArchive> {
    const source = await openBytes(path);
    let zip: ZipFile | undefined;
    try {
      const options = { autoClose: false };
      zip = await fromRandomAccessReaderPromise(new PagedReader(source), source.sizeBytes, options);
      return new ZipArchive(path, zip, await readEntries(zip));
    } catch (error) {
      zip?.close();
      const why = `cannot be read as a zip archive (${messageOf(error)}). It is damaged or truncated.`;
      throw sourceFault(path, why, { cause: error });
    }
  }

  close(): Promise<void> {
    this.#zip.close();
    return Promise.resolve();
  }

  /**
   * Reads an entry into memory and verifies its checksum.
   * @throws Fault `source_invalid` if it is damaged, or larger than the limit
   */
  async read(entry: Entry, sizeBytesMax: number): Promise<Uint8Array> {
    return buffer(this.#content(entry, { sizeBytesMax }));
  }

  /** Reads a part of an entry; a stored entry is not read whole, so its checksum is not verified. */
  async readRange(
    entry: Entry,
    { offset, length }: { readonly offset: number; readonly length: number },
    sizeBytesMax: number,
  ): Promise<Uint8Array> {
    if (entry.compressionMethod !== STORED)
      return (await this.read(entry, sizeBytesMax)).subarray(offset, offset + length);
    const range = { decodeFileData: false, start: offset, end: offset + length };
    return buffer(this.#chunks(entry, range));
  }

  /**
   * Decompresses an entry into a new file and verifies its checksum.
   * @throws Fault `source_invalid` if it is damaged, or larger than the limit; the abort reason of the signal
   */
  async extract(
    entry: Entry,
    path: string,
    options: { readonly sizeBytesMax: number; readonly signal?: AbortSignal | undefined },
  ): Promise<void> {
    await pipeline(this.#content(entry, options), createWriteStream(path, { flags: "wx" }));
  }

  /** Decompresses an entry; the last chunk is followed by an error if the checksum does not match. */
  async *#content(
    entry: Entry,
    { sizeBytesMax, signal }: { readonly sizeBytesMax: number; readonly signal?: AbortSignal | undefined },
  ): AsyncGenerator<Uint8Array> {
    if (Math.max(entry.uncompressedSize, entry.compressedSize) > sizeBytesMax)
      throw this.#fault(entry, `has ${entry.uncompressedSize} bytes; the limit is ${sizeBytesMax}`);
    let crc32 = 0;
    for await (const chunk of this.#chunks(entry)) {
      signal?.throwIfAborted();
      crc32 = zlibCrc32(chunk, crc32);
      yield chunk;
    }
    if (crc32 !== entry.crc32) throw this.#fault(entry, "is damaged: its checksum does not match");
  }

  async *#chunks(entry: Entry, options?: ZipFileOptions): AsyncGenerator<Uint8Array> {
    const { compressionMethod: method } = entry;
    if (entry.isEncrypted()) throw this.#fault(entry, "is encrypted, which is not supported");
    if (method !== STORED && method !== DEFLATED) {
      const name = METHODS[method] ?? "unknown";
      throw this.#fault(
        entry,
        `is compressed with method ${method} (${name}); Deflate and no compression are accepted`,
      );
    }
    try {
      yield* (await this.#zip.openReadStreamPromise(entry, options)) as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw this.#fault(entry, `cannot be decompressed (${messageOf(error)})`, error);
    }
  }

  #fault(entry: Entry, why: string, cause?: unknown): Error {
    return sourceFault(`${this.#file}/${entry.fileName}`, `${why}.`, cause === undefined ? {} : { cause });
  }
}

const READ_BYTES = 1 << 20;

/** Reads an archive through the page cache of its source: yauzl reads the directory entry by entry. */
class PagedReader extends RandomAccessReader {
  readonly #source: ByteSource;

  constructor(source: ByteSource) {
    super();
    this.#source = source;
  }

  override read(...[buffer, offset, length, position, callback]: Parameters<RandomAccessReader["read"]>): void {
    this.#source.read(position, length).then((bytes) => {
      buffer.set(bytes, offset);
      callback(bytes.length === length ? null : new Error("it ends too early"));
    }, callback);
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const source = this.#source;
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let at = start; at < end; at += READ_BYTES) yield source.read(at, Math.min(READ_BYTES, end - at));
    }
    return Readable.from(chunks(), { objectMode: false });
  }

  override close(callback: (error: Error | null) => void): void {
    this.#source.close().then(() => callback(null), callback);
  }
}

async function readEntries(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  if (!(zip.entryCount <= ENTRY_COUNT_MAX))
    throw new Error(`it has ${zip.entryCount} entries; the limit is ${ENTRY_COUNT_MAX}`);
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    const { fileName } = entry;
    if (entries.has(fileName)) throw new Error(`it has two entries with the name ${JSON.stringify(fileName)}`);
    entries.set(fileName, entry);
  }
  return entries;
}

export interface ArchivePath {
  /** Path of the archive. */
  readonly archive: string;
  /** Name of the file or folder in the archive, without slashes at the ends; "" is the archive itself. */
  readonly entry: string;
}

/** Returns the archive that a path leads into; undefined if it does not contain a file named `*.zip` and more. */
export async function archivePathOf(path: string): Promise<ArchivePath | undefined> {
  if (/^https?:\/\//.test(path)) return undefined;
  for (const match of path.matchAll(/\.zip(?=[/\\])/gi)) {
    const end = match.index + match[0].length;
    const archive = path.slice(0, end);
    const isFile = await stat(archive).then(
      (found) => found.isFile(),
      () => false,
    );
    if (isFile)
      return {
        archive,
        entry: path
          .slice(end)
          .replaceAll("\\", "/")
          .replaceAll(/^\/+|\/+$/g, ""),
      };
  }
  return undefined;
}

/** Largest decompressed size of one map. */
const EXTRACTED_BYTES_MAX = 64 * 2 ** 30;
const MAP_NAME = /\.(tiff?|nc|nc4|cdf|h5|hdf5|he5|hdf|grib2?|grb2?)$/i;
const LISTED_COUNT_MAX = 12;

/** What a name in an archive refers to. */
export type ZipMap = { readonly kind: "zarr" | "file"; readonly name: string };

/**
 * Returns the map that a name refers to, or the only map of the archive if the name is empty.
 * @throws Fault `source_invalid` listing the maps of the archive
 */
export function findZipMap(file: string, archive: ZipArchive, name: string): ZipMap {
  if (name !== "" && archive.entries.has(name)) return { kind: "file", name };
  if (ZARR_METADATA.some((metadata) => archive.entries.has(posix.join(name, metadata)))) return { kind: "zarr", name };
  const maps = mapsOf(archive);
  const list = maps.length === 0 ? "It has no maps." : `Its maps are ${listOf(maps)}.`;
  if (name !== "") throw sourceFault(file, `the archive has no ${JSON.stringify(name)}. ${list}`);
  const [first] = maps;
  if (first === undefined || maps.length > 1)
    throw sourceFault(
      file,
      `${maps.length === 0 ? "the archive has no maps" : "the archive has several maps; append the name of one of them to its path"}. ${list}`,
    );
  return first;
}

function listOf(maps: readonly ZipMap[]): string {
  const names = maps
    .slice(0, LISTED_COUNT_MAX)
    .map(({ name }) => name)
    .join(", ");
  return maps.length > LISTED_COUNT_MAX ? `${names} and ${maps.length - LISTED_COUNT_MAX} more` : names;
}

/** Returns the Zarr stores and the files with names of maps, except those in Zarr stores. */
function mapsOf(archive: ZipArchive): readonly ZipMap[] {
  const names = [...archive.entries.keys()].filter((name) => !name.endsWith("/"));
  const folders = names
    .filter((name) => ZARR_METADATA.some((metadata) => posix.basename(name) === metadata))
    .map((name) => posix.dirname(name));
  const stores = [...new Set(folders)].filter((folder) => !folders.some((other) => folder.startsWith(`${other}/`)));
  const isInStore = (name: string): boolean => stores.some((store) => name.startsWith(`${store}/`));
  return [
    ...stores.map((name) => ({ kind: "zarr", name }) as const),
    ...names.filter((name) => MAP_NAME.test(name) && !isInStore(name)).map((name) => ({ kind: "file", name }) as const),
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the files of a Zarr store in an archive. */
export function zarrInZip(archive: ZipArchive, store: string): ZarrFiles {
  const prefix = store === "" ? "" : `${store}/`;
  const folders = new Map<string, Set<string>>();
  for (const name of archive.entries.keys()) {
    if (!name.startsWith(prefix)) continue;
    const parts = name.slice(prefix.length).split("/").slice(0, -1);
    for (const [depth, part] of parts.entries()) {
      const parent = parts.slice(0, depth).join("/");
      const children = folders.get(parent) ?? new Set();
      folders.set(parent, children.add(part));
    }
  }
  return {
    async read(key, range) {
      const entry = archive.entries.get(prefix + key);
      if (entry === undefined) return undefined;
      if (range === undefined) return archive.read(entry, STORED_BYTES_MAX);
      return archive.readRange(entry, rangeWithin(range, entry.uncompressedSize), STORED_BYTES_MAX);
    },
    foldersIn: (folder) => Promise.resolve([...(folders.get(folder) ?? [])]),
  };
}

/**
 * Decompresses a map and the files beside it whose names begin with its name (masks, `.aux.xml`, world files) into a new
 * folder.
 * @returns the path of the map
 */
export async function extractMap(
  archive: ZipArchive,
  name: string,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal | undefined },
): Promise<string> {
  await mkdir(folder);
  const stem = name.replace(/\.[^./]*$/, "").toLowerCase();
  for (const entry of archive.entries.values()) {
    const { fileName } = entry;
    const isBeside = posix.dirname(fileName) === posix.dirname(name) && fileName.toLowerCase().startsWith(`${stem}.`);
    if (fileName !== name && (!isBeside || MAP_NAME.test(fileName) || fileName.endsWith("/"))) continue;
    const target = join(folder, posix.basename(fileName));
    await archive.extract(entry, target, { sizeBytesMax: EXTRACTED_BYTES_MAX, signal });
  }
  return join(folder, posix.basename(name));
}
