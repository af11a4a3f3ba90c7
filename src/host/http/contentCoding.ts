import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import {
  type BrotliOptions,
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  type ZlibOptions,
} from "node:zlib";

/** How an answer's bytes are compressBody for the way. */
export type Coding = "br" | "gzip";

/** Shorter answers are sent as they are: packing would cost more than it saves. */
export const COMPRESSED_BYTES_MIN = 2048;

const QUALITY = /^q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/i;
const KNOWN_COUNT_MAX = 256;
const known = new Map<string, Coding | undefined>();

/**
 * The coding that a client likes best of those we have, by its Accept-Encoding (RFC 9110, 12.5.3).
 * @returns undefined where an answer is to be sent as it is
 */
export function selectCoding(acceptEncoding: string | undefined): Coding | undefined {
  if (acceptEncoding === undefined) return undefined;
  // Clients say one of a few things, over and over.
  if (known.has(acceptEncoding)) return known.get(acceptEncoding);
  const coding = chooseCoding(acceptEncoding);
  if (known.size < KNOWN_COUNT_MAX) known.set(acceptEncoding, coding);
  return coding;
}

function chooseCoding(acceptEncoding: string): Coding | undefined {
  const qualities = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const stated = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = stated === undefined ? 1 : Number(QUALITY.exec(stated)?.[1] ?? 0);
    qualities.set(name === "x-gzip" ? "gzip" : name, quality);
  }
  const qualityOf = (name: string): number => qualities.get(name) ?? qualities.get("*") ?? 0;
  const [br, plainGzip] = [qualityOf("br"), qualityOf("gzip")];
  const identity = qualities.get("identity") ?? 0;
  const best = Math.max(br, plainGzip);
  if (best === 0 || best < identity) return undefined;
  return br >= plainGzip ? "br" : "gzip";
}

/** Half the time of the default for a tenth more bytes. */
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const GZIP = { level: 5 };
const gzipWhole = promisify(gzip);
const brotliWhole = promisify(brotliCompress) as (text: string, options: BrotliOptions) => Promise<Buffer>;

/** Of lists of parts that somebody holds on to. */
const compressedParts = new WeakMap<readonly Uint8Array[], Map<Coding, Promise<readonly Uint8Array[]>>>();

/**
 * Packs a body beside the event loop. A list of parts that is given again, as routes do whose answer never changes, is
 * compressBody once: nobody needs a key to ask for those, and the largest takes 30 ms.
 */
export async function compressBody(
  body: string | readonly Uint8Array[],
  coding: Coding,
): Promise<readonly Uint8Array[]> {
  if (typeof body === "string") {
    return [
      await (coding === "br"
        ? brotliWhole(body, BROTLI)
        : (gzipWhole as (text: string, options: ZlibOptions) => Promise<Buffer>)(body, GZIP)),
    ];
  }
  const known = compressedParts.get(body) ?? new Map<Coding, Promise<readonly Uint8Array[]>>();
  compressedParts.set(body, known);
  let packing = known.get(coding);
  if (packing === undefined) {
    packing = compressParts(body, coding);
    known.set(coding, packing);
  }
  return packing;
}

async function compressParts(body: readonly Uint8Array[], coding: Coding): Promise<readonly Uint8Array[]> {
  const parts: Uint8Array[] = [];
  await pipeline(body, coding === "br" ? createBrotliCompress(BROTLI) : createGzip(GZIP), async (source) => {
    for await (const part of source) parts.push(part as Buffer);
  });
  return parts;
}
