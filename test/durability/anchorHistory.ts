import { bytesOf, type TracedCall } from "./syscallTrace.ts";

/** A version of the anchor, and the position in the trace at which it began to replace the previous one. */
interface AnchorVersion {
  readonly start: number;
  readonly text: string;
}

const ANCHOR = /ledger-anchor\.json(\.writing-[\d-]+)?$/;

/** The versions of a ledger's anchor that a program wrote, from a system call trace. */
export class AnchorHistory {
  readonly #versions: AnchorVersion[] = [];

  constructor(calls: readonly TracedCall[]) {
    let text = "";
    let isSynced = false;
    for (const call of calls) {
      if (!ANCHOR.test(call.path)) continue;
      // Not when the current anchor is read before it is replaced.
      if (call.name === "openat" && call.path.includes(".writing-")) text = "";
      else if (call.name === "write" || call.name === "pwrite64") {
        text += bytesOf(call).toString();
        isSynced = false;
      } else if (call.name === "fsync" || call.name === "fdatasync") isSynced = true;
      else if (call.name === "rename") {
        if (!isSynced) throw new Error("The anchor was renamed before it was synced.");
        this.#versions.push({ start: call.start, text });
      }
    }
  }

  get versionCount(): number {
    return this.#versions.length;
  }

  /** Returns the newest anchor that a power loss at a moment can have left: that of the last rename that had started. */
  newestAt(moment: number): { readonly ledger_id: string; readonly batch: number; readonly hash: string } | undefined {
    const version = this.#versions.findLast(({ start }) => start < moment);
    return version === undefined
      ? undefined
      : (JSON.parse(version.text) as { ledger_id: string; batch: number; hash: string });
  }
}
