import { readFile } from "node:fs/promises";
import { Fault, isFault } from "../../errors.ts";
import { isNotFound } from "../../files.ts";
import type { Shard } from "./placeJob.ts";
import { parseManifest } from "./placeManifest.ts";
import { manifestPathOf } from "./workFolder.ts";

/**
 * Rejects a run that would replace a part of a file that is divided into another number of parts. A scheduler that starts
 * only the failed tasks again may state their number as the number of parts.
 *
 * @throws Fault `configuration_invalid` with both parts
 */
export async function checkReplacedPart(output: string, { index, count }: Shard): Promise<void> {
  const earlier = await shardOf(manifestPathOf(output));
  if (earlier === undefined || earlier === null || earlier.count === count) return;
  const message =
    `${output} is part ${earlier.index} of ${earlier.count}, and would be replaced by part ${index} of ${count}. ` +
    `Set --shard to a part of ${earlier.count}, choose another name for OUT, or add --restart to replace it.`;
  throw new Fault("configuration_invalid", message, { details: { before: earlier, now: { index, count } } });
}

/** Returns the part that a manifest states; undefined if there is no manifest. */
async function shardOf(path: string): Promise<Shard | null | undefined> {
  try {
    return parseManifest(await readFile(path, "utf8"), path).shard;
  } catch (error) {
    if (isNotFound(error) || isFault(error)) return undefined;
    throw error;
  }
}
