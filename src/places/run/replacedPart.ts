import { readFile } from "node:fs/promises";
import { Fault, isFault } from "../../errors.ts";
import { isNotFound } from "../../files/files.ts";
import type { Shard } from "./placeJob.ts";
import { parseManifest } from "./placeManifest.ts";
import { manifestPathOf } from "./workFolder.ts";

/**
 * Rejects a run that would replace a part by a part of another number of parts, or by a whole or merged output. A scheduler that
 * starts only the failed tasks again may state their number as the number of parts.
 *
 * @param shard undefined for a whole output
 * @throws Fault `configuration_invalid` with both
 */
export async function checkReplacedPart(output: string, shard: Shard | undefined): Promise<void> {
  const earlier = await shardOf(manifestPathOf(output));
  if (earlier === undefined || earlier === null || earlier.count === shard?.count) return;
  const replacement = shard === undefined ? "the whole output" : `part ${shard.index} of ${shard.count}`;
  const message =
    `${output} is part ${earlier.index} of ${earlier.count}, and would be replaced by ${replacement}. ` +
    `To write a part of ${earlier.count}, set --shard. Otherwise choose another name for OUT, or add --restart to replace it.`;
  throw new Fault("configuration_invalid", message, { details: { before: earlier, now: shard ?? null } });
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
