/** The output of runs whose blocks worker threads score and encode. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { PlaceFileOptions } from "../../../src/contract/wireTypes.ts";
import { OUTPUT_FORMATS } from "../../../src/places/run/placeJob.ts";
import { LAYOUTS } from "../../../src/places/writers/outputColumns.ts";
import { withTempFolder } from "../../atlas/makeAtlas.ts";
import { expectFile, OPTIONS, writePlaces } from "./placeRuns.ts";

const built = async (path: string): Promise<unknown> =>
  await import(new URL(`../../../dist/${path}`, import.meta.url).href);
const { openAtlas } = (await built("openAtlas.js")) as typeof import("../../../src/openAtlas.ts");
const { scorePlaceFile } = (await built(
  "places/run/scorePlaceFile.js",
)) as typeof import("../../../src/places/run/scorePlaceFile.ts");

const OUTPUTS = OUTPUT_FORMATS.flatMap((outputFormat) => LAYOUTS.map((layout) => ({ outputFormat, layout })));

describe("worker threads", () => {
  test("write the same bytes as no worker, in all formats and layouts", async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    await withTempFolder(async (folder) => {
      // In a small region, because every atlas computes the tiles of the demo again.
      const places = Array.from({ length: 9000 }, (_, row) => ({
        id: `site ${row}`,
        latitude: row % 50 === 7 ? "north" : (10 + (row % 97) / 100).toFixed(2),
        longitude: (20 + (row % 89) / 100).toFixed(2),
        radiusKm: "0",
      }));
      const input = await writePlaces(folder, places);
      const options: PlaceFileOptions = { ...OPTIONS, analysis_years: [2030, 2050, 2080] };
      const outputOf = (workers: number, { outputFormat, layout }: (typeof OUTPUTS)[number]): string =>
        join(folder, `${workers}-${layout}.${outputFormat}`);
      for (const workers of [0, 1, 2, 7]) {
        const atlas = await openAtlas("demo", { workers });
        try {
          for (const output of OUTPUTS) {
            await scorePlaceFile(atlas, {
              input,
              output: outputOf(workers, output),
              outputFormat: output.outputFormat,
              options: { ...options, layout: output.layout },
            });
          }
        } finally {
          await atlas.close();
        }
      }
      for (const output of OUTPUTS) {
        const expected = await readFile(outputOf(0, output));
        expect(expected.length).toBeGreaterThan(9000);
        for (const workers of [1, 2, 7]) await expectFile(outputOf(workers, output), expected);
      }
      expect(warnings).toEqual([]);
    });
  }, 300_000);
});
