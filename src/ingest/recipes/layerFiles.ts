/** Finds the files of a layer whose map is a mosaic. */
import { readdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { FaultItem } from "../../errors.ts";
import { messageOf } from "../raster.ts";

const isRemote = (file: string): boolean => /^https?:\/\//.test(file);

/** Returns a path that is relative to the folder of a manifest. Addresses and absolute paths are returned as they are. */
export function pathFrom(manifestPath: string, file: string): string {
  return isRemote(file) || isAbsolute(file) ? file : join(dirname(manifestPath), file);
}

/**
 * Returns the files that a list of paths and patterns names, in the order of the list; the files that match a pattern are in
 * the order of their names. `*` and `?` in the last part of a path match any characters, and one character.
 *
 * @param pointer JSON pointer of the list, for errors
 */
export async function filesOfLayer(
  manifestPath: string,
  given: string | readonly string[],
  pointer: string,
): Promise<{ readonly files: readonly string[]; readonly items: readonly FaultItem[] }> {
  const files = new Set<string>();
  const items: FaultItem[] = [];
  for (const [index, text] of (typeof given === "string" ? [given] : given).entries()) {
    const at = typeof given === "string" ? pointer : `${pointer}/${index}`;
    const add = (file: string): void => {
      if (files.has(file)) items.push({ pointer: at, code: "duplicate", detail: `${file} is listed more than once.` });
      files.add(file);
    };
    if (isRemote(text) || !/[*?]/.test(text)) {
      add(pathFrom(manifestPath, text));
      continue;
    }
    const folder = dirname(pathFrom(manifestPath, text));
    if (/[*?]/.test(dirname(text))) {
      const detail = `${text} has a pattern in the name of a folder; * and ? are accepted in the last part of a path.`;
      items.push({ pointer: at, code: "not_allowed", detail });
      continue;
    }
    const pattern = patternOf(basename(text));
    try {
      const names = (await readdir(folder)).filter((name) => pattern.test(name)).toSorted();
      if (names.length === 0)
        items.push({ pointer: at, code: "empty", detail: `No file in ${folder} matches ${text}.` });
      for (const name of names) add(join(folder, name));
    } catch (error) {
      items.push({ pointer: at, code: "not_allowed", detail: `${folder} cannot be listed (${messageOf(error)}).` });
    }
  }
  return { files: [...files], items };
}

function patternOf(name: string): RegExp {
  const escaped = name.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
}
