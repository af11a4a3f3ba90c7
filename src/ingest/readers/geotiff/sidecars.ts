/**
 * Finds sidecar files that change the meaning of a GeoTIFF: `<file>.msk` (mask), `<file>.aux.xml` (GDAL metadata) and world
 * files. Unsupported content is rejected with an error that names it; overviews (`.ovr`) are ignored.
 */
import { open, readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf, sourceFault } from "../../raster.ts";
import { httpExists, httpFile, isHttpAddress } from "../byteSource.ts";
import { type AuxStatements, readAuxXml, type Transform } from "./auxXml.ts";
import { noStatements, XML_BYTES_MAX } from "./gdalMetadata.ts";
import type { NumberFormat } from "./nodata.ts";

const WORLD_BYTES_MAX = 4096;
/** The first bytes of an Erdas Imagine file, the format of older `.aux` files. */
const IMAGINE_SIGNATURE = "EHFA_HEADER_TAG";

/** A sidecar `.msk`: its name, and its path or address. */
export interface MaskFile {
  readonly name: string;
  readonly path: string;
}

/** The sidecar files of a map. */
interface SidecarFiles {
  readonly mask: MaskFile | undefined;
  readonly imagine: string | undefined;
  readonly auxXml: { readonly name: string; readonly path: string; readonly text: string } | undefined;
  readonly world: { readonly name: string; readonly text: string } | undefined;
}

export interface Sidecars {
  /** Statements of the `.aux.xml`; bands from 1. */
  readonly statements: AuxStatements;
  readonly mask: MaskFile | undefined;
  /** Paths or addresses of the files that change values: the mask and the `.aux.xml`. */
  readonly files: readonly string[];
  /** The name of the world file, for the error about a map without georeference. */
  readonly worldFile: string | undefined;
  /** Rejects a world file or an `.aux.xml` transform that contradicts the map. */
  checkTransform(transform: Transform): void;
}

/**
 * Finds and reads the sidecar files of a map.
 * @throws Fault `source_invalid` naming the map and the unsupported sidecar
 */
export async function readSidecars(file: string, format: NumberFormat, signal?: AbortSignal): Promise<Sidecars> {
  const files = isHttpAddress(file) ? await findRemoteSidecars(file, signal) : await findLocalSidecars(file);
  signal?.throwIfAborted();
  if (files.imagine !== undefined) {
    throw sourceFault(
      file,
      `its sidecar ${files.imagine} may change the meaning of its values and is not supported. Convert the map with gdal_translate.`,
      {
        details: { sidecar: files.imagine },
      },
    );
  }
  const statements: AuxStatements =
    files.auxXml === undefined
      ? { nodata: new Map(), ...noStatements(), transform: undefined, srs: undefined }
      : readAuxXml(file, files.auxXml, format);
  return {
    statements,
    mask: files.mask,
    files: [files.mask, files.auxXml].flatMap((sidecar) => (sidecar === undefined ? [] : [sidecar.path])),
    worldFile: files.world?.name,
    checkTransform(transform) {
      const { auxXml, world } = files;
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
  const mapName = basename(file);
  const stem = mapName.replace(/\.[^.]*$/, "");
  // Another map whose name differs only in case has separate sidecar files. If the file system ignores case, there is no
  // such map.
  const isSidecarOfOtherMap = (name: string): boolean => {
    const map = name.slice(0, mapName.length);
    return map !== mapName && name.length > mapName.length && names.includes(map) && names.includes(mapName);
  };
  /** Returns the existing files with these names. If a name does not exist, names that differ only in case are used. */
  const findNames = (...candidates: readonly string[]): readonly string[] =>
    candidates.flatMap((candidate) => {
      if (names.includes(candidate)) return [candidate];
      const lower = candidate.toLowerCase();
      return names.filter((name) => name.toLowerCase() === lower && !isSidecarOfOtherMap(name));
    });
  const textOf = async (name: string | undefined, sizeBytesMax: number) => {
    if (name === undefined) return undefined;
    const path = join(folder, name);
    const { size } = await stat(path);
    if (size > sizeBytesMax)
      throw sourceFault(file, `its sidecar ${name} has ${size} bytes; the limit is ${sizeBytesMax}.`);
    return { name, path, text: await readFile(path, "utf8") };
  };
  let imagine: string | undefined;
  for (const name of findNames(`${stem}.aux`, `${mapName}.aux`)) {
    if (await startsWith(join(folder, name), IMAGINE_SIGNATURE)) imagine ??= name;
  }
  const [world] = findNames(`${stem}.tfw`, `${stem}.tifw`, `${stem}.tiffw`, `${stem}.wld`);
  const [mask] = findNames(`${mapName}.msk`);
  return {
    mask: mask === undefined ? undefined : { name: mask, path: join(folder, mask) },
    imagine,
    auxXml: await textOf(findNames(`${mapName}.aux.xml`)[0], XML_BYTES_MAX),
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
  const siblingOf = (changePath: (path: string) => string): { readonly name: string; readonly address: string } => {
    const sibling = new URL(url);
    sibling.pathname = changePath(url.pathname);
    return { name: basename(sibling.pathname), address: sibling.href };
  };
  const options = { file: address, ...(signal === undefined ? {} : { signal }) };
  const textOf = async (sidecar: { readonly name: string; readonly address: string }, sizeBytesMax: number) => {
    const bytes = await httpFile(sidecar.address, { ...options, sizeBytesMax });
    return bytes === undefined
      ? undefined
      : { name: sidecar.name, path: sidecar.address, text: new TextDecoder().decode(bytes) };
  };
  const mask = siblingOf((path) => `${path}.msk`);
  const hasMask = await httpExists(mask.address, options);
  return {
    mask: hasMask ? { name: mask.name, path: mask.address } : undefined,
    imagine: undefined, // only desktop software writes .aux files; they are not published on servers
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

/** Parses a world file: six numbers, one per line; the last two are the center of the first cell. */
function worldTransform(file: string, { name, text }: { readonly name: string; readonly text: string }): Transform {
  const numbers = text
    .trim()
    .split(/\s+/)
    .map((word) => Number(word.replace(",", ".")));
  const [pixelSizeX = NaN, d = NaN, b = NaN, pixelSizeY = NaN, x = NaN, y = NaN] = numbers;
  if (numbers.length !== 6 || numbers.some(Number.isNaN) || d !== 0 || b !== 0) {
    throw sourceFault(
      file,
      `its sidecar ${name} must have the six numbers of an unrotated map. Remove the sidecar, or convert the map with gdal_translate.`,
    );
  }
  return { originX: x - 0.5 * pixelSizeX, originY: y - 0.5 * pixelSizeY, pixelSizeX, pixelSizeY };
}

/** Not zero because some software rounds the numbers of world files. */
const TRANSFORM_TOLERANCE_CELLS = 0.1;

function checkSameTransform(file: string, sidecar: string, mapTransform: Transform, transform: Transform): void {
  const differs = (a: number, b: number, size: number): boolean =>
    !(Math.abs(a - b) <= TRANSFORM_TOLERANCE_CELLS * Math.abs(size));
  const isDifferent =
    differs(mapTransform.originX, transform.originX, mapTransform.pixelSizeX) ||
    differs(mapTransform.originY, transform.originY, mapTransform.pixelSizeY) ||
    !(Math.abs(transform.pixelSizeX / mapTransform.pixelSizeX - 1) <= 1e-6) ||
    !(Math.abs(transform.pixelSizeY / mapTransform.pixelSizeY - 1) <= 1e-6);
  if (!isDifferent) return;
  const describe = ({ originX, originY, pixelSizeX, pixelSizeY }: Transform): string =>
    `its first cell at (${originX}, ${originY}) and cells of ${pixelSizeX} x ${pixelSizeY}`;
  throw sourceFault(
    file,
    `its sidecar ${sidecar} states ${describe(transform)}, the map itself ${describe(mapTransform)}. Correct the map or its sidecar.`,
    { details: { sidecar } },
  );
}
