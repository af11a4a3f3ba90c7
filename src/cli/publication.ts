/** The list of files of a published folder, by which a later publication recognizes that it may replace the folder. */
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { Fault } from "../errors.ts";
import { isNotFound } from "../files/files.ts";
import { indentedJson } from "./indentedJson.ts";

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
