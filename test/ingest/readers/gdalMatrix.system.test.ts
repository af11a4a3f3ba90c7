import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWithGdal, GDAL_PYTHON } from "./mapPython.ts";
import { type GdalVariant, toFloat64, type Verdict, verdictOf } from "./gdalVerdict.ts";

const SCRIPT = fileURLToPath(new URL("gdalVariants.py", import.meta.url));

describeWithGdal("files written by GDAL", () => {
  let folder: string;
  let variants: readonly GdalVariant[];
  const verdicts = new Map<string, Verdict>();

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "isotherm-gdal-"));
    execFileSync(GDAL_PYTHON ?? "python3", [SCRIPT, folder], { stdio: ["ignore", "ignore", "pipe"] });
    ({ variants } = JSON.parse(readFileSync(join(folder, "variants.json"), "utf8")) as { variants: GdalVariant[] });
    for (const variant of variants) {
      const readBand = (name: string): Float64Array => toFloat64(readFileSync(join(folder, name)));
      verdicts.set(variant.name, await verdictOf(variant, readBand));
    }
    const count = (kind: Verdict["kind"]): number =>
      [...verdicts.values()].filter((verdict) => verdict.kind === kind).length;
    console.log(
      `GDAL variants: ${verdicts.size}; right ${count("right")}, rejected ${count("rejected")}, wrong ${count("wrong")}`,
    );
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("are read as by GDAL or rejected, never incorrectly", () => {
    const wrong = [...verdicts].filter(([, verdict]) => verdict.kind === "wrong");
    expect(Object.fromEntries(wrong)).toEqual({});
    expect(verdicts.size).toBeGreaterThan(250);
  });

  // Expected reasons by the prefix of the variant's name.
  const REJECTED: readonly (readonly [name: RegExp, message: RegExp])[] = [
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
  test.each(REJECTED)("rejects %s with the reason in the message", (name, message) => {
    const matching = [...verdicts].filter(([variant]) => name.test(variant));
    expect(matching.length).toBeGreaterThan(0);
    for (const [variant, verdict] of matching) {
      expect([variant, verdict]).toEqual([
        variant,
        { kind: "rejected", message: expect.stringMatching(message) as string },
      ]);
    }
  });

  test("rejects no other variant", () => {
    const others = [...verdicts].filter(
      ([variant, verdict]) =>
        verdict.kind === "rejected" && !REJECTED.some(([name]) => name.test(variant)) && !SPARSE_REJECTED.test(variant),
    );
    expect(Object.fromEntries(others)).toEqual({});
  });
});

/** Sparse files with a nodata value that the number format cannot represent; GDAL fills the blocks with 0. */
const SPARSE_REJECTED = /^sparse-(byte-below|int-nan)$/;
