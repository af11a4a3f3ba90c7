import type { BulkJob } from "./bulkJob.ts";
import type { HeldResources } from "./slot.ts";

/** A rejected job's turn: the time at which its client was asked to retry. */
interface Appointment {
  readonly account: HeldResources;
  readonly costMs: number;
  readonly dueMs: number;
  /** When the job was rejected for the first time, which decides its place in the queue. */
  readonly sinceMs: number;
}

/** Retries may arrive this much before the time given to them, which is in whole seconds. */
const EARLY_MS = 100;
/** An appointment is void if the client does not retry within this time after it. */
const LATE_MS = 3_000;
/** More clients of an account share the last appointment. */
const APPOINTMENTS_PER_ACCOUNT_MAX = 64;
/** A job is admitted if its estimated wait is at most this share of its deadline. */
export const ADMITTED_SHARE = 0.9;
/** Rejected jobs are asked to retry when the wait has become this share of the deadline: estimates are not exact. */
const TARGET_SHARE = 0.7;
/** Share of its duration by which a job that takes almost the whole deadline is asked to retry later than estimated. */
const LONG_JOB_MARGIN = 0.05;
const RETRY_AFTER_S_MAX = 3_600;
/**
 * Estimates when jobs complete, and tells rejected ones when to retry. Accounts share the workers equally and an account's
 * jobs run one after the other, so another account delays a job by no more work than that of the job's account before it:
 *
 *     wait = sum over accounts of min(work of the account, work of the job's account up to the job) / workers
 *
 * Rejected jobs have appointments, because they would otherwise all retry at the same time and all but one be rejected
 * again. Jobs without an appointment are admitted as long as they do not delay those that have one: for them, appointments of
 * other accounts count as work that has arrived. For a job that comes to its appointment, they count from the time at which
 * they are due, because its jobs will share the workers before the job is done. A job that is rejected in spite of its
 * appointment keeps its place in the queue.
 */
export class JobSchedule {
  readonly #workerCount: number;
  readonly #nowMs: () => number;
  /** In the order of admission. */
  readonly #jobs = new Set<BulkJob>();
  #appointments: Appointment[] = [];
  /** Accounts whose latest appointment is void. */
  readonly #missing = new WeakSet<HeldResources>();

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

  /**
   * Uses the appointment of the account that is due and has waited longest.
   * @returns its place in the queue; undefined if no appointment is due
   */
  claimAppointment(account: HeldResources): number | undefined {
    const nowMs = this.#nowMs();
    this.#forgetVoid(nowMs);
    let first: Appointment | undefined;
    for (const each of this.#appointments) {
      if (each.account !== account || each.dueMs - EARLY_MS > nowMs) continue;
      if (first === undefined || each.sinceMs < first.sinceMs) first = each;
    }
    if (first === undefined) return undefined;
    this.#appointments = this.#appointments.filter((each) => each !== first);
    this.#missing.delete(account);
    return first.sinceMs;
  }

  /** Returns whether there is no other job. */
  isAlone(job: BulkJob): boolean {
    return this.#jobs.size === (this.#jobs.has(job) ? 1 : 0);
  }

  /** Returns the time until a job is done, or would be if it were admitted now. */
  waitMs(job: BulkJob): number {
    const { account, queuedSinceMs } = job;
    // A running job is part of the work ahead.
    const ownMs = this.#jobs.has(job) ? 0 : job.totalMs;
    if (queuedSinceMs !== undefined) {
      const workOf = this.#workAhead(account, { sinceMs: queuedSinceMs, isAfterOthers: false });
      addWork(workOf, account, ownMs);
      return this.#simulateWait(workOf, account);
    }
    const workOf = this.#workAhead(account, { sinceMs: -Infinity, isAfterOthers: true });
    return this.#waitAfter(workOf, account, (workOf.get(account) ?? 0) + ownMs);
  }

  /** Returns the time until an account's work is done if the jobs of other accounts' appointments arrive when they are due. */
  #simulateWait(workOf: Map<HeldResources, number>, account: HeldResources): number {
    const nowMs = this.#nowMs();
    const arrivals = this.#appointments
      .filter((each) => each.account !== account && !this.#missing.has(each.account) && each.dueMs + LATE_MS > nowMs)
      .toSorted((first, second) => second.dueMs - first.dueMs);
    let atMs = nowMs;
    for (;;) {
      const next = arrivals.at(-1);
      if (next !== undefined && next.dueMs <= atMs) {
        arrivals.pop();
        addWork(workOf, next.account, next.costMs);
        continue;
      }
      const leastMs = Math.min(...workOf.values());
      const perMs = this.#workerCount / workOf.size;
      const stepMs = Math.min(leastMs / perMs, (next?.dueMs ?? Infinity) - atMs);
      atMs += stepMs;
      for (const [other, workMs] of workOf) {
        const leftMs = workMs - stepMs * perMs;
        if (leftMs > 1e-6) workOf.set(other, leftMs);
        else if (other === account) return atMs - nowMs;
        else workOf.delete(other);
      }
    }
  }

  /**
   * Returns whether the appointments of a job's account can be kept if the job runs before them.
   * @param limitMs the wait with which a job is admitted
   */
  keepsAppointments(job: BulkJob, limitMs: number): boolean {
    const { account, queuedSinceMs } = job;
    // Clients that do not come back must not keep others waiting.
    if (queuedSinceMs !== undefined || this.#missing.has(account)) return true;
    const nowMs = this.#nowMs();
    const workOf = this.#workAhead(account, { sinceMs: -Infinity, isAfterOthers: true }, job);
    let aheadMs = (workOf.get(account) ?? 0) + job.likelyMs;
    const own = this.#appointments.filter((each) => each.account === account);
    for (const { dueMs, costMs } of own.toSorted((first, second) => first.dueMs - second.dueMs)) {
      const untilMs = Math.max(0, dueMs - nowMs);
      // Otherwise all earlier work is done by then.
      const isAhead = this.#waitAfter(workOf, account, aheadMs) > untilMs;
      if (isAhead && this.#waitAfter(workOf, account, aheadMs + costMs) - untilMs > limitMs) return false;
      aheadMs += costMs;
    }
    return true;
  }

  /** Returns the job that was admitted last among those that will miss their deadline. */
  findLateJob(): BulkJob | undefined {
    const workOf = this.#workOfJobs();
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
   * @param sinceMs its place in the queue; absent: that of its appointment, or else the last
   * @returns the value of Retry-After, 1 to 3,600 s
   */
  retryAfterS(job: BulkJob, limitMs: number, sinceMs = job.queuedSinceMs): number {
    const { account, likelyMs } = job;
    const nowMs = this.#nowMs();
    const own = this.#appointments.filter((each) => each.account === account);
    const workOf = this.#workAhead(
      account,
      { sinceMs: sinceMs ?? Infinity, isAfterOthers: sinceMs === undefined },
      job,
    );
    const waitMs =
      limitMs > 0
        ? this.#waitAfter(workOf, account, (workOf.get(account) ?? 0) + likelyMs) - this.#targetMs(likelyMs, limitMs)
        : this.firstEndMs(account) * (1 + own.length);
    const afterS = Math.min(RETRY_AFTER_S_MAX, Math.max(1, Math.ceil(waitMs / 1000)));
    if (own.length < APPOINTMENTS_PER_ACCOUNT_MAX) {
      this.#appointments.push({ account, costMs: likelyMs, dueMs: nowMs + 1000 * afterS, sinceMs: sinceMs ?? nowMs });
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

  /** Returns the wait with which a rejected job is to return. */
  #targetMs(costMs: number, limitMs: number): number {
    const ownMs = costMs / this.#workerCount;
    const admittedMs = ADMITTED_SHARE * limitMs;
    if (ownMs >= admittedMs) return (1 - LONG_JOB_MARGIN) * ownMs;
    // Not so late that the workers are idle before it returns.
    return Math.max(TARGET_SHARE * limitMs, (ownMs + admittedMs) / 2);
  }

  #forgetVoid(nowMs: number): void {
    this.#appointments = this.#appointments.filter(({ account, dueMs }) => {
      const isVoid = dueMs + LATE_MS <= nowMs;
      if (isVoid) this.#missing.add(account);
      return !isVoid;
    });
  }

  /** Returns the work of all jobs except one. */
  #workOfJobs(except?: BulkJob): Map<HeldResources, number> {
    const workOf = new Map<HeldResources, number>();
    for (const job of this.#jobs) if (job !== except) addWork(workOf, job.account, job.remainingMs);
    return workOf;
  }

  /**
   * Returns the work of all jobs except one, and of the appointments that come before a place in the queue of an account.
   * @param place.sinceMs -Infinity is before all appointments of the account, Infinity after them
   * @param place.isAfterOthers whether the appointments of other accounts come before it, too
   */
  #workAhead(
    account: HeldResources,
    { sinceMs, isAfterOthers }: { readonly sinceMs: number; readonly isAfterOthers: boolean },
    except?: BulkJob,
  ): Map<HeldResources, number> {
    const workOf = this.#workOfJobs(except);
    const nowMs = this.#nowMs();
    for (const each of this.#appointments) {
      if (each.dueMs + LATE_MS <= nowMs) continue;
      // Accounts whose clients do not come back must not keep others waiting.
      const isAhead =
        each.account === account ? each.sinceMs < sinceMs : isAfterOthers && !this.#missing.has(each.account);
      if (isAhead) addWork(workOf, each.account, each.costMs);
    }
    return workOf;
  }

  #waitAfter(workOf: ReadonlyMap<HeldResources, number>, account: HeldResources, accountMs: number): number {
    let sumMs = accountMs;
    for (const [other, workMs] of workOf) if (other !== account) sumMs += Math.min(workMs, accountMs);
    return sumMs / this.#workerCount;
  }
}

function addWork(workOf: Map<HeldResources, number>, account: HeldResources, workMs: number): void {
  workOf.set(account, (workOf.get(account) ?? 0) + workMs);
}
