/** The credits of maps, in the TileJSON and in the explorer, of layers as ingest and the demo atlas write them. */
import { expect, onTestFinished, test } from "vitest";
import { sourceText } from "../../../src/explorer/map/legendModel.ts";
import type { ValueTileLayerRequest } from "../../../src/hazard/valueTiles.ts";
import type { Services } from "../../../src/host/route.ts";
import { tileJson } from "../../../src/host/routes/tileJson.ts";
import { TileTokens } from "../../../src/host/tiles/tileTokens.ts";
import { ingestRecipe } from "../../../src/ingest/ingest.ts";
import { aqueductProvenance } from "../../../src/ingest/recipes/aqueductFloods.ts";
import { sourceProvenance } from "../../../src/ingest/recipes/manifestFile.ts";
import { openAtlas } from "../../../src/openAtlas.ts";
import { fixture, out, useRecipeFolder } from "../../ingest/recipes/recipeFixture.ts";

useRecipeFolder();

const BASELINE_DEPTH: ValueTileLayerRequest = {
  hazard: "riverine_floods",
  scenario: "baseline",
  analysisYear: 1980,
  metric: "depth_meters",
};

/** Returns the credit of the baseline depth of river floods in its TileJSON and in the explorer. */
async function creditsIn(atlasFolder: string) {
  const atlas = await openAtlas(atlasFolder);
  onTestFinished(() => atlas.close());
  const tokens = new TileTokens({ signingSecret: (purpose) => Promise.resolve(purpose) });
  const { attribution } = await tileJson.handle(BASELINE_DEPTH, {
    services: { atlas, prefix: "", tiles: { tokens } } as unknown as Services,
    caller: { accountId: "", keyId: "3f2504e0-4f89-41d3-9a0c-0305e82c3301" },
    requestId: "",
    signal: new AbortController().signal,
  });
  return { attribution, text: sourceText(atlas.valueTileLayer(BASELINE_DEPTH).source) };
}

test("an ingested map has the product, its version, the citation and the license", async () => {
  const sources = [10, 20, 50, 100, 200, 500].map((years) => fixture(`floodMapGL_rp${years}y.zip`));
  await ingestRecipe("jrc-floods", { sources, out });
  const { attribution, text } = await creditsIn(out);
  for (const credit of [attribution, text]) {
    expect(credit).toMatch(
      /JRC global river flood hazard maps \(floodMapGL\), version 1[;.] Dottori.*License: CC BY 4\.0/,
    );
  }
});

test("the demo atlas has the statement that its values are invented", async () => {
  const { attribution, text } = await creditsIn("demo");
  expect(attribution).toBe("Isotherm; Invented values, not fit for any decision");
  expect(text).toMatch(/^Invented for demonstration: .* Not fit for any decision about any place\.$/);
});

test("the explorer credits Aqueduct Floods as its license requires", () => {
  expect(sourceText(aqueductProvenance("riverine_floods", "rcp8p5", {}))).toBe(
    "WRI Aqueduct Floods Hazard Maps, version 2. Ward, P. J. et al. (2020), Aqueduct Floods Methodology, World Resources " +
      "Institute. License: CC BY 4.0.",
  );
});

test("the explorer credits what a manifest states", () => {
  const source = { name: "City flood maps", licence: "ODbL 1.0" };
  expect(sourceText(sourceProvenance("layers", source))).toBe("City flood maps. License: ODbL 1.0.");
  expect(sourceText(sourceProvenance("layers", { ...source, version: "3", credit: "© City of Ash." }))).toBe(
    "City flood maps, version 3. © City of Ash. License: ODbL 1.0.",
  );
  expect(sourceText({ recipe: "layers" })).toBe("source not stated.");
});
