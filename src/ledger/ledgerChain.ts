import { Fault, isFault } from "../errors.ts";
import { anchorFault, anchorProblem, readAnchor } from "./anchor.ts";
import { AnchorKeeper, warn } from "./anchorKeeper.ts";
import { auditArchives } from "./archiveAudit.ts";
import { findFuturePrunings, findUnverifiedPruning } from "./pruneAudit.ts";
import { pruneHash, type PruneRow } from "./chain.ts";
import type { Anchor, AuditOptions, ChainHead, ChainProblem, ChainReport, PrunePlan } from "./chainReport.ts";
import type { ChainPosition, ChainState } from "./chainAudit.ts";
import type { ArchivedBatch, AuditReport } from "./ledger.ts";
import type { ArgumentOf, MethodName, ResultOf } from "./methods.ts";
import { PruningList } from "./pruningList.ts";
import { recordedEntryOf } from "./usage.ts";

export interface LedgerChainOptions {
  /** Calls a method of the storage. */
  readonly call: <Name extends MethodName>(name: Name, argument: ArgumentOf<Name>) => Promise<ResultOf<Name>>;
  /** Reads the end of the chain, also while the ledger is being closed. */
  readonly readState: (query: { readonly batch?: number }) => Promise<ChainState>;
  /** The clock, milliseconds since 1970. */
  readonly now: () => number;
}

export interface ChainStart {
  readonly anchorPath: string | undefined;
  /** Whether a ledger that does not match its chain or anchor is rejected. */
  readonly isChecked: boolean;
  /** Whether processes with other anchors can prune the ledger, too; an unlisted pruning is then only a warning. */
  readonly hasOtherAnchors: boolean;
}

/** The hash chain of an open ledger: verifies it, keeps its anchor, and prunes archived events. */
export class LedgerChain {
  readonly #options: LedgerChainOptions;
  #anchorPath: string | undefined;
  #keeper: AnchorKeeper | undefined;
  #prunings: PruningList | undefined;

  constructor(options: LedgerChainOptions) {
    this.#options = options;
  }

  /**
   * Verifies the end of the chain and keeps the anchor from now on.
   * @returns the time of the ledger
   * @throws Fault `ledger_unavailable` if the ledger does not match its chain or anchor
   */
  async start({ anchorPath: path, isChecked, hasOtherAnchors }: ChainStart): Promise<string> {
    const { call, readState } = this.#options;
    const anchor = path === undefined || !isChecked ? undefined : await readAnchor(path);
    const state = await readState(batchOf(anchor));
    if (isChecked) {
      const mismatch = anchor === undefined ? undefined : anchorProblem(anchor, state);
      if (mismatch !== undefined) throw anchorFault(mismatch, path ?? "");
      const { problem } = await call("chainTail", undefined);
      if (problem !== undefined) throw brokenChainFault(problem);
    }
    this.#anchorPath = path;
    if (path !== undefined) {
      this.#prunings = new PruningList(path);
      if (isChecked) await this.#checkPrunings(this.#prunings, { hasOtherAnchors });
      this.#keeper = new AnchorKeeper({ path, readState });
      if (isChecked && anchor === undefined) this.#keeper.update();
    }
    return state.lastAt;
  }

  /** Compares the records of pruning with the list beside the anchor, and begins it if there is none. */
  async #checkPrunings(list: PruningList, { hasOtherAnchors }: Pick<ChainStart, "hasOtherAnchors">): Promise<void> {
    const records = await this.#options.call("prunings", undefined);
    const unlisted = await list.unlisted(records);
    if (unlisted === undefined) {
      // As with the anchor, a folder that cannot be written does not keep the ledger from being opened.
      await list.begin(records).catch((error: unknown) => {
        warn(`The list of prunings, ${list.path}, could not be written: ${String(error)}.`);
      });
      return;
    }
    const [record] = unlisted;
    if (record === undefined) return;
    const { detail } = list.problem(record);
    if (!hasOtherAnchors) throw new Fault("ledger_unavailable", detail, { details: { path: list.path } });
    warn(detail);
  }

  /** Schedules a write of the anchor after a commit. */
  onCommit(): void {
    this.#keeper?.update();
  }

  /** How long writing the anchor has failed, milliseconds; 0 if it has not. */
  get anchorUnwrittenMs(): number {
    return this.#keeper?.unwrittenMs ?? 0;
  }

  /** The reason why the ledger does not match its anchor, or why that has not been written for too long. */
  get anchorFault(): Fault | undefined {
    return this.#keeper?.fault;
  }

  /** Writes the anchor a last time. */
  async close(): Promise<void> {
    await this.#keeper?.close();
  }

  async audit(options: AuditOptions): Promise<AuditReport> {
    const { call } = this.#options;
    const problems: ChainProblem[] = [];
    const anchor = await this.#readAnchor(problems);
    const state = await call("chainState", batchOf(anchor));
    const mismatch = anchor === undefined ? undefined : anchorProblem(anchor, state);
    if (mismatch !== undefined) problems.push(mismatch);
    for (const detail of await call("fileDamage", undefined)) problems.push({ code: "file_damaged", detail });
    const verified = await this.#verify(state, options.onProgress);
    problems.push(...verified.problems);
    const records = await call("prunings", undefined);
    const now = new Date(this.#options.now()).toISOString();
    problems.push(...findFuturePrunings(records, { now, ledgerTime: state.lastAt }));
    problems.push(...(await this.#findArchiveProblems(state.ledgerId, records, options)));
    const { hasChangedPrunedSums, ...sums } = await call("auditSums", undefined);
    const { pruned } = state;
    if (hasChangedPrunedSums) {
      const detail =
        pruned === undefined
          ? "There are sums of archived records, although none are archived."
          : `Hourly sums before ${pruned.before_day}, whose events are archived, were changed.`;
      problems.push({ code: "pruned_sums_changed", detail });
    }
    const hasDifferences = sums.differences.length > 0 || sums.sumDifferences.length > 0;
    const areProven = options.readArchive !== undefined && problems.length === 0 && !hasDifferences;
    problems.push(...(await this.#findUnlistedPrunings(records, { areProven })));
    const chain: ChainReport = {
      ledgerId: state.ledgerId,
      head: { batch: state.head.batch, hash: state.head.hash },
      batchCount: verified.batchCount,
      eventCount: verified.eventCount,
      archives: records.map((record) => ({
        before: record.before_day,
        eventCount: record.event_count,
        head: { batch: record.last_batch, hash: record.last_hash },
        name: record.archive_name,
        sha256: record.archive_sha256,
      })),
      areArchivesVerified: options.readArchive !== undefined,
      ...(anchor === undefined ? {} : { anchor }),
      problems,
    };
    return { chain, ...sums };
  }

  /** Verifies the chain from its start to `state.head`. */
  async #verify(
    { head, pruned }: ChainState,
    onProgress: AuditOptions["onProgress"],
  ): Promise<{ readonly batchCount: number; readonly eventCount: number; readonly problems: readonly ChainProblem[] }> {
    const firstBatch = pruned?.last_batch ?? 0;
    let batchCount = 0;
    let eventCount = 0;
    for (let after: ChainPosition | undefined; ;) {
      const page = await this.#options.call("chainPage", { after, toBatch: head.batch });
      after = page.position;
      batchCount += page.batchCount;
      eventCount += page.eventCount;
      onProgress?.(Math.max(after.batch - firstBatch, 0), head.batch - firstBatch);
      if (page.problem !== undefined) return { batchCount, eventCount, problems: [page.problem] };
      if (page.isLast) return { batchCount, eventCount, problems: [] };
    }
  }

  /** Verifies the records of pruning, the archives if they can be read, and that an earlier head is still in the chain. */
  async #findArchiveProblems(
    ledgerId: string,
    records: readonly PruneRow[],
    { expectedHead, readArchive }: AuditOptions,
  ): Promise<readonly ChainProblem[]> {
    const problems: ChainProblem[] = [];
    // The chain covers the latest record; each record covers the one before it.
    for (const [i, { batch, previous_prune }] of records.entries()) {
      if (previous_prune === pruneHash(records[i - 1])) continue;
      const detail = `The record of pruning before that in batch ${batch} was changed or is missing.`;
      problems.push({ code: "prune_record_changed", batch, detail });
    }
    const archives =
      readArchive === undefined
        ? undefined
        : await auditArchives({ ledgerId, records, readArchive, head: expectedHead });
    if (archives?.problem !== undefined) problems.push(archives.problem);
    if (expectedHead !== undefined && archives?.hasHead !== true) {
      const problem = await this.#findHead(expectedHead, { isArchiveRead: readArchive !== undefined });
      const unverified = readArchive === undefined ? findUnverifiedPruning(records, expectedHead) : undefined;
      if (problem === undefined && unverified !== undefined) problems.push(unverified);
      if (problem !== undefined) problems.push(problem);
    }
    return problems;
  }

  /** Returns a problem for each pruning that is not listed. If the archives prove the prunings, lists them instead. */
  async #findUnlistedPrunings(
    records: readonly PruneRow[],
    { areProven }: { readonly areProven: boolean },
  ): Promise<readonly ChainProblem[]> {
    const list = this.#prunings;
    if (list === undefined) return [];
    let unlisted: readonly PruneRow[];
    try {
      unlisted = (await list.unlisted(records)) ?? [];
    } catch (error) {
      if (!isFault(error)) throw error;
      return [{ code: "pruning_list_unreadable", detail: error.message }];
    }
    if (unlisted.length === 0) return [];
    if (!areProven) return unlisted.map((record) => list.problem(record));
    await list.add(unlisted, "archive_verified");
    return [];
  }

  /** Returns a problem if the chain in the ledger does not contain a head that was noted earlier. */
  async #findHead(
    { batch, hash }: ChainHead,
    { isArchiveRead }: { readonly isArchiveRead: boolean },
  ): Promise<ChainProblem | undefined> {
    const { head, hashAtBatch, pruned } = await this.#options.call("chainState", { batch });
    const missing = (reason: string): ChainProblem => {
      return { code: "head_not_found", batch, detail: `The chain does not contain ${batch}:${hash}: ${reason}.` };
    };
    if (pruned !== undefined && batch < pruned.last_batch) {
      return missing(
        isArchiveRead ? "the archives do not contain it" : "that batch is archived; give the folder of the archives",
      );
    }
    const found = pruned?.last_batch === batch ? pruned.last_hash : hashAtBatch;
    if (found === hash) return undefined;
    return missing(
      batch > head.batch ? `the chain ends with batch ${head.batch}` : "that batch has another hash or is missing",
    );
  }

  async #readAnchor(problems: ChainProblem[]): Promise<Anchor | undefined> {
    if (this.#anchorPath === undefined) return undefined;
    try {
      return await readAnchor(this.#anchorPath);
    } catch (error) {
      if (!isFault(error)) throw error;
      problems.push({ code: "anchor_mismatch", detail: error.message });
      return undefined;
    }
  }

  async head(): Promise<ChainHead> {
    const { head } = await this.#options.call("chainState", {});
    return { batch: head.batch, hash: head.hash };
  }

  async acceptRestored(): Promise<ChainHead> {
    const head = await this.head();
    const records = await this.#options.call("prunings", undefined);
    const unlisted = await this.#prunings?.unlisted(records);
    if (unlisted !== undefined && unlisted.length > 0) await this.#prunings?.add(unlisted, "accepted");
    await this.#keeper?.replace();
    return head;
  }

  async prune(
    plan: PrunePlan,
    write: (batches: AsyncIterable<ArchivedBatch>) => Promise<{ readonly name: string; readonly sha256: string }>,
    onProgress: (deletedCount: number) => void,
  ): Promise<ChainHead> {
    const { call } = this.#options;
    if (plan.undeletedCount > 0) await this.#verifyBeforeDeletion();
    if (plan.batchCount > 0) {
      // An anchor at an archived batch could no longer be compared.
      await this.#keeper?.write();
      const { name, sha256 } = await write(this.#archivedBatches(plan));
      const prepared = await call("preparePrune", { plan, archiveName: name, archiveSha256: sha256 });
      await this.#prunings?.add([prepared.row], "pruned");
      await call("recordPrune", prepared);
      await this.#keeper?.write();
    }
    for (let total = 0; ;) {
      const count = await call("deletePruned", undefined);
      if (count === 0) return this.head();
      total += count;
      onProgress(total);
    }
  }

  /** Verifies that the record of an interrupted pruning, which permits its deletions, is part of the chain and listed. */
  async #verifyBeforeDeletion(): Promise<void> {
    const state = await this.#options.call("chainState", {});
    const [problem] = (await this.#verify(state, undefined)).problems;
    if (problem !== undefined) throw brokenChainFault(problem);
    const records = state.pruned === undefined ? [] : [state.pruned];
    const [unlisted] = await this.#findUnlistedPrunings(records, { areProven: false });
    if (unlisted !== undefined) throw new Fault("ledger_unavailable", unlisted.detail);
  }

  /** Yields the batches of a plan with their events, verified. */
  async *#archivedBatches({ head }: PrunePlan): AsyncGenerator<ArchivedBatch> {
    for (let after: ChainPosition | undefined; ;) {
      const page = await this.#options.call("chainPage", { after, toBatch: head.batch, withEvents: true });
      if (page.problem !== undefined) throw brokenChainFault(page.problem);
      let next = 0;
      for (const { batch, hash, event_count } of page.batches) {
        const events = page.events.slice(next, (next += event_count)).map(recordedEntryOf);
        yield { batch, hash, events };
      }
      after = page.position;
      if (page.isLast) return;
    }
  }
}

function batchOf(anchor: Anchor | undefined): { readonly batch?: number } {
  return anchor === undefined ? {} : { batch: anchor.batch };
}

function brokenChainFault({ detail }: ChainProblem): Fault {
  const message = `The usage in the ledger does not match its hash chain: ${detail} Run isotherm usage audit, and restore a backup.`;
  return new Fault("ledger_unavailable", message);
}
