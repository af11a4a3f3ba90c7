import type { BulkJob } from "./bulkJob.ts";
import type { HeldResources } from "./slot.ts";

/** A rejected job's turn: the time at which its client was told to retry. */
interface Appointment {
  readonly account: HeldResources;
  readonly costMs: number;
  readonly dueMs: number;
}

/** Retries may arrive this much before the time that they were told, which is in whole seconds. */
const EARLY_MS = 100;
/** An appointment is void if the client does not retry within this time after it. */
const LATE_MS = 3_000;
/** More clients of an account share the last appointment. */
const APPOINTMENTS_PER_ACCOUNT_MAX = 64;
/** Rejected jobs are told to retry when the wait has become this share of the deadline: estimates are not exact. */
const TARGET_SHARE = 0.85;
const RETRY_AFTER_S_MAX = 120;

/**
 * Estimates when jobs complete, and tells rejected ones when to retry. Accounts share the workers equally and an account's
 * jobs run one after the other, so another account delays a job by no more work than that of the job's account before it:
 *
 *     wait = sum over accounts of min(work of the account, work of the job's account up to the job) / workers
 *
 * Rejected jobs have appointments, because they would otherwise all retry at the same time and all but one be rejected
 * again. Until it is void, an appointment counts as work for jobs that have none.
 */
export class JobSchedule {
  readonly #workerCount: number;
  readonly #nowMs: () => number;
  /** In the order of admission. */
  readonly #jobs = new Set<BulkJob>();
  #appointments: Appointment[] = [];

  constructor({ workerCount, nowMs }: { readonly workerCount: number; readonly nowMs: () => number }) {
    this.#workerCount = workerCount;
    this.#nowMs = nowMs;
  }

  get jobs(): ReadonlySet<BulkJob> {
    return this.#jobs;
  }

  add(job: BulkJob): void {
    this.#jobs.add(job);
  }

  /** @returns false if the job was not running */
  delete(job: BulkJob): boolean {
    return this.#jobs.delete(job);
  }

  /** Uses the account's earliest appointment. @returns false if none is due */
  claimAppointment(account: HeldResources): boolean {
    const nowMs = this.#nowMs();
    this.#appointments = this.#appointments.filter(({ dueMs }) => dueMs + LATE_MS > nowMs);
    const index = this.#appointments.findIndex((each) => each.account === account && each.dueMs - EARLY_MS <= nowMs);
    if (index >= 0) this.#appointments.splice(index, 1);
    return index >= 0;
  }

  /** Returns the time until a job is done, or would be if it were admitted now. */
  waitMs(job: BulkJob): number {
    const workOf = this.#workByAccount(job.hasAppointment);
    const ownMs = this.#jobs.has(job) ? 0 : job.totalMs;
    return this.#waitAfter(workOf, job.account, (workOf.get(job.account) ?? 0) + ownMs);
  }

  /** Returns the job that was admitted last among those that will miss their deadline. */
  findLateJob(): BulkJob | undefined {
    const workOf = this.#workByAccount(true);
    const upTo = new Map<HeldResources, number>();
    const nowMs = this.#nowMs();
    let late: BulkJob | undefined;
    for (const job of this.#jobs) {
      const workMs = (upTo.get(job.account) ?? 0) + job.remainingMs;
      upTo.set(job.account, workMs);
      if (nowMs + this.#waitAfter(workOf, job.account, workMs) > job.deadlineAtMs) late = job;
    }
    return late;
  }

  /**
   * Makes an appointment for a rejected job, which is not waited for itself.
   * @param limitMs the wait with which it will be admitted; 0 if it must wait for a job to end
   * @returns the value of Retry-After, 1 to 120 s
   */
  retryAfterS(job: BulkJob, limitMs: number): number {
    const { account } = job;
    const nowMs = this.#nowMs();
    const own = this.#appointments.filter((each) => each.account === account);
    const workOf = this.#workByAccount(false, job);
    const waitMs =
      limitMs > 0
        ? this.#waitAfter(workOf, account, (workOf.get(account) ?? 0) + job.totalMs) - TARGET_SHARE * limitMs
        : this.firstEndMs(account) * (1 + own.length);
    const afterS = Math.min(RETRY_AFTER_S_MAX, Math.max(1, Math.ceil(waitMs / 1000)));
    if (own.length < APPOINTMENTS_PER_ACCOUNT_MAX) {
      this.#appointments.push({ account, costMs: job.totalMs, dueMs: nowMs + 1000 * afterS });
    }
    return afterS;
  }

  /** Returns the time until the first job ends, of the account's if it has any. */
  firstEndMs(account: HeldResources): number {
    let own = Infinity;
    let any = Infinity;
    for (const job of this.#jobs) {
      any = Math.min(any, job.remainingMs);
      if (job.account === account) own = Math.min(own, job.remainingMs);
    }
    const remainingMs = own < Infinity ? own : any;
    return remainingMs < Infinity ? remainingMs / this.#workerCount : 0;
  }

  #workByAccount(ignoresAppointments: boolean, except?: BulkJob): Map<HeldResources, number> {
    const workOf = new Map<HeldResources, number>();
    const add = (account: HeldResources, workMs: number): void => {
      workOf.set(account, (workOf.get(account) ?? 0) + workMs);
    };
    for (const job of this.#jobs) if (job !== except) add(job.account, job.remainingMs);
    if (ignoresAppointments) return workOf;
    const nowMs = this.#nowMs();
    for (const { account, costMs, dueMs } of this.#appointments) if (dueMs + LATE_MS > nowMs) add(account, costMs);
    return workOf;
  }

  #waitAfter(workOf: ReadonlyMap<HeldResources, number>, account: HeldResources, accountMs: number): number {
    let sumMs = accountMs;
    for (const [other, workMs] of workOf) if (other !== account) sumMs += Math.min(workMs, accountMs);
    return sumMs / this.#workerCount;
  }
}
