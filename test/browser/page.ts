/** Functions that the page exposes to the test that drives it. Bundled as a user of the package would bundle it. */
import { inflateRaw } from "../../src/atlas/inflate.browser.ts";
import { isFault, openAtlas } from "../../src/index.ts";
import { goldenHash, type GoldenResult, type GoldenRun } from "../goldenQueries.ts";

/** The parameters of a golden run on the atlas at `address`; they can be sent to the page as JSON. */
export interface PageRun extends GoldenRun {
  readonly address: string;
}

export interface Page {
  /** Runs on the main thread of the page. */
  golden(run: PageRun): Promise<GoldenResult>;
  /** Runs in a module worker. */
  goldenInWorker(run: PageRun): Promise<GoldenResult>;
  /** Returns the error with which opening the atlas fails, or undefined. */
  rejection(address: string): Promise<{ readonly code: string; readonly message: string } | undefined>;
  /** Returns the inflated bytes, or the error as text. */
  inflate(bytes: readonly number[], sizeBytes: number): Promise<readonly number[] | string>;
}

const page: Page = {
  async golden({ address, ...run }) {
    const atlas = await openAtlas(address);
    try {
      return await goldenHash(atlas, run);
    } finally {
      await atlas.close();
    }
  },

  goldenInWorker(run) {
    const worker = new Worker(new URL("pageWorker.ts", import.meta.url), { type: "module" });
    const result = new Promise<GoldenResult>((resolve, reject) => {
      worker.addEventListener("message", ({ data }: MessageEvent<{ result: GoldenResult } | { error: string }>) => {
        if ("error" in data) reject(new Error(data.error));
        else resolve(data.result);
      });
      worker.addEventListener("error", ({ message }) => reject(new Error(`the worker failed: ${message}`)));
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- for windows; workers have no target origin
    worker.postMessage(run);
    return result.finally(() => worker.terminate());
  },

  async rejection(address) {
    try {
      await (await openAtlas(address)).close();
      return undefined;
    } catch (error) {
      if (!isFault(error)) throw error;
      return { code: error.code, message: error.message };
    }
  },

  async inflate(bytes, sizeBytes) {
    try {
      return [...(await inflateRaw(Uint8Array.from(bytes), sizeBytes))];
    } catch (error) {
      return String(error);
    }
  },
};

Object.assign(globalThis, { page });
