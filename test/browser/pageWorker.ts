import { openAtlas } from "../../src/index.ts";
import { goldenHash } from "../goldenQueries.ts";
import type { PageRun } from "./page.ts";

addEventListener("message", ({ data: { address, ...run } }: MessageEvent<PageRun>) => {
  const respond = async (): Promise<void> => {
    const atlas = await openAtlas(address);
    postMessage({ result: await goldenHash(atlas, run) });
    await atlas.close();
  };
  respond().catch((error: unknown) => postMessage({ error: String(error) }));
});
