import { Fault, isFault } from "../errors.ts";
import { anchorFault, anchorProblem, readAnchor } from "./anchor.ts";
import { AnchorKeeper } from "./anchorKeeper.ts";
import { auditArchives } from "./archiveAudit.ts";
import { pruneHash, type PruneRow } from "./chain.ts";
import type { Anchor, AuditOptions, ChainHead, ChainProblem, ChainReport, PrunePlan } from "./chainReport.ts";
import type { ChainPosition, ChainState } from "./chainState.ts";
import type { ArchivedBatch, AuditReport } from "./ledger.ts";
import type { ArgumentOf, MethodName, ResultOf } from "./methods.ts";
import { findFuturePrunings, findUnverifiedPruning } from "./pruneAudit.ts";
import { recordedEntryOf } from "./usage.ts";

export interface LedgerChainOptions {
  /** Calls a method of the storage. */
  readonly call: <Name extends MethodName>(name: Name, argument: ArgumentOf<Name>) => Promise<ResultOf<Name>>;
  /** Reads the end of the chain, also while the ledger is being closed. */
  readonly readState: (query: { readonly batch?: number }) => Promise<ChainState>;
  /** The clock, milliseconds since 1970. */
  readonly now: () => number;
}

/** The hash chain of an open ledger: verifies it, keeps its anchor, and prunes archived events. */
export class LedgerChain {
  readonly #options: LedgerChainOptions;
  #anchorPath: string | undefined;
  #keeper: AnchorKeeper | undefined;

  constructor(options: LedgerChainOptions) {
    this.#options = options;
  }

  /**
   * Verifies the end of the chain and keeps the anchor from now on.
   * @returns the time of the ledger
   * @throws Fault `ledger_unavailable` if the ledger does not match its chain or anchor
   */
  async start(options: { readonly anchorPath: string | undefined; readonly isChecked: boolean }): Promise<string> {
    const { anchorPath: path, isChecked } = options;
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
      this.#keeper = new AnchorKeeper({ path, readState });
      if (isChecked && anchor === undefined) this.#keeper.update();
    }
    return state.lastAt;
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
      await call("recordPrune", { plan, archiveName: name, archiveSha256: sha256 });
      await this.#keeper?.write();
    }
    for (let total = 0; ;) {
      const count = await call("deletePruned", undefined);
      if (count === 0) return this.head();
      total += count;
      onProgress(total);
    }
  }

  /** Verifies that the record of an interrupted pruning, which permits its deletions, is part of the chain. */
  async #verifyBeforeDeletion(): Promise<void> {
    const { problems } = await this.#verify(await this.#options.call("chainState", {}), undefined);
    const [problem] = problems;
    if (problem !== undefined) throw brokenChainFault(problem);
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
