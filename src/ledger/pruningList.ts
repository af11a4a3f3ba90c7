/**
 * The list of prunings: a file beside the anchor. The process that prunes adds the hash of each record of pruning before
 * the database contains it, so that a record that is not listed was added by somebody who can write to the database
 * only, or by another machine.
 */
import { constants, lstat, open } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault } from "../errors.ts";
import { syncFolder, withPathInErrors } from "../files/files.ts";
import { pruneHash, type PruneRow } from "./chain.ts";
import type { ChainProblem } from "./chainReport.ts";
import { accessOf, createFolder, giveAccess, parseJson, readEvidence } from "./anchor.ts";

const FORMAT = 1;

/** Why a pruning is listed: it was in the ledger when the list began, or was listed later. */
type ListingReason = "existing" | "pruned" | "archive_verified" | "accepted";

/** The prunings that are known to be genuine. Lines are only appended, so processes cannot overwrite those of others. */
export class PruningList {
  readonly path: string;

  constructor(anchorPath: string) {
    this.path = anchorPath.replace(/\.json$/, "-prunings.jsonl");
  }

  /**
   * Returns the records that are not listed; undefined if there is no list yet.
   * @param records read before the call, because each is listed before it is recorded
   * @throws Fault `ledger_unavailable` if the list cannot be read
   */
  async unlisted(records: readonly PruneRow[]): Promise<readonly PruneRow[] | undefined> {
    const name = "The list of prunings";
    // Nothing is appended through a link, so prunings could not be listed.
    const isLink = await lstat(this.path).then(
      (stats) => stats.isSymbolicLink(),
      () => false,
    );
    if (isLink) throw new Fault("ledger_unavailable", `${name} ${this.path} cannot be used: it is a symbolic link.`);
    const text = await readEvidence(this.path, name);
    // A line that is not complete was being written at a crash, so that its pruning was not recorded.
    const lines = (text ?? "")
      .split("\n")
      .map((line) => parseJson(line) as { [name: string]: unknown } | null | undefined);
    if (!lines.some((line) => line?.["format"] === FORMAT)) return undefined;
    const listed = new Set(lines.map((line) => line?.["pruning"]));
    return records.filter((record) => !listed.has(pruneHash(record)));
  }

  /** Begins the list with the prunings that the ledger has. The list is complete with its last line. */
  async begin(records: readonly PruneRow[]): Promise<void> {
    await this.#append([...linesOf(records, "existing"), { format: FORMAT, listed_since: new Date().toISOString() }]);
  }

  /** Adds prunings to the list; they are on disk when the call returns. */
  async add(records: readonly Omit<PruneRow, "batch">[], reason: ListingReason): Promise<void> {
    await this.#append(linesOf(records, reason));
  }

  /** Creates the problem of a record of pruning that is not listed. */
  problem({ batch, before_day, archive_name }: PruneRow): ChainProblem {
    const detail =
      `The pruning in batch ${batch}, of the records before ${before_day}, is not listed in ${this.path}: ` +
      "it never took place, or was not made on this machine with this data folder. " +
      `If it was made elsewhere, run isotherm usage audit with the folder of ${archive_name} as --archive, which lists it.`;
    return { code: "pruning_unlisted", batch, detail };
  }

  /** Appends lines. It follows no link, because root may append to a file in the folder of another user. */
  async #append(lines: readonly object[]): Promise<void> {
    const { path } = this;
    const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
    const folder = dirname(path);
    await createFolder(folder);
    const access = await accessOf(path);
    const handle = await open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
    try {
      await giveAccess(handle, access);
      // The first line break ends a line that a crash has left incomplete.
      const text = lines.map((line) => `\n${JSON.stringify(line)}`).join("");
      await withPathInErrors(path, handle.appendFile(`${text}\n`));
      await withPathInErrors(path, handle.sync());
    } finally {
      await handle.close();
    }
    await syncFolder(folder);
  }
}

function linesOf(records: readonly Omit<PruneRow, "batch">[], reason: ListingReason): readonly object[] {
  const listed_at = new Date().toISOString();
  return records.map((record) => ({
    pruning: pruneHash(record),
    before: record.before_day,
    archive: record.archive_name,
    reason,
    listed_at,
  }));
}
