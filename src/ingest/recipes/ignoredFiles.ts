/** Explains why a recipe found nothing to ingest. */
import { Fault } from "../../errors.ts";
import type { IgnoredFile } from "../report.ts";

/** Number of different reasons in a message. */
const REASON_COUNT_MAX = 5;

/**
 * Returns the fault of sources of which a recipe uses nothing, with each reason for which files were ignored, the most
 * frequent first.
 *
 * @param what what the recipe looked for, such as "STORM map"
 * @param nouns what the ignored files are called, in singular and plural
 */
export function nothingUsed(
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
