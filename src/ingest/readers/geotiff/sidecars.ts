/**
 * Sidecar files that change the meaning of a GeoTIFF: `<file>.msk` (mask), `<file>.aux.xml` (GDAL metadata) and world files.
 * Unsupported content is refused by name; overviews (`.ovr`) are ignored.
 */
import { open, readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { sourceFault } from "../../raster.ts";
import { messageOf } from "./byteSource.ts";
import type { Transform } from "./georeference.ts";
import { httpExists, httpFile, isHttpAddress } from "./http.ts";
import { readAuxXml, type AuxStatements } from "./auxXml.ts";
import type { NumberFormat } from "./layout.ts";
import { XML_BYTES_MAX } from "./xml.ts";

const WORLD_BYTES_MAX = 4096;
/** The first bytes of an Erdas Imagine file, the format of older `.aux` files. */
const IMAGINE = "EHFA_HEADER_TAG";

/** The sidecar files of a map. */
interface SidecarFiles {
  readonly mask: string | undefined;
  readonly imagine: string | undefined;
  readonly auxXml: { readonly name: string; readonly text: string } | undefined;
  readonly world: { readonly name: string; readonly text: string } | undefined;
}

export interface Sidecars {
  /** Statements of the `.aux.xml`; bands from 1. */
  readonly statements: AuxStatements;
  /** The name of the world file, for the error about a map without georeference. */
  readonly worldFile: string | undefined;
  /** Refuses a world file or an `.aux.xml` transform that contradicts the map. */
  checkTransform(transform: Transform): void;
}

/**
 * Finds and reads the sidecar files of a map.
 * @throws Fault `source_invalid` naming the map and the unsupported sidecar
 */
export async function readSidecars(file: string, format: NumberFormat, signal?: AbortSignal): Promise<Sidecars> {
  const found = isHttpAddress(file) ? await findRemoteSidecars(file, signal) : await findLocalSidecars(file);
  signal?.throwIfAborted();
  if (found.mask !== undefined) {
    throw sourceFault(
      file,
      `its mask ${found.mask} marks missing cells, which is not supported. Write them into the map as a nodata value with ` +
        "gdalwarp -dstnodata -9999.",
      { details: { sidecar: found.mask } },
    );
  }
  if (found.imagine !== undefined) {
    throw sourceFault(
      file,
      `its sidecar ${found.imagine} may change its meaning and is not supported. Convert the map with gdal_translate.`,
      {
        details: { sidecar: found.imagine },
      },
    );
  }
  const statements: AuxStatements =
    found.auxXml === undefined
      ? { nodata: new Map(), units: new Map(), transform: undefined }
      : readAuxXml(file, found.auxXml, format);
  return {
    statements,
    worldFile: found.world?.name,
    checkTransform(transform) {
      const { auxXml, world } = found;
      if (auxXml !== undefined && statements.transform !== undefined) {
        checkSameTransform(file, auxXml.name, transform, statements.transform);
      }
      if (world !== undefined) checkSameTransform(file, world.name, transform, worldTransform(file, world));
    },
  };
}

async function findLocalSidecars(file: string): Promise<SidecarFiles> {
  const folder = dirname(file);
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    throw sourceFault(file, `its folder cannot be listed to find sidecar files (${messageOf(error)}).`, {
      cause: error,
    });
  }
  const own = basename(file);
  const stem = own.replace(/\.[^.]*$/, "");
  // A map whose name differs only in case has its own sidecar files. Where file systems ignore case, it is this map.
  const isOfOther = (name: string): boolean => {
    const map = name.slice(0, own.length);
    return map !== own && name.length > own.length && names.includes(map) && names.includes(own);
  };
  /** Returns the existing files of these names: of each, the one in exact spelling, or else in another case. */
  const findNames = (...candidates: readonly string[]): readonly string[] =>
    candidates.flatMap((candidate) => {
      if (names.includes(candidate)) return [candidate];
      const lower = candidate.toLowerCase();
      return names.filter((name) => name.toLowerCase() === lower && !isOfOther(name));
    });
  const textOf = async (name: string | undefined, sizeBytesMax: number) => {
    if (name === undefined) return undefined;
    const path = join(folder, name);
    const { size } = await stat(path);
    if (size > sizeBytesMax)
      throw sourceFault(file, `its sidecar ${name} has ${size} bytes; the limit is ${sizeBytesMax}.`);
    return { name, text: await readFile(path, "utf8") };
  };
  let imagine: string | undefined;
  for (const name of findNames(`${stem}.aux`, `${own}.aux`)) {
    if (await startsWith(join(folder, name), IMAGINE)) imagine ??= name;
  }
  const [world] = findNames(`${stem}.tfw`, `${stem}.tifw`, `${stem}.tiffw`, `${stem}.wld`);
  return {
    mask: findNames(`${own}.msk`)[0],
    imagine,
    auxXml: await textOf(findNames(`${own}.aux.xml`)[0], XML_BYTES_MAX),
    world: await textOf(world, WORLD_BYTES_MAX),
  };
}

async function startsWith(path: string, text: string): Promise<boolean> {
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(text.length), 0, text.length, 0);
    return buffer.toString("latin1", 0, bytesRead) === text;
  } finally {
    await handle.close();
  }
}

async function findRemoteSidecars(address: string, signal: AbortSignal | undefined): Promise<SidecarFiles> {
  const url = new URL(address);
  const siblingOf = (change: (path: string) => string): { readonly name: string; readonly address: string } => {
    const other = new URL(url);
    other.pathname = change(url.pathname);
    return { name: basename(other.pathname), address: other.href };
  };
  const options = { file: address, ...(signal === undefined ? {} : { signal }) };
  const textOf = async (sidecar: { readonly name: string; readonly address: string }, sizeBytesMax: number) => {
    const bytes = await httpFile(sidecar.address, { ...options, sizeBytesMax });
    return bytes === undefined ? undefined : { name: sidecar.name, text: new TextDecoder().decode(bytes) };
  };
  const none = { mask: undefined, imagine: undefined, auxXml: undefined, world: undefined };
  const mask = siblingOf((path) => `${path}.msk`);
  if (await httpExists(mask.address, options)) return { ...none, mask: mask.name };
  return {
    ...none, // .aux files are written by desktop software and not published
    auxXml: await textOf(
      siblingOf((path) => `${path}.aux.xml`),
      XML_BYTES_MAX,
    ),
    world: await textOf(
      siblingOf((path) => `${path.replace(/\.[^./]*$/, "")}.tfw`),
      WORLD_BYTES_MAX,
    ),
  };
}

/** Parses a world file: six numbers, one on each line; the last two are the center of the first cell. */
function worldTransform(file: string, { name, text }: { readonly name: string; readonly text: string }): Transform {
  const numbers = text
    .trim()
    .split(/\s+/)
    .map((word) => Number(word.replace(",", ".")));
  const [sizeXDeg = NaN, d = NaN, b = NaN, sizeYDeg = NaN, x = NaN, y = NaN] = numbers;
  if (numbers.length !== 6 || numbers.some(Number.isNaN) || d !== 0 || b !== 0) {
    throw sourceFault(
      file,
      `its sidecar ${name} is not a world file of an unrotated map. Remove it, or convert the map with gdal_translate.`,
    );
  }
  return { xDeg: x - 0.5 * sizeXDeg, yDeg: y - 0.5 * sizeYDeg, sizeXDeg, sizeYDeg };
}

/** A tenth of a cell, because some software rounds the numbers of world files. */
const TOLERANCE_CELLS = 0.1;

function checkSameTransform(file: string, sidecar: string, own: Transform, other: Transform): void {
  const differs = (a: number, b: number, size: number): boolean =>
    !(Math.abs(a - b) <= TOLERANCE_CELLS * Math.abs(size));
  const isDifferent =
    differs(own.xDeg, other.xDeg, own.sizeXDeg) ||
    differs(own.yDeg, other.yDeg, own.sizeYDeg) ||
    !(Math.abs(other.sizeXDeg / own.sizeXDeg - 1) <= 1e-6) ||
    !(Math.abs(other.sizeYDeg / own.sizeYDeg - 1) <= 1e-6);
  if (!isDifferent) return;
  const place = ({ xDeg, yDeg, sizeXDeg, sizeYDeg }: Transform): string =>
    `its first cell at (${xDeg}, ${yDeg}) and cells of ${sizeXDeg} x ${sizeYDeg}`;
  throw sourceFault(
    file,
    `its sidecar ${sidecar} states ${place(other)}, the map itself ${place(own)}. Remove or correct the wrong one.`,
    { details: { sidecar } },
  );
}
