import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import { ingestLayers } from "../../../src/ingest/ingest.ts";
import { makeGeoTiff } from "../makeGeoTiff.ts";
import {
  folder,
  PLAIN,
  type RespondTo,
  sendRange,
  startServer,
  useSidecarFolder,
  WHOLE_WINDOW,
  withSidecars,
} from "./sidecarFixture.ts";

useSidecarFolder();

describe("an abort", () => {
  const reason = new Error("enough");

  test("before opening rejects with the reason of the signal", async () => {
    const file = await withSidecars({});
    await expect(openGeoTiff(file, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test("stops the opening of a map whose server does not respond", async () => {
    const stopping = new AbortController();
    const address = await startServer({}, { "map.tif": () => stopping.abort(reason) });
    await expect(openGeoTiff(`${address}/map.tif`, { signal: stopping.signal })).rejects.toBe(reason);
  });

  test("stops reading an endless chain of directories", async () => {
    // Each directory points to the next in a file of 1 TB.
    const stopping = new AbortController();
    let requestCount = 0;
    const respond: RespondTo = (request, response) => {
      const [, from = "0", to = "0"] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      const [first, last] = [Number(from), Number(to)];
      if (++requestCount === 20) stopping.abort(reason);
      const bytes = Buffer.alloc(last - first + 1);
      const PAGE = 65_536;
      for (let at = Math.ceil(first / PAGE) * PAGE; at <= last; at += PAGE) {
        const directory = Buffer.alloc(18);
        if (at === 0) directory.write("II*\0\0\0\x01\0", "latin1");
        else {
          directory.writeUInt16LE(1, 0);
          directory.writeUInt16LE(254, 2);
          directory.writeUInt16LE(4, 4);
          directory.writeUInt32LE(1, 6);
          directory.writeUInt32LE(at + PAGE, 14);
        }
        directory.copy(bytes, at - first);
      }
      response.writeHead(206, { "content-range": `bytes ${first}-${last}/${2 ** 40}` }).end(bytes);
    };
    const address = await startServer({}, { "map.tif": respond });
    await expect(openGeoTiff(`${address}/map.tif`, { signal: stopping.signal })).rejects.toBe(reason);
    expect(requestCount).toBeLessThan(25);
  });

  test("stops reading a window between blocks", async () => {
    const stopping = new AbortController();
    const rowCount = 4000;
    const spec = {
      ...PLAIN,
      rowCount,
      values: new Float32Array(4 * rowCount),
      rowsPerStrip: 1,
      pixelScale: [1e-3, 1e-3],
    } as const;
    const raster = await openGeoTiff(await withSidecars({}, spec), { signal: stopping.signal });
    try {
      const reading = raster.readWindow({ ...WHOLE_WINDOW, rowCount });
      setImmediate(() => stopping.abort(reason));
      await expect(reading).rejects.toBe(reason);
      await expect(raster.readWindow(WHOLE_WINDOW)).rejects.toBe(reason);
    } finally {
      await raster.close();
    }
  });

  test.each([
    ["the version of a map", (request: IncomingMessage) => request.method === "HEAD"],
    ["values", ({ headers }: IncomingMessage) => headers.range !== undefined && !headers.range.startsWith("bytes=0-")],
  ])("stops an ingest that waits for %s", async (_, isUnanswered) => {
    const stopping = new AbortController();
    const large = makeGeoTiff({
      rowCount: 64,
      columnCount: 600,
      values: new Float32Array(64 * 600),
      tiePoint: [10, 50],
      pixelScale: [0.01, 0.01],
    });
    const unanswered: string[] = [];
    const respond: RespondTo = (request, response) => {
      if (!isUnanswered(request)) return sendRange(request, response, large);
      unanswered.push(request.method ?? "");
      stopping.abort(reason);
    };
    const address = await startServer({}, { "map.tif": respond });
    const manifest = join(folder, "slow.json");
    await writeFile(
      manifest,
      JSON.stringify({
        hazard: "riverine_floods",
        source: { name: "Test", licence: "none" },
        layers: [{ scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: `${address}/map.tif` }],
      }),
    );
    const run = ingestLayers({ manifest, out: join(folder, "atlas"), signal: stopping.signal });
    await expect(run).rejects.toBe(reason);
    expect(unanswered).toHaveLength(1); // the abort ends the request, so that it is not repeated after a timeout
  });
});
