import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { Fault } from "../../errors.ts";
import { hashFile } from "../../files/files.ts";
import type { InputIdentity } from "./placeJob.ts";

/** Identifies a file by its content, and finds out whether it changes while it is read. */
export class InputWatch {
  readonly identity: InputIdentity;
  readonly #path: string;
  readonly #stats: BigIntStats;

  private constructor(path: string, stats: BigIntStats, identity: InputIdentity) {
    this.#path = path;
    this.#stats = stats;
    this.identity = identity;
  }

  static async start(path: string): Promise<InputWatch> {
    const stats = await stat(path, { bigint: true });
    const sha256 = await hashFile(path);
    return new InputWatch(path, stats, { name: basename(path), size_bytes: Number(stats.size), sha256 });
  }

  /** @throws Fault `invalid_request` if the file has changed since `start` */
  async checkUnchanged(): Promise<void> {
    const { ino, size, mtimeNs } = await stat(this.#path, { bigint: true });
    if (ino === this.#stats.ino && size === this.#stats.size && mtimeNs === this.#stats.mtimeNs) return;
    const message = `${this.#path} has changed while it was read. Run the command again, with --restart to discard the unfinished output.`;
    throw new Fault("invalid_request", message);
  }
}
