/** Publishes an atlas, alone or with the explorer, as a folder for a static file host. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, link, mkdir, open, readdir, readFile, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { schemeOf } from "../atlas/httpBlobs.ts";
import { type Catalog, CATALOG_NAME, decodeCatalog, type FileEntry } from "../atlas/catalog.ts";
import { Fault } from "../errors.ts";
import { hashFile, isNotFound, syncFolder, writeSynced } from "../files/files.ts";
import { EXPLORER_FOLDER, publishedPageFiles } from "./publishedPage.ts";
import { indentedJson } from "./terminal.ts";

export interface PublishRequest {
  /** Folder of the atlas, or "demo". */
  readonly atlas: string;
  /** Folder to write. It must be absent, empty or an earlier publication, which is replaced. */
  readonly out: string;
  /** Whether to add the explorer. */
  readonly explorer: boolean;
  readonly onProgress?: (bytesDone: number, bytes: number) => void;
}

/** What tests replace. */
export interface PublishParts {
  /** Folder of the built explorer. */
  readonly explorerFolder: string;
  readonly link: (source: string, target: string) => Promise<void>;
  /** Returns the free space of the file system that contains a folder. */
  readonly freeBytesOf: (folder: string) => Promise<number>;
}

const DEFAULT_PARTS: PublishParts = {
  explorerFolder: EXPLORER_FOLDER,
  link,
  async freeBytesOf(folder) {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
};

export interface PublishReport {
  readonly folder: string;
  readonly atlas: string;
  /** Release of the atlas; absent for the demo, which the page computes. */
  readonly release?: string;
  readonly explorer: boolean;
  readonly files: number;
  readonly bytes: number;
  /** Number of files of the atlas that are hard links to the original, and number of those that were copied. */
  readonly linked: number;
  readonly copied: number;
}

/** Folder of the atlas beside the page. */
const ATLAS_FOLDER = "atlas";
/** Errors after which a file is copied: another device, or a file system without hard links. */
const NO_LINK_CODES = new Set(["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "EACCES", "ENOSYS"]);

/**
 * Publishes an atlas. The folder is written beside `out` and renamed when it is complete and its files have the checksums of the
 * catalog, so `out` is never incomplete.
 *
 * @throws Fault `configuration_invalid`, `atlas_not_found`, `atlas_unavailable`; system errors
 */
export async function publishAtlas(
  request: PublishRequest,
  replaced: Partial<PublishParts> = {},
): Promise<PublishReport> {
  const { atlas, explorer, onProgress } = request;
  const parts = { ...DEFAULT_PARTS, ...replaced };
  const folder = resolve(request.out);
  const isDemo = checkAtlasAddress(request);
  await checkTargetFolder(folder);
  const source = isDemo ? undefined : await readCatalog(atlas);
  const atlasAddress = isDemo ? "demo" : `${ATLAS_FOLDER}/`;
  const pageFiles = explorer ? await publishedPageFiles(parts.explorerFolder, { atlas: atlasAddress }) : new Map();
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true });
  const writing = `${folder}.publishing-${randomUUID().slice(0, 8)}`;
  try {
    await mkdir(writing);
    const files: PublishedFile[] = [];
    for (const [name, bytes] of pageFiles) files.push(await writeFile(writing, name, bytes));
    const counts = { linked: 0, copied: 0 };
    if (source !== undefined) {
      const prefix = explorer ? `${ATLAS_FOLDER}/` : "";
      files.push(...(await publishFiles({ atlas, source, prefix, writing, counts, onProgress, parts })));
    }
    const publication = encodePublication({ explorer, release: source?.catalog.release, files });
    await writeSynced(join(writing, PUBLICATION_NAME), publication);
    await syncFolder(writing);
    await replaceFolder(folder, writing);
    await syncFolder(parent);
    const bytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
    const release = source === undefined ? {} : { release: source.catalog.release };
    return { folder, atlas, ...release, explorer, files: files.length + 1, bytes, ...counts };
  } catch (error) {
    await rm(writing, { recursive: true, force: true });
    throw error;
  }
}

/** Returns whether the atlas is the demo. @throws Fault `configuration_invalid` */
function checkAtlasAddress({ atlas, explorer }: PublishRequest): boolean {
  if (schemeOf(atlas) !== undefined) {
    throw new Fault("configuration_invalid", `only an atlas in a folder can be published (got ${atlas}).`);
  }
  if (atlas === "demo" && !explorer) {
    throw new Fault(
      "configuration_invalid",
      "the demo atlas is computed and has no files. Publish it with --explorer, which computes it in the browser; for a " +
        "folder named demo, write ./demo.",
    );
  }
  return atlas === "demo";
}

interface CatalogFile {
  readonly bytes: Uint8Array;
  readonly catalog: Catalog;
}

async function readCatalog(atlas: string): Promise<CatalogFile> {
  try {
    const bytes = await readFile(join(atlas, CATALOG_NAME));
    return { bytes, catalog: await decodeCatalog(bytes, atlas) };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new Fault("atlas_not_found", `there is no atlas in ${atlas}: it has no file ${CATALOG_NAME}.`);
  }
}

interface AtlasFiles {
  readonly atlas: string;
  readonly source: CatalogFile;
  /** Folder of the atlas in the publication: empty, or a path that ends with a slash. */
  readonly prefix: string;
  /** The folder that is being written. */
  readonly writing: string;
  /** Counts the files. */
  readonly counts: { linked: number; copied: number };
  readonly onProgress: PublishRequest["onProgress"];
  readonly parts: PublishParts;
}

/** Links or copies the files of the catalog, checks them, and writes the catalog last. */
async function publishFiles({ atlas, source, prefix, writing, counts, onProgress, parts }: AtlasFiles) {
  const { catalog, bytes: catalogBytes } = source;
  const packFiles = catalog.hazards.flatMap(({ packs }) => packs.flatMap(({ files }) => Object.values(files)));
  const entries = [...new Map(packFiles.map((file) => [file.name, file])).values()];
  const bytes = entries.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  let bytesDone = 0;
  await mkdir(join(writing, prefix), { recursive: true });
  const files: PublishedFile[] = [];
  for (const entry of entries) {
    const { name, size_bytes, sha256 } = entry;
    const target = join(writing, prefix, name);
    if (await tryLink(parts.link, join(atlas, name), target)) counts.linked += 1;
    else {
      checkFreeSpace(await parts.freeBytesOf(writing), bytes - bytesDone, writing);
      await copySynced(join(atlas, name), target);
      counts.copied += 1;
    }
    await checkFile(target, entry, (readBytes) => onProgress?.((bytesDone += readBytes), bytes));
    files.push({ name: prefix + name, size_bytes, sha256 });
  }
  files.push(await writeFile(writing, prefix + CATALOG_NAME, catalogBytes));
  await syncFolder(join(writing, prefix));
  return files;
}

/** Returns whether a hard link could be made. */
async function tryLink(makeLink: PublishParts["link"], source: string, target: string): Promise<boolean> {
  try {
    await makeLink(source, target);
    return true;
  } catch (error) {
    if (NO_LINK_CODES.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

async function copySynced(source: string, target: string): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_FICLONE);
  const handle = await open(target, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** @throws Fault `configuration_invalid` if there is less free space than the remaining files need */
function checkFreeSpace(freeBytes: number, neededBytes: number, folder: string): void {
  if (freeBytes >= neededBytes) return;
  throw new Fault(
    "configuration_invalid",
    `${dirname(folder)} must have ${neededBytes} bytes of free space for copies of the atlas (it has ${freeBytes}). On the file ` +
      "system of the atlas, its files are linked and need no space.",
  );
}

/** @throws Fault `atlas_unavailable` if a file differs from its entry in the catalog */
async function checkFile(path: string, { name, size_bytes, sha256 }: FileEntry, onRead: (bytes: number) => void) {
  const { size } = await stat(path);
  if (size === size_bytes && (await hashFile(path, onRead)) === sha256) return;
  const problem =
    size === size_bytes ? "its SHA-256 differs from that" : `it has ${size} bytes instead of the ${size_bytes}`;
  throw new Fault("atlas_unavailable", `${name} is damaged: ${problem} in the catalog. Nothing was published.`);
}

async function writeFile(folder: string, name: string, bytes: Uint8Array): Promise<PublishedFile> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeSynced(path, bytes);
  return { name, size_bytes: bytes.length, sha256: await hashFile(path) };
}

/**
 * Moves a complete folder to its place, and removes the folder that was there. That folder is checked again, because it may have
 * changed since the start, and is moved back if anything fails.
 */
async function replaceFolder(folder: string, complete: string): Promise<void> {
  const replaced = `${complete}-replaced`;
  let isReplaced = true;
  try {
    await rename(folder, replaced);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    isReplaced = false;
  }
  try {
    if (isReplaced) await checkTargetFolder(replaced, folder);
    await rename(complete, folder);
  } catch (error) {
    if (isReplaced) await rename(replaced, folder);
    throw error;
  }
  await rm(replaced, { recursive: true, force: true });
}

export const PUBLICATION_NAME = "publication.json";
const FORMAT = "isotherm-publication";
const FORMAT_VERSION = 1;
/** Names shown in the error about files that would be deleted. */
const SHOWN_COUNT_MAX = 3;

/** A file, by its path below the published folder. */
export interface PublishedFile {
  readonly name: string;
  readonly size_bytes: number;
  readonly sha256: string;
}

export function encodePublication({
  release,
  explorer,
  files,
}: {
  readonly release: string | undefined;
  readonly explorer: boolean;
  readonly files: readonly PublishedFile[];
}): string {
  const content = { format: FORMAT, format_version: FORMAT_VERSION, release, explorer, files };
  return indentedJson(content);
}

/**
 * @param name the folder in the message; it differs from `folder` while the folder has been moved
 * @throws Fault `configuration_invalid` unless the folder is absent, empty, or has only files that a publication lists
 */
export async function checkTargetFolder(folder: string, name = folder): Promise<void> {
  const present = await filesBelow(folder);
  if (present.length === 0) return;
  const own = new Set([PUBLICATION_NAME, ...(await publishedNames(folder))]);
  const foreign = present.filter((file) => !own.has(file));
  if (foreign.length === 0) return;
  const shown = foreign.slice(0, SHOWN_COUNT_MAX).join(", ") + (foreign.length > SHOWN_COUNT_MAX ? ", ..." : "");
  throw new Fault(
    "configuration_invalid",
    `${name} must be a new or empty folder, or an earlier publication without other files (it contains ${shown}).`,
  );
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory());
    return files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join("/"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    if (!isNotFound(error)) throw error;
    throw new Fault("configuration_invalid", `${folder} must be a folder, and it is a file.`);
  }
}

/** Returns the files that the publication in a folder lists; none if there is no publication. */
async function publishedNames(folder: string): Promise<readonly string[]> {
  try {
    const content = JSON.parse(await readFile(join(folder, PUBLICATION_NAME), "utf8")) as {
      readonly format?: unknown;
      readonly files?: readonly { readonly name?: unknown }[];
    };
    if (content.format !== FORMAT || !Array.isArray(content.files)) return [];
    return content.files.map(({ name }: { readonly name?: unknown }) => String(name));
  } catch (error) {
    if (isNotFound(error) || error instanceof SyntaxError) return [];
    throw error;
  }
}
