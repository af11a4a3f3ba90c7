/**
 * Files beside a GeoTIFF that change what its cells mean: `<file>.msk` (a mask), `<file>.aux.xml` (what GDAL could not
 * write into the file) and world files. What cannot be applied is refused by name; overviews (.ovr) do not matter.
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
/** The first bytes of an Erdas Imagine file, as which older `.aux` files are written. */
const IMAGINE = "EHFA_HEADER_TAG";

/** The files beside a map that were found, by what they are. */
interface Found {
  readonly mask: string | undefined;
  readonly imagine: string | undefined;
  readonly auxXml: { readonly name: string; readonly text: string } | undefined;
  readonly world: { readonly name: string; readonly text: string } | undefined;
}

export interface Sidecars {
  /** Nodata by band and units by band, from 1. */
  readonly statements: AuxStatements;
  /** The name of the world file, for a map that does not say itself where it is. */
  readonly worldFile: string | undefined;
  /** Refuses a world file, or a transform of the .aux.xml, that moves the map. */
  checkTransform(transform: Transform): void;
}

/**
 * Looks for files beside a map.
 * @throws Fault `source_invalid` naming the map and the file beside it that is not applied
 */
export async function readSidecars(file: string, format: NumberFormat, signal?: AbortSignal): Promise<Sidecars> {
  const found = isHttpAddress(file) ? await besideAddress(file, signal) : await besideFile(file);
  signal?.throwIfAborted();
  if (found.mask !== undefined) {
    throw sourceFault(
      file,
      `${found.mask} beside it marks missing cells, which is not applied. Write them into the map as a nodata value: ` +
        "gdalwarp -dstnodata -9999.",
      { details: { sidecar: found.mask } },
    );
  }
  if (found.imagine !== undefined) {
    throw sourceFault(
      file,
      `${found.imagine} beside it may change its meaning and is not read. Convert the map: gdal_translate.`,
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
        checkSamePlace(file, auxXml.name, transform, statements.transform);
      }
      if (world !== undefined) checkSamePlace(file, world.name, transform, worldTransform(file, world));
    },
  };
}

async function besideFile(file: string): Promise<Found> {
  const folder = dirname(file);
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    throw sourceFault(file, `the files beside it cannot be listed (${messageOf(error)}).`, { cause: error });
  }
  const own = basename(file).toLowerCase();
  const stem = own.replace(/\.[^.]*$/, "");
  // GDAL compares names without regard to case.
  const beside = (...wanted: readonly string[]): string | undefined =>
    names.find((name) => wanted.includes(name.toLowerCase()));
  const textOf = async (name: string | undefined, sizeBytesMax: number) => {
    if (name === undefined) return undefined;
    const path = join(folder, name);
    const { size } = await stat(path);
    if (size > sizeBytesMax)
      throw sourceFault(file, `${name} beside it has ${size} bytes; at most ${sizeBytesMax} are read.`);
    return { name, text: await readFile(path, "utf8") };
  };
  const imagine = beside(`${stem}.aux`, `${own}.aux`);
  return {
    mask: beside(`${own}.msk`),
    imagine: imagine !== undefined && (await startsWith(join(folder, imagine), IMAGINE)) ? imagine : undefined,
    auxXml: await textOf(beside(`${own}.aux.xml`), XML_BYTES_MAX),
    world: await textOf(beside(`${stem}.tfw`, `${stem}.tifw`, `${stem}.tiffw`, `${stem}.wld`), WORLD_BYTES_MAX),
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

async function besideAddress(address: string, signal: AbortSignal | undefined): Promise<Found> {
  const url = new URL(address);
  const beside = (change: (path: string) => string): { readonly name: string; readonly address: string } => {
    const other = new URL(url);
    other.pathname = change(url.pathname);
    return { name: basename(other.pathname), address: other.href };
  };
  const options = { file: address, ...(signal === undefined ? {} : { signal }) };
  const textOf = async (place: { readonly name: string; readonly address: string }, sizeBytesMax: number) => {
    const bytes = await httpFile(place.address, { ...options, sizeBytesMax });
    return bytes === undefined ? undefined : { name: place.name, text: new TextDecoder().decode(bytes) };
  };
  const none = { mask: undefined, imagine: undefined, auxXml: undefined, world: undefined };
  const mask = beside((path) => `${path}.msk`);
  if (await httpExists(mask.address, options)) return { ...none, mask: mask.name };
  return {
    ...none, // .aux files are of desktop software, which does not publish them
    auxXml: await textOf(
      beside((path) => `${path}.aux.xml`),
      XML_BYTES_MAX,
    ),
    world: await textOf(
      beside((path) => `${path.replace(/\.[^./]*$/, "")}.tfw`),
      WORLD_BYTES_MAX,
    ),
  };
}

/** A world file: six numbers, one a line; the last two are the center of the first cell. */
function worldTransform(file: string, { name, text }: { readonly name: string; readonly text: string }): Transform {
  const numbers = text
    .trim()
    .split(/\s+/)
    .map((word) => Number(word.replace(",", ".")));
  const [sizeXDeg = NaN, d = NaN, b = NaN, sizeYDeg = NaN, x = NaN, y = NaN] = numbers;
  if (numbers.length !== 6 || numbers.some(Number.isNaN) || d !== 0 || b !== 0) {
    throw sourceFault(
      file,
      `${name} beside it is no world file of an unrotated map. Remove it, or convert the map: gdal_translate.`,
    );
  }
  return { xDeg: x - 0.5 * sizeXDeg, yDeg: y - 0.5 * sizeYDeg, sizeXDeg, sizeYDeg };
}

/** A tenth of a cell: world files of other software round their numbers. */
const TOLERANCE_CELLS = 0.1;

function checkSamePlace(file: string, sidecar: string, own: Transform, other: Transform): void {
  const far = (a: number, b: number, size: number): boolean => !(Math.abs(a - b) <= TOLERANCE_CELLS * Math.abs(size));
  const isOther =
    far(own.xDeg, other.xDeg, own.sizeXDeg) ||
    far(own.yDeg, other.yDeg, own.sizeYDeg) ||
    !(Math.abs(other.sizeXDeg / own.sizeXDeg - 1) <= 1e-6) ||
    !(Math.abs(other.sizeYDeg / own.sizeYDeg - 1) <= 1e-6);
  if (!isOther) return;
  const place = ({ xDeg, yDeg, sizeXDeg, sizeYDeg }: Transform): string =>
    `its first cell at (${xDeg}, ${yDeg}) and cells of ${sizeXDeg} x ${sizeYDeg}`;
  throw sourceFault(
    file,
    `${sidecar} beside it states ${place(other)}, the map itself ${place(own)}. Remove the wrong one of the two.`,
    { details: { sidecar } },
  );
}
