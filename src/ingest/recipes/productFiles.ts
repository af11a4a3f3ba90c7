/** Finds the maps of a public product by their file names, in folders and zip archives. */
import { readdir, stat } from "node:fs/promises";
import { join, posix, resolve } from "node:path";
import { Fault, FAULT_ITEM_COUNT_MAX, type FaultItem } from "../../errors.ts";
import { sourceFault } from "../raster.ts";
import { ZipArchive } from "../readers/zip.ts";
import type { IgnoredFile } from "../plan.ts";

/** The meaning of a file name: a map that the recipe uses, or one that it ignores, with the reason. */
export type NameMeaning<Content> =
  { readonly kind: "map"; readonly map: Content } | { readonly kind: "ignored"; readonly reason: string };

/** How the files of a product are named. */
export interface ProductNames<Content> {
  /** Name of the product in messages. */
  readonly product: string;
  /** A file name of the product. */
  readonly example: string;
  /** Matches the names of all files that may be maps of the product. */
  readonly extension: RegExp;
  /** Parses the last part of a path; undefined if it is not a file name of the product. */
  read(name: string): NameMeaning<Content> | undefined;
  /** Describes a map in messages. Two files with the same description are the same map. */
  describe(map: Content): string;
}

/** A map of a product and its path or address. */
export interface ProductFile<Content> {
  readonly file: string;
  readonly map: Content;
}

/**
 * Finds maps of a product among files, folders (searched recursively, zip archives included), zip archives and addresses.
 *
 * @throws Fault `source_invalid` listing named files that are not part of the product and files that are the same map, or if
 *   no map is found; `invalid_request` if `sources` is empty
 */
export async function findProductFiles<Content>(
  sources: readonly string[],
  names: ProductNames<Content>,
): Promise<{ readonly files: readonly ProductFile<Content>[]; readonly ignoredFiles: readonly IgnoredFile[] }> {
  const { product, example } = names;
  if (sources.length === 0)
    throw new Fault("invalid_request", `sources must have at least one file, folder or address of ${product} maps.`);
  const files: ProductFile<Content>[] = [];
  const ignoredFiles: IgnoredFile[] = [];
  const problems: Problem[] = [];
  const taken = new Map<string, string>();
  for (const { file, isNamed } of distinctFiles(await listFiles(sources, names.extension))) {
    const meaning = names.read(file.split(/[/\\]/).at(-1) ?? file);
    if (meaning === undefined) {
      const reason = `its name is not a file name of ${product} maps, such as ${example}`;
      if (isNamed)
        problems.push({ file, code: "unknown", why: `${reason}. For other maps use isotherm ingest layers.` });
      else ignoredFiles.push({ file, reason });
    } else if (meaning.kind === "ignored") {
      ignoredFiles.push({ file, reason: meaning.reason });
    } else {
      const key = names.describe(meaning.map);
      const other = taken.get(key);
      if (other !== undefined) {
        const why = `is the same map as ${other} (${key}). Give only one of the two files.`;
        problems.push({ file, code: "duplicate", why });
      }
      taken.set(key, file);
      files.push({ file, map: meaning.map });
    }
  }
  rejectProblems(problems);
  if (files.length === 0)
    throw nothingUsed(sources, `${product} map`, { files: ignoredFiles, nouns: ["file", "files"] });
  return { files, ignoredFiles };
}

interface Problem {
  readonly file: string;
  readonly code: FaultItem["code"];
  readonly why: string;
}

function rejectProblems(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  if (problems.length === 1) throw sourceFault(first.file, first.why);
  throw new Fault("source_invalid", `${problems.length} of the source files are rejected.`, {
    items: problems
      .slice(0, FAULT_ITEM_COUNT_MAX)
      .map(({ file, code, why }) => ({ pointer: "/sources", code, detail: `${file}: ${why}` })),
  });
}

interface SourceFile {
  readonly file: string;
  /** Whether the user named the file itself, instead of a folder or an archive. */
  readonly isNamed: boolean;
}

/** Returns each file once, although a folder and a folder or file in it may be given. */
function distinctFiles(files: readonly SourceFile[]): readonly SourceFile[] {
  const distinct = new Map<string, SourceFile>();
  for (const source of files) {
    const path = isAddress(source.file) ? source.file : resolve(source.file);
    const isNamed = source.isNamed || distinct.get(path)?.isNamed === true;
    distinct.set(path, { file: distinct.get(path)?.file ?? source.file, isNamed });
  }
  return [...distinct.values()];
}

function isAddress(source: string): boolean {
  return /^https?:\/\//.test(source);
}

async function listFiles(sources: readonly string[], extension: RegExp): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  for (const source of sources) {
    if (isAddress(source) || /\.zip[/\\]/i.test(source)) {
      files.push({ file: source, isNamed: true });
      continue;
    }
    const isFolder = await stat(source).then(
      (entry) => entry.isDirectory(),
      (error: unknown) => {
        throw sourceFault(source, "there is no such file or folder.", { cause: error });
      },
    );
    if (isFolder) files.push(...(await filesInFolder(source, extension)));
    else if (/\.zip$/i.test(source)) files.push(...(await filesInArchive(source, extension)));
    else files.push({ file: source, isNamed: true });
  }
  return files;
}

async function filesInFolder(folder: string, extension: RegExp): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  for (const name of (await readdir(folder, { recursive: true })).toSorted()) {
    const file = join(folder, name);
    if (extension.test(name)) files.push({ file, isNamed: false });
    else if (/\.zip$/i.test(name)) files.push(...(await filesInArchive(file, extension)));
  }
  return files;
}

async function filesInArchive(path: string, extension: RegExp): Promise<readonly SourceFile[]> {
  const archive = await ZipArchive.open(path);
  try {
    return [...archive.entries.keys()]
      .filter((name) => extension.test(name) && !isResourceFork(name))
      .toSorted()
      .map((name) => ({ file: `${path}/${name}`, isNamed: false }));
  } finally {
    await archive.close();
  }
}

/** Returns whether an entry has metadata that macOS adds to archives, under the name of the file that they describe. */
function isResourceFork(name: string): boolean {
  return name.startsWith("__MACOSX/") || posix.basename(name).startsWith("._");
}

/** Number of different reasons in a message. */
const REASON_COUNT_MAX = 5;

/**
 * Returns the fault of sources of which a recipe uses nothing, with each reason for which files were ignored, the most
 * frequent first.
 *
 * @param what what the recipe looked for, such as "STORM map"
 * @param nouns what the ignored files are called, in singular and plural
 */
function nothingUsed(
  sources: readonly string[],
  what: string,
  {
    files,
    nouns: [one, several],
  }: { readonly files: readonly IgnoredFile[]; readonly nouns: readonly [string, string] },
): Fault {
  const [first = "", ...others] = sources;
  const more = others.length === 0 ? "" : ` and ${others.length} more ${others.length === 1 ? "source" : "sources"}`;
  const count = files.length === 1 ? `1 ${one} was` : `${files.length} ${several} were`;
  const why = files.length === 0 ? "" : ` ${count} ignored: ${reasonsOf(files)}.`;
  return new Fault("source_invalid", `${first}${more}: no ${what} that the recipe uses.${why}`);
}

function reasonsOf(files: readonly IgnoredFile[]): string {
  const byReason = new Map<string, readonly string[]>();
  for (const { file, reason } of files) byReason.set(reason, [...(byReason.get(reason) ?? []), file]);
  const reasons = [...byReason].toSorted(([, a], [, b]) => b.length - a.length);
  const listed = reasons
    .slice(0, REASON_COUNT_MAX)
    .map(
      ([reason, [first = "", ...others]]) =>
        `${first}${others.length === 0 ? "" : ` and ${others.length} more`}: ${reason}`,
    );
  const restCount = reasons.length - listed.length;
  if (restCount > 0) listed.push(`${restCount} other ${restCount === 1 ? "reason" : "reasons"}`);
  return listed.join("; ");
}
