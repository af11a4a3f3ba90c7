/** Paths of files in zip archives: `maps.zip/folder/map.tif`. */
import { stat } from "node:fs/promises";

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
