import { describe, expect, test } from "vitest";
import { formatInfo } from "../../../src/cli/atlasInfo.ts";
import { stacItems } from "../../../src/cli/atlasStac.ts";
import { ingestRecipe } from "../../../src/ingest/ingest.ts";
import { aqueductProvenance } from "../../../src/ingest/recipes/aqueductFloods.ts";
import { map, out, readCatalog, useIngestFolder, withAtlas } from "../ingestFixture.ts";

useIngestFolder();

describe("the period of the baseline of aqueduct-floods", () => {
  test("is in the catalog, in detail, in atlas info and in STAC for river maps", async () => {
    const sources = [];
    for (const years of ["00002", "00100", "01000"])
      sources.push(await map(`inunriver_historical_000000000WATCH_1980_rp${years}.tif`, () => Number(years) / 1000));
    await ingestRecipe("aqueduct-floods", { sources, out });
    const catalog = await readCatalog();
    const provenance = catalog.hazards[0]?.packs[0]?.groups[0]?.provenance;
    expect(provenance).toMatchObject({
      baseline_window: [1960, 1999],
      baseline_window_note: expect.stringMatching(
        /WATCH 1980.*github\.com\/edwinkost\/extreme_value_analysis/,
      ) as string,
    });
    const answer = await withAtlas((atlas) =>
      atlas.hazardRisk({
        latitude: 19.95,
        longitude: 10.05,
        hazards: ["riverine_floods"],
        scenarios: ["baseline"],
        analysis_years: [1980],
        detail: true,
      }),
    );
    expect(JSON.stringify(answer)).toContain('"baseline_window":[1960,1999]');
    expect(formatInfo(catalog)).toContain("baseline_window 1960, 1999");
    expect(JSON.stringify(stacItems(catalog))).toContain('"baseline_window":[1960,1999]');
  });

  test("is that of the layer baseline only, and not recorded for coastal maps, whose names state no years", () => {
    expect(aqueductProvenance("riverine_floods", "rcp4p5", {})).not.toHaveProperty("baseline_window");
    const coast = aqueductProvenance("coastal_floods", "baseline", {});
    expect(coast).not.toHaveProperty("baseline_window");
    expect(coast["baseline_window_note"]).toMatch(/file names state hist/);
    expect(aqueductProvenance("coastal_floods", "rcp4p5", {})).not.toHaveProperty("baseline_window_note");
  });
});
