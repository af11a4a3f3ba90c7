/** Reads zip archives (APPNOTE 6.3) in place: stored and deflated entries, ZIP64. */
import { createWriteStream } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { crc32 as zlibCrc32, createInflateRaw, inflateRaw } from "node:zlib";
import { isFault } from "../../../errors.ts";
import { messageOf, sourceFault } from "../../raster.ts";

const inflateRawAsync = promisify(inflateRaw);

const ENTRY_COUNT_MAX = 1_000_000;
const DIRECTORY_BYTES_MAX = 256 << 20;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 65_535;
const SIGNATURE = {
  local: 0x04_03_4b_50,
  central: 0x02_01_4b_50,
  end: 0x06_05_4b_50,
  end64: 0x06_06_4b_50,
  locator64: 0x07_06_4b_50,
};
const [STORED, DEFLATED] = [0, 8];
const FLAG_ENCRYPTED = 1;
const FLAG_UTF8 = 0x8_00;
const READ_BYTES = 1 << 20;

const METHODS: Readonly<Record<number, string>> = {
  9: "Deflate64",
  12: "bzip2",
  14: "LZMA",
  93: "Zstandard",
  95: "XZ",
  99: "AES encryption",
};

/** A file in an archive. */
export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly encodedBytes: number;
  readonly sizeBytes: number;
  readonly crc32: number;
  /** Position of its local header. */
  readonly headerOffset: number;
}

/** An open archive. */
export class ZipArchive {
  readonly #file: string;
  readonly #handle: FileHandle;
  /** By name. */
  readonly entries: ReadonlyMap<string, ZipEntry>;

  private constructor(file: string, handle: FileHandle, entries: ReadonlyMap<string, ZipEntry>) {
    this.#file = file;
    this.#handle = handle;
    this.entries = entries;
  }

  /**
   * Opens an archive on disk.
   * @throws Fault `source_invalid` if it is damaged or exceeds a limit
   */
  static async open(path: string): Promise<ZipArchive> {
    let handle: FileHandle;
    try {
      handle = await open(path, "r");
    } catch (error) {
      throw sourceFault(path, `cannot be opened (${messageOf(error)}).`, { cause: error });
    }
    try {
      const { size } = await stat(path);
      return new ZipArchive(path, handle, await readDirectory(handle, size));
    } catch (error) {
      await handle.close();
      throw sourceFault(path, `cannot be read as a zip archive (${messageOf(error)}). It is damaged or truncated.`, {
        cause: error,
      });
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /**
   * Reads an entry into memory and verifies its checksum.
   * @throws Fault `source_invalid` if it is damaged, or larger than the limit
   */
  async read(entry: ZipEntry, sizeBytesMax: number): Promise<Uint8Array> {
    this.#checkSupported(entry);
    if (entry.sizeBytes > sizeBytesMax || entry.encodedBytes > sizeBytesMax)
      throw this.#entryFault(entry, `is larger than the limit of ${sizeBytesMax} bytes`);
    const encoded = await readFully(this.#handle, await this.#dataOffset(entry), entry.encodedBytes);
    let decoded: Uint8Array = encoded;
    if (entry.method === DEFLATED) {
      decoded = await inflateRawAsync(encoded, { maxOutputLength: Math.max(1, entry.sizeBytes) }).catch(
        (error: unknown) => {
          throw this.#entryFault(entry, `cannot be decompressed (${messageOf(error)})`, error);
        },
      );
    }
    this.#checkContent(entry, decoded.length, zlibCrc32(decoded));
    return decoded;
  }

  /** Reads a part of an entry; a stored entry is not read whole, so its checksum is not verified. */
  async readRange(
    entry: ZipEntry,
    { offset, length }: { readonly offset: number; readonly length: number },
    sizeBytesMax: number,
  ): Promise<Uint8Array> {
    if (entry.method === DEFLATED) return (await this.read(entry, sizeBytesMax)).subarray(offset, offset + length);
    this.#checkSupported(entry);
    return readFully(this.#handle, (await this.#dataOffset(entry)) + offset, length);
  }

  /**
   * Decompresses an entry into a new file and verifies its checksum.
   * @throws Fault `source_invalid` if it is damaged, or larger than the limit; the abort reason of the signal
   */
  async extract(
    entry: ZipEntry,
    path: string,
    { sizeBytesMax, signal }: { readonly sizeBytesMax: number; readonly signal?: AbortSignal | undefined },
  ): Promise<void> {
    this.#checkSupported(entry);
    if (entry.sizeBytes > sizeBytesMax)
      throw this.#entryFault(entry, `has ${entry.sizeBytes} bytes; the limit is ${sizeBytesMax}`);
    const offset = await this.#dataOffset(entry);
    let sizeBytes = 0;
    let crc32 = 0;
    const fault = (why: string): Error => this.#entryFault(entry, why);
    const handle = this.#handle;
    async function* encodedChunks(): AsyncGenerator<Uint8Array> {
      for (let done = 0; done < entry.encodedBytes; done += READ_BYTES) {
        signal?.throwIfAborted();
        yield await readFully(handle, offset + done, Math.min(READ_BYTES, entry.encodedBytes - done));
      }
    }
    async function* checkedChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        sizeBytes += chunk.length;
        if (sizeBytes > entry.sizeBytes) throw fault(`decompresses to more than its ${entry.sizeBytes} bytes`);
        crc32 = zlibCrc32(chunk, crc32);
        yield chunk;
      }
    }
    const target = createWriteStream(path, { flags: "wx" });
    try {
      if (entry.method === DEFLATED) await pipeline(encodedChunks, createInflateRaw(), checkedChunks, target);
      else await pipeline(encodedChunks, checkedChunks, target);
    } catch (error) {
      signal?.throwIfAborted();
      throw isFault(error) ? error : this.#entryFault(entry, `cannot be decompressed (${messageOf(error)})`, error);
    }
    this.#checkContent(entry, sizeBytes, crc32);
  }

  #checkSupported(entry: ZipEntry): void {
    if (entry.isEncrypted) throw this.#entryFault(entry, "is encrypted, which is not supported");
    if (entry.method === STORED || entry.method === DEFLATED) return;
    const method = METHODS[entry.method] ?? "unknown";
    throw this.#entryFault(
      entry,
      `is compressed with method ${entry.method} (${method}); Deflate and no compression are accepted`,
    );
  }

  #checkContent(entry: ZipEntry, sizeBytes: number, crc32: number): void {
    if (sizeBytes === entry.sizeBytes && crc32 === entry.crc32) return;
    throw this.#entryFault(entry, "is damaged: its size or checksum does not match");
  }

  async #dataOffset(entry: ZipEntry): Promise<number> {
    const header = await readFully(this.#handle, entry.headerOffset, 30).catch((error: unknown) => {
      throw this.#entryFault(entry, `is damaged (${messageOf(error)})`, error);
    });
    if (header.readUInt32LE(0) !== SIGNATURE.local) throw this.#entryFault(entry, "is damaged: it has no local header");
    return entry.headerOffset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  }

  #entryFault(entry: ZipEntry, why: string, cause?: unknown): Error {
    return sourceFault(`${this.#file}/${entry.name}`, `${why}.`, cause === undefined ? {} : { cause });
  }
}

async function readFully(handle: FileHandle, offset: number, sizeBytes: number): Promise<Buffer> {
  const bytes = Buffer.alloc(sizeBytes);
  let filled = 0;
  while (filled < sizeBytes) {
    const { bytesRead } = await handle.read(bytes, filled, sizeBytes - filled, offset + filled);
    if (bytesRead === 0) throw new Error(`it ends at byte ${offset + filled}`);
    filled += bytesRead;
  }
  return bytes;
}

interface DirectoryPosition {
  readonly offset: number;
  readonly sizeBytes: number;
  readonly entryCount: number;
}

async function readDirectory(handle: FileHandle, archiveBytes: number): Promise<ReadonlyMap<string, ZipEntry>> {
  const { offset, sizeBytes, entryCount } = await findDirectory(handle, archiveBytes);
  if (!(entryCount <= ENTRY_COUNT_MAX && sizeBytes <= DIRECTORY_BYTES_MAX))
    throw new Error(`it has ${entryCount} entries; the limit is ${ENTRY_COUNT_MAX}`);
  if (!(offset >= 0 && offset + sizeBytes <= archiveBytes)) throw new Error("its directory is outside the file");
  const bytes = await readFully(handle, offset, sizeBytes);
  const entries = new Map<string, ZipEntry>();
  for (let position = 0, index = 0; index < entryCount; index++) {
    if (position + 46 > bytes.length || bytes.readUInt32LE(position) !== SIGNATURE.central)
      throw new Error(`entry ${index} of its directory is damaged`);
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((at) => bytes.readUInt16LE(position + at)) as [
      number,
      number,
      number,
    ];
    const end = position + 46 + nameBytes + extraBytes + commentBytes;
    if (end > bytes.length) throw new Error(`entry ${index} of its directory is damaged`);
    const flags = bytes.readUInt16LE(position + 8);
    const nameOf = bytes.subarray(position + 46, position + 46 + nameBytes);
    const name = nameOf.toString((flags & FLAG_UTF8) !== 0 ? "utf8" : "latin1").replaceAll("\\", "/");
    const extra = bytes.subarray(position + 46 + nameBytes, position + 46 + nameBytes + extraBytes);
    const sizes = sizesOf(bytes.subarray(position, position + 46), extra);
    if (!(sizes.encodedBytes <= archiveBytes && sizes.headerOffset <= archiveBytes))
      throw new Error(`entry ${index} of its directory is damaged`);
    if (entries.has(name)) throw new Error(`it has two entries with the name ${JSON.stringify(name)}`);
    entries.set(name, {
      name,
      method: bytes.readUInt16LE(position + 10),
      isEncrypted: (flags & FLAG_ENCRYPTED) !== 0,
      crc32: bytes.readUInt32LE(position + 16),
      ...sizes,
    });
    position = end;
  }
  return entries;
}

/** Finds the directory from the end of the archive. */
async function findDirectory(handle: FileHandle, archiveBytes: number): Promise<DirectoryPosition> {
  const tailBytes = Math.min(archiveBytes, END_BYTES + COMMENT_BYTES_MAX + 20);
  const tail = await readFully(handle, archiveBytes - tailBytes, tailBytes);
  for (let position = tailBytes - END_BYTES; position >= 0; position--) {
    if (tail.readUInt32LE(position) !== SIGNATURE.end) continue;
    if (position + END_BYTES + tail.readUInt16LE(position + 20) !== tailBytes) continue;
    const [disk, entryCount] = [tail.readUInt16LE(position + 4), tail.readUInt16LE(position + 10)];
    const [sizeBytes, offset] = [tail.readUInt32LE(position + 12), tail.readUInt32LE(position + 16)];
    const isZip64 = entryCount === 0xff_ff || sizeBytes === 0xff_ff_ff_ff || offset === 0xff_ff_ff_ff;
    if (!isZip64) {
      if (disk !== 0) throw new Error("it is split over several files, which is not supported");
      return { offset, sizeBytes, entryCount };
    }
    if (position < 20 || tail.readUInt32LE(position - 20) !== SIGNATURE.locator64)
      throw new Error("it has no ZIP64 directory");
    const end64 = await readFully(handle, numberAt(tail, position - 12), 56);
    if (end64.readUInt32LE(0) !== SIGNATURE.end64) throw new Error("its ZIP64 directory is damaged");
    return { offset: numberAt(end64, 48), sizeBytes: numberAt(end64, 40), entryCount: numberAt(end64, 32) };
  }
  throw new Error("it has no directory");
}

/** Returns the sizes and offset of a directory entry, which are in its extra field if they exceed 32 bits. */
function sizesOf(entry: Buffer, extra: Buffer): Pick<ZipEntry, "encodedBytes" | "sizeBytes" | "headerOffset"> {
  const zip64 = extraField(extra, 1);
  let next = 0;
  const read = (at: number): number => {
    const value = entry.readUInt32LE(at);
    if (value !== 0xff_ff_ff_ff) return value;
    if (zip64 === undefined || next + 8 > zip64.length) throw new Error("its ZIP64 sizes are missing");
    next += 8;
    return numberAt(zip64, next - 8);
  };
  // In the order of the extra field.
  const sizeBytes = read(24);
  const encodedBytes = read(20);
  return { sizeBytes, encodedBytes, headerOffset: read(42) };
}

function extraField(extra: Buffer, id: number): Buffer | undefined {
  for (let position = 0; position + 4 <= extra.length;) {
    const sizeBytes = extra.readUInt16LE(position + 2);
    if (extra.readUInt16LE(position) === id) return extra.subarray(position + 4, position + 4 + sizeBytes);
    position += 4 + sizeBytes;
  }
  return undefined;
}

function numberAt(bytes: Buffer, offset: number): number {
  const value = bytes.readBigUInt64LE(offset);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error(`the offset or size ${value} is too large`);
  return Number(value);
}
