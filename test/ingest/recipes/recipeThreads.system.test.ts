/**
 * Mosaics of basins, interpolated years and filled cells give the same atlas on any number of threads. Uses the built library,
 * because threads run built files.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CATALOG_NAME } from "../../../src/atlas/catalog.ts";
import type { ingestRecipe, RecipeName, RecipeOptions } from "../../../src/ingest/ingest.ts";
import { fixture } from "./recipeFixture.ts";

const LIBRARY = new URL("../../../dist/ingest/ingest.js", import.meta.url).href;

let atlases: string;
let ingest: typeof ingestRecipe;
beforeAll(async () => {
  atlases = await mkdtemp(join(tmpdir(), "isotherm-recipe-threads-"));
  ingest = ((await import(LIBRARY)) as { ingestRecipe: typeof ingestRecipe }).ingestRecipe;
});
afterAll(() => rm(atlases, { recursive: true, force: true }));

/** Returns the content of the files of an atlas, and its catalog without the time. */
async function contentOf(atlas: string): Promise<unknown> {
  const names = (await readdir(atlas)).filter((name) => name !== CATALOG_NAME && !name.startsWith(".")).toSorted();
  const text = await readFile(join(atlas, CATALOG_NAME), "utf8");
  const { created_at: _time, sha256: _sha256, ...catalog } = JSON.parse(text) as Record<string, unknown>;
  const bytes = await Promise.all(names.map((name) => readFile(join(atlas, name), "base64")));
  return { catalog, files: Object.fromEntries(names.map((name, index) => [name, bytes[index]])) };
}

async function expectSameAtlas<Name extends RecipeName>(
  name: Name,
  options: Omit<RecipeOptions<Name>, "out" | "threads">,
  threadCounts: readonly number[],
): Promise<void> {
  const contents: unknown[] = [];
  for (const threads of threadCounts) {
    const out = join(atlases, `${name}-${threads}`);
    await ingest(name, { ...options, out, threads } as RecipeOptions<Name>);
    contents.push(await contentOf(out));
  }
  for (const content of contents.slice(1)) expect(content).toEqual(contents[0]);
}

test("storm-winds with two climate models and a proxy", { timeout: 300_000 }, async () => {
  const options = {
    sources: ["CMCC-CM2-VHR4", "HADGEM3-GC31-HM"].map((model) =>
      fixture(`STORM_FIXED_RETURN_PERIODS_${model}_TIF_FILES.zip`),
    ),
    mapScenario: { ssp585: "rcp8p5" },
    overlap: "largest",
    proxyScenario: { rcp6p0: "rcp8p5" },
  } as const;
  await expectSameAtlas("storm-winds", options, [0, 1, 3]);
});

test("deltares-coastal with an interpolated year and filled cells", { timeout: 300_000 }, async () => {
  const options = {
    sources: [fixture("deltares.zip")],
    elevationModel: "NASA",
    mapScenario: { "2018slr": "baseline", "2050slr": "rcp4p5" },
    missingAsDry: true,
    interpolateYears: [2030],
    interpolateFromBaseline: true,
  } as const;
  await expectSameAtlas("deltares-coastal", options, [0, 1]);
});
