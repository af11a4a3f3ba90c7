import { describe, expect, test } from "vitest";
import { ingestLayers } from "../../src/ingest/ingest.ts";
import { CELL_COUNT, manifest, map, out, readCatalog, useIngestFolder } from "./ingestFixture.ts";

useIngestFolder();

const RETURN_PERIODS = [10, 100, 1000];

/** Writes a map with a band for each return period, in the order of the bands that is given. */
async function bandedMap(name: string, periods: readonly number[], depthM: number): Promise<string> {
  const values = Array.from({ length: CELL_COUNT * periods.length }, (_, i) => {
    const years = periods[i % periods.length] ?? NaN;
    return depthM * Math.log10(years);
  });
  return map(name, () => 0, { bandCount: periods.length, values });
}

describe("the provenance of an interpolated layer", () => {
  test("lists the bands of the files that its maps are computed from", async () => {
    // The bands of the two files are in different orders.
    const bands = { 2030: [1000, 10, 100], 2080: [100, 1000, 10] };
    await bandedMap("a.tif", bands[2030], 1);
    await bandedMap("b.tif", bands[2080], 2);
    const layers = ([2030, 2080] as const).flatMap((year) =>
      RETURN_PERIODS.map((years) => ({
        scenario: "rcp4p5",
        year,
        return_period_years: years,
        file: year === 2030 ? "a.tif" : "b.tif",
        band: bands[year].indexOf(years) + 1,
      })),
    );
    await ingestLayers({ manifest: await manifest({ layers }), out, interpolateYears: [2050] });
    const groups = (await readCatalog()).hazards[0]?.packs[0]?.groups ?? [];
    const curves = groups.find(({ year }) => year === 2050)?.provenance["return_period_maps"];
    const [curve] = curves as readonly { readonly maps: readonly unknown[] }[];
    expect(curve?.maps).toMatchObject([
      {
        return_period_years: 10,
        files: [
          { file: "a.tif", band: 2 },
          { file: "b.tif", band: 3 },
        ],
      },
      {
        return_period_years: 100,
        files: [
          { file: "a.tif", band: 3 },
          { file: "b.tif", band: 1 },
        ],
      },
      {
        return_period_years: 1000,
        files: [
          { file: "a.tif", band: 1 },
          { file: "b.tif", band: 2 },
        ],
      },
    ]);
  });
});
