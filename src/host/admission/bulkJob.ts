import type { SliceReport } from "../../pool/poolWorker.ts";
import type { HeldResources, Slot } from "./slot.ts";

/** The part of a job that one worker runs. */
interface JobPart {
  readonly totalCount: number;
  /** Size of the part's copy of its input. */
  readonly payloadBytes: number;
  readonly doneCount: number;
  /** Size of the partial result. */
  readonly partialResultBytes: number;
}

/** A large request in progress: its cost so far, its progress, and the memory that it holds. */
export class BulkJob {
  readonly slot: Slot;
  readonly account: HeldResources;
  /** Path template of the route. */
  readonly route: string;
  /** Total time of all workers; 0 without workers. */
  #busyMs = 0;
  #parts: JobPart[] = [];

  constructor(slot: Slot, account: HeldResources, route: string) {
    this.slot = slot;
    this.account = account;
    this.route = route;
  }

  get busyMs(): number {
    return this.#busyMs;
  }

  /** Size of the request's body, its parts and their partial results. */
  get heldBytes(): number {
    return this.#parts.reduce(
      (sum, { payloadBytes, partialResultBytes }) => sum + payloadBytes + partialResultBytes,
      this.slot.bodyBytes,
    );
  }

  /** Fraction of the elements that are done; undefined before the first is done. */
  get doneFraction(): number | undefined {
    const totalCount = this.#parts.reduce((sum, part) => sum + part.totalCount, 0);
    const doneCount = this.#parts.reduce((sum, part) => sum + part.doneCount, 0);
    return doneCount === 0 ? undefined : doneCount / totalCount;
  }

  /** Divides the job into parts. */
  startParts(parts: readonly Pick<JobPart, "totalCount" | "payloadBytes">[]): void {
    this.#parts = parts.map((part) => ({ ...part, doneCount: 0, partialResultBytes: 0 }));
  }

  /** Records a time slice of a part. */
  recordSlice(index: number, { busyMs, progress }: SliceReport): void {
    this.addBusyMs(busyMs);
    if (progress === undefined) return;
    this.#parts[index] = { payloadBytes: this.#parts[index]?.payloadBytes ?? 0, ...progress };
  }

  addBusyMs(busyMs: number): void {
    this.#busyMs += busyMs;
  }
}
