/** Reads zip archives (APPNOTE 6.3) in place: stored and deflated entries, ZIP64. */
import { type FileHandle, open, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { crc32 as zlibCrc32, createInflateRaw, inflateRaw } from "node:zlib";
import { messageOf, sourceFault } from "../../raster.ts";

const ENTRY_COUNT_MAX = 1_000_000;
const DIRECTORY_BYTES_MAX = 256 << 20;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 65_535;
const SIGNATURE = { local: 0x04_03_4b_50, central: 0x02_01_4b_50, end: 0x06_05_4b_50, end64: 0x06_06_4b_50, locator64: 0x07_06_4b_50 };
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
