/** The ETag of the hazard routes depends on every part of the atlas that responses contain. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CATALOG_NAME, type Catalog, decodeCatalog, encodeCatalog } from "../../../src/atlas/catalog.ts";
import { openAtlas } from "../../../src/index.ts";
import { ingestLayers } from "../../../src/ingest/ingest.ts";
import { makeGeoTiff } from "../../ingest/makeGeoTiff.ts";
import { startTestHost } from "../testHost.ts";

const QUERY =
  "latitude=19.95&longitude=10.05&hazards=riverine_floods&analysis_years=1980&scenarios=baseline&detail=true";
const TARGETS = [`/api/v1/hazard-risk?${QUERY}`, "/api/v1/hazards"];

let folder: string;
let folderCount = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  await writeFile(
    join(folder, "depth.tif"),
    makeGeoTiff({
      rowCount: 4,
      columnCount: 4,
      tiePoint: [10, 20],
      pixelScale: [0.1, 0.1],
      values: new Float32Array(16).fill(2),
    }),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Ingests an atlas whose cells and release name are always the same. */
async function atlasFrom(source: object, name: string): Promise<string> {
  const manifest = join(folder, `${name}.json`);
  const layers = [{ scenario: "baseline", year: 1980, metric: "depth_meters", file: "depth.tif" }];
  await writeFile(manifest, JSON.stringify({ hazard: "riverine_floods", source, layers }));
  const out = join(folder, name);
  await ingestLayers({ manifest, out, release: "chosen-1" });
  return out;
}

/** Rewrites the catalog of an atlas. */
async function rewriteCatalog(out: string, change: (catalog: Catalog) => Catalog): Promise<void> {
  const path = join(out, CATALOG_NAME);
  await writeFile(path, await encodeCatalog(change(await decodeCatalog(await readFile(path)))));
}

async function fetchAll(out: string, ifNoneMatch: readonly (string | null)[] = []) {
  const atlas = await openAtlas(out);
  const host = await startTestHost({ atlas });
  try {
    const responses = [];
    for (const [i, target] of TARGETS.entries()) {
      const etag = ifNoneMatch[i];
      const response = await host.ask(
        target,
        etag === null || etag === undefined ? {} : { headers: { "If-None-Match": etag } },
      );
      const body = await response.text();
      responses.push({ status: response.status, etag: response.headers.get("etag"), body });
    }
    return responses;
  } finally {
    await host.close();
    await atlas.close();
  }
}

describe("the ETag of a response", () => {
  test("changes with the sources even if cells and release name are the same", async () => {
    const first = await fetchAll(await atlasFrom({ name: "One", licence: "CC0" }, "one"));
    const etags = first.map(({ etag }) => etag);
    const second = await fetchAll(await atlasFrom({ name: "Two", licence: "none" }, "two"), etags);
    for (const [i, { status, body, etag }] of second.entries()) {
      expect(status).toBe(200);
      expect(body).not.toBe(first[i]?.body);
      expect(etag).not.toBe(etags[i]);
    }
  });

  test("is the same on every host of an atlas and does not depend on the creation time", async () => {
    const out = await atlasFrom({ name: "Three", licence: "CC0" }, "three");
    const first = await fetchAll(out);
    await rewriteCatalog(out, (catalog) => ({ ...catalog, created_at: "2031-01-01T00:00:00.000Z" }));
    const second = await fetchAll(
      out,
      first.map(({ etag }) => etag),
    );
    expect(second.map(({ status }) => status)).toEqual([304, 304]);
    expect((await fetchAll(out)).map(({ body }) => body)).toEqual(first.map(({ body }) => body));
  });

  test.each<[string, (catalog: Catalog) => Catalog]>([
    ["the release name", (catalog) => ({ ...catalog, release: "chosen-2" })],
    ["the synthetic flag", (catalog) => ({ ...catalog, synthetic: true })],
    [
      "a rule",
      (catalog) => ({
        ...catalog,
        hazards: catalog.hazards.map((h) => ({ ...h, rules: { ...h.rules, threshold: 9 } })),
      }),
    ],
    [
      "the grid",
      (catalog) => ({
        ...catalog,
        hazards: catalog.hazards.map((h) => ({ ...h, grid: { ...h.grid, west_deg: 9.9 } })),
      }),
    ],
  ])("changes with %s", async (_, change) => {
    const out = await atlasFrom({ name: "Four", licence: "CC0" }, `four-${++folderCount}`);
    const before = await fetchAll(out);
    await rewriteCatalog(out, change);
    const after = await fetchAll(
      out,
      before.map(({ etag }) => etag),
    );
    expect(after.map(({ status }) => status)).toEqual([200, 200]);
  });
});
