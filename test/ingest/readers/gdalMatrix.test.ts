import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { openGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import type { Raster } from "../../../src/ingest/raster.ts";
import { checkUnit } from "../../../src/ingest/units.ts";
import type { Grid } from "../../../src/kernel/grid.ts";
import { describeWithGdal, GDAL_PYTHON } from "./gdalPython.ts";

const SCRIPT = fileURLToPath(new URL("gdalVariants.py", import.meta.url));

interface Variant {
  readonly name: string;
  readonly file: string;
  /** Files of float64 values, one for each band; NaN is missing. */
  readonly bands: readonly string[];
  readonly grid: Grid | null;
  readonly isWgs84: boolean;
}

type Verdict =
  | { readonly kind: "right" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "wrong"; readonly why: string };

describeWithGdal("every variant that GDAL writes is read like GDAL does, or refused by name", () => {
  let folder: string;
  let variants: readonly Variant[];
  const verdicts = new Map<string, Verdict>();

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "isotherm-gdal-"));
    execFileSync(GDAL_PYTHON ?? "python3", [SCRIPT, folder], { stdio: ["ignore", "ignore", "pipe"] });
    ({ variants } = JSON.parse(readFileSync(join(folder, "variants.json"), "utf8")) as { variants: Variant[] });
    for (const variant of variants) verdicts.set(variant.name, await verdictOf(variant, folder));
    const count = (kind: Verdict["kind"]): number =>
      [...verdicts.values()].filter((verdict) => verdict.kind === kind).length;
    console.log(
      `GDAL variants: ${verdicts.size}; right ${count("right")}, refused ${count("refused")}, wrong ${count("wrong")}`,
    );
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("reads no variant incorrectly", () => {
    const wrong = [...verdicts].filter(([, verdict]) => verdict.kind === "wrong");
    expect(Object.fromEntries(wrong)).toEqual({});
    expect(verdicts.size).toBeGreaterThan(250);
  });

  // Expected reasons by the prefix of the variant's name.
  const REFUSED: readonly (readonly [name: RegExp, message: RegExp])[] = [
    [/^LERC/, /LERC.*COMPRESS=DEFLATE/],
    [/^cog-LERC/, /LERC/],
    [/^LZMA/, /method 34925/],
    [/^(JPEG|WEBP)/, /as an image/],
    [/^type-C/, /complex/],
    [/^type-U?Int64/, /64 bits/],
    [/^nbits(1|2|4|7|12|24)-/, /of (1|2|4|7|12|24) bits/],
    [/^big-endian/, /big-endian/],
    [/^mask-internal/, /internal mask/],
    [/^mask-file/, /\.msk/],
    [/^(alpha-|bytes-4$)/, /alpha/],
    [/^palette/, /class codes/],
    [/^(DEFLATE|LZW|ZSTD)-p2-Float64/, /predictor 2/],
    [/^nodata-fraction/, /2\.5/],
    [/^set-(scale|offset)$/, /declares (a|an) (scale|offset)/],
    [/^set-nodata-values/, /NODATA_VALUES/],
    [/^unit-(cm|mm|ft|km|US)/, /unit/],
    [/^unit-(furlong|m-per-s|K)/, /unit/],
    [/^aux-(scale|offset)$/, /\.aux\.xml.*(scale|offset)/],
    [/^aux-unit-(cm|unknown)/, /unit/],
    [/^aux-(case|attribute)-scale/, /\.aux\.xml.*a scale of 10/],
    [/^aux-attribute-unit/, /unit/],
    [/^aux-attribute-transform/, /\.aux\.xml/],
    [/^aux-attribute-none/, /attribute band/],
    [/^aux-unit-contradicts/, /"cm", but its \.aux\.xml states "m"/],
    [/^aux-alpha/, /alpha/],
    [/^aux-categories/, /class codes/],
    [/^aux-nodata-values/, /NODATA_VALUES/],
    [/^aux-nodata-contradicts/, /nodata/],
    [/^aux-(transform|srs)-other/, /\.aux\.xml/],
    [/^aux-(damaged|another)/, /\.aux\.xml/],
    [/^world-contradicts/, /\.(tfw|wld)/],
    [/^world-alone/, /no georeference.*\.tfw/],
    [/^(rotated|ground-control)/, /rotated|tie points/],
    [/^no-(georeference|system)/, /no (georeference|coordinate)/],
    [/^system-(3857|4269|32633)/, /EPSG:4326/],
    [/^system-4326-with-heights/, /unit/],
  ];
  test.each(REFUSED)("refuses %s with the reason in the message", (name, message) => {
    const named = [...verdicts].filter(([variant]) => name.test(variant));
    expect(named.length).toBeGreaterThan(0);
    for (const [variant, verdict] of named) {
      expect([variant, verdict]).toEqual([
        variant,
        { kind: "refused", message: expect.stringMatching(message) as string },
      ]);
    }
  });

  test("refuses no other variant", () => {
    const others = [...verdicts].filter(
      ([variant, verdict]) =>
        verdict.kind === "refused" && !REFUSED.some(([name]) => name.test(variant)) && !SPARSE_REFUSED.test(variant),
    );
    expect(Object.fromEntries(others)).toEqual({});
  });
});

/** Sparse files with a nodata value that the number format cannot represent; GDAL fills the blocks with 0. */
const SPARSE_REFUSED = /^sparse-(byte-below|int-nan)$/;

async function verdictOf(variant: Variant, folder: string): Promise<Verdict> {
  let raster: Raster | undefined;
  try {
    raster = await openGeoTiff(variant.file);
    if (variant.grid === null || !variant.isWgs84) return { kind: "wrong", why: "read without a WGS84 grid" };
    for (const [name, expected] of Object.entries(variant.grid) as [keyof Grid, number][]) {
      if (Math.abs(raster.grid[name] - expected) > 1e-9)
        return { kind: "wrong", why: `${name} ${raster.grid[name]} is not ${expected}` };
    }
    if (raster.bandCount !== variant.bands.length) return { kind: "wrong", why: `${raster.bandCount} bands` };
    for (const [index, values] of variant.bands.entries()) {
      checkUnit(raster, { band: index + 1, unit: "m", metric: "depth_meters", unitFactor: undefined });
      const why = await difference(raster, index + 1, readValues(join(folder, values)));
      if (why !== undefined) return { kind: "wrong", why: `band ${index + 1}: ${why}` };
    }
    return { kind: "right" };
  } catch (error) {
    if (!isFault(error, "source_invalid")) return { kind: "wrong", why: `failed: ${String(error)}` };
    if (!error.message.includes(variant.file))
      return { kind: "wrong", why: `does not name the file: ${error.message}` };
    return { kind: "refused", message: error.message.replaceAll(variant.file, "FILE") };
  } finally {
    await raster?.close();
  }
}

function readValues(path: string): Float64Array {
  const bytes = readFileSync(path);
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

/** Reads the whole band and a window of it, and describes the first difference from GDAL. */
async function difference(raster: Raster, band: number, expected: Float64Array): Promise<string | undefined> {
  const { rowCount, columnCount } = raster.grid;
  const windows = [
    { firstRow: 0, rowCount, firstColumn: 0, columnCount },
    { firstRow: 6, rowCount: 13, firstColumn: 11, columnCount: 30 },
  ];
  for (const window of windows) {
    const values = await raster.readWindow({ band, ...window });
    for (let row = 0; row < window.rowCount; row++) {
      for (let column = 0; column < window.columnCount; column++) {
        const wanted = expected[(window.firstRow + row) * columnCount + window.firstColumn + column];
        const value = values[row * window.columnCount + column];
        if (!Object.is(value, wanted) && value !== wanted)
          return `row ${window.firstRow + row}, column ${window.firstColumn + column}: ${value}, GDAL reads ${wanted}`;
      }
    }
  }
  return undefined;
}
