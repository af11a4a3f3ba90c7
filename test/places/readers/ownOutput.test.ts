import { expect, test } from "vitest";
import { parquetFormat } from "../../../src/places/writers/parquetFormat.ts";
import { encodedFile } from "../writers/encodedFile.ts";
import { expectedLongRows, GROUPS, KEPT_COLUMNS, randomBlock } from "../writers/scoredBlocks.ts";
import { readContent } from "./placeFile.ts";

/** Writes Parquet with data pages of version 1, as most programs do; hyparquet-writer writes version 2. */
async function writeParquet(blocks: readonly ReturnType<typeof randomBlock>[], hasGeometry: boolean): Promise<Buffer> {
  const format = await parquetFormat({ layout: "long", groups: GROUPS, keptColumns: KEPT_COLUMNS, hasGeometry }, []);
  return await encodedFile(format, blocks);
}

const blocks = [randomBlock({ rowCount: 4000, seed: 1 }), randomBlock({ rowCount: 500, seed: 2, index: 1 })];
const expected = blocks.flatMap(expectedLongRows);

test("reads all values of a Parquet file that the program wrote", async () => {
  const read = await readContent("a.parquet", await writeParquet(blocks, false));
  expect(read.source.rowCount).toBe(expected.length);
  const { rows } = read;
  // One comparison of all rows would list every difference.
  for (const [row, values] of expected.entries()) expect(rows[row]).toStrictEqual(values);
  expect(read.source.columns).toMatchObject({ id: "id", latitude: "latitude", longitude: "longitude" });
});

test("locates the places of a GeoParquet file that the program wrote", async () => {
  const bytes = await writeParquet(blocks, true);
  const read = await readContent("a.geoparquet", bytes);
  expect(read.source.columns.geometry).toBe("geometry");
  const coordinates = blocks.flatMap(({ places }) =>
    Array.from(places.latitudes, (latitude, place) => ({
      latitude,
      longitude: places.longitudes[place] ?? NaN,
      rowCount: places.errors.has(place) ? 1 : GROUPS.length,
    })),
  );
  const perRow = coordinates.flatMap(({ rowCount, ...point }) => Array.from({ length: rowCount }, () => point));
  expect(read.latitudes).toStrictEqual(perRow.map(({ latitude }) => latitude));
  expect(read.longitudes).toStrictEqual(perRow.map(({ longitude }) => longitude));
});
