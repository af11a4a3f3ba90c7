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
    console.log(countsByKind(verdicts));
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("are read as by GDAL or rejected, never incorrectly", () => {
    const wrong = [...verdicts].filter(([, verdict]) => verdict.kind === "wrong");
    expect(Object.fromEntries(wrong)).toEqual({});
    expect(verdicts.size).toBeGreaterThan(1000);
  });

  // Expected reasons by the prefix of the variant's name.
  const REJECTED: readonly (readonly [name: RegExp, message: RegExp])[] = [
    [/^LZMA/, /method 34925/],
    [/^(JPEG|WEBP)/, /as an image/],
    [/^type-C/, /complex/],
    [/^nbits24-(UInt32|bands)/, /unsigned integers of 24 bits/],
    [/^nodata-values-negative-byte/, /NODATA_VALUES -1, which its numbers cannot represent/],
    [/^set-nodata-values-two/, /2 NODATA_VALUES for 1 bands/],
    [/^set-nodata-values-text/, /NODATA_VALUES "none"/],
    [/^set-nodata-values-other/, /nodata value 5 and NODATA_VALUES/],
    [/^(set|aux)-nodata-values-of-band/, /NODATA_VALUES for one band/],
    [/^aux-nodata-values-contradict/, /NODATA_VALUES 1, but its \.aux\.xml states 0/],
    [/^aux-only-srs-32633/, /projected/],
    [/^aux-only-srs-swapped/, /order of axes "1,2"/],
    [/^aux-only-srs-unknown/, /aux\.xml that has the coordinate system "site"/],
    [/^aux-only-srs-with-heights/, /coordinate system with heights/],
    [/^aux-srs-contradicts-datum/, /transformation to WGS84 is not known/],
    [/^int64-inexact(-unsigned)?$|^int64-undeclared/, /64-bit integer beyond 2\^53.* at row 5, column 8 \(latitude/],
    [/^int64-inexact-nodata|^int64-next-to-nodata/, /(nodata value 1152921504606846977|64-bit integer beyond 2\^53)/],
    [/^scaled-zero/, /scale of "0"/],
    [/^scaled-aux-(text|infinite)/, /scale of "(a tenth|inf)"; a finite number other than 0/],
    [/^scaled-aux-contradicts/, /scale 0\.5, but its \.aux\.xml states 3/],
    [/^mask-(internal|file)-contradicts-nodata|^mask-internal-and-nodata/, /nodata value although .*mask/],
    [/^mask-file-(without-flags|with-alpha-flag)/, /INTERNAL_MASK_FLAGS/],
    [/^mask-file-of-another-size/, /5 rows and 7 columns, unlike the map/],
    [/^alpha-(Byte|UInt16)-half/, /has the value (127|32767) in the alpha band; 0 \(missing\)/],
    [/^bytes-4$/, /has the value \d+ in the alpha band/],
    [/^alpha-(float|of-two-maps|first)$/, /alpha band is supported as the last/],
    [/^alpha-contradicts-nodata/, /nodata value although the alpha band/],
    [/^alpha-and-mask/, /an internal mask and an alpha band/],
    [/^LERC-alpha/, /LERC data/],
    [/^mask-file-of-each-band/, /no INTERNAL_MASK_FLAGS for band 2/],
    [/^public-.*(CInt|CFloat|cint)/, /complex/],
    [/^public-gdal-(Byte|U?Int\d+|Float\d+|EPSG26711\+3855|EPSG2853)$/, /not among the supported codes/],
    [/^public-(rio-(RGB\.byte$|alpha|cogeo$|green|shade|test_esri)|rx-cog$)/, /projected/],
    [/^public-rio-goes/, /\+sweep/],
    [/^public-(tiler-(blue|green|red|satellite-\d)|topo-(eu-dem-EPSG|srtm-utm))/, /projected/],
    [/^public-gdal-EPSG(4047|4230)/, /transformation to WGS84 is not known/],
    [/^public-(rio-rgb1_fake_nir$|tiler-landsat|gdal-web-mercator|gdal-EPSG32631)/, /projected/],
    [/^public-(tiler-cog_gcps|gdal-gcp)/, /tie points/],
    [/^public-rx-rpcs/, /no coordinate system/],
    [/^public-tiler-pix4d/, /other than its nodata value although the alpha band marks the cell as missing/],
    [/^public-gdal-geomatrix/, /rotated/],
    [/^public-tiler-cog_nonearth/, /a sphere with a radius of 1737400 m/],
    [/^public-tiler-cog_hirise/, /a sphere with a radius of 3396190 m/],
    [/^public-(gdal-no-georeference|topo-eu-dem-none)/, /no (georeference|coordinate)/],
    [/^public-(gdal-sheared|rio-rotated)/, /rotated/],
    [/^public-gdal-(CMYK|CIELAB|ICCLAB)/, /has colors/],
    [/^public-gdal-byte_(JPEG|WEBP)/, /as an image/],
    [/^public-gdal-byte_LZMA/, /method 34925/],
    [/^public-tiler-cog_cmap/, /class codes/],
    [/^public-tiler-cog_mask_nodata/, /nodata value although the internal mask/],
    [/^palette/, /class codes/],
    [/^nodata-fraction/, /2\.5/],
    [/^unit-(cm|mm|ft|km|US)/, /unit/],
    [/^unit-(furlong|m-per-s|K)/, /unit/],
    [/^aux-unit-(cm|unknown)/, /unit/],
    [/^aux-attribute-unit/, /unit/],
    [/^aux-attribute-transform/, /\.aux\.xml/],
    [/^aux-attribute-none/, /attribute band/],
    [/^aux-unit-contradicts/, /unit "cm", but its \.aux\.xml states "m"/],
    [/^aux-alpha/, /alpha/],
    [/^aux-categories/, /class codes/],
    [/^aux-nodata-contradicts/, /nodata/],
    [/^aux-(transform|srs)-other/, /\.aux\.xml/],
    [/^aux-(damaged|another)/, /\.aux\.xml/],
    [/^world-contradicts/, /\.(tfw|wld)/],
    [/^world-alone/, /no georeference.*\.tfw/],
    [/^(rotated|ground-control)/, /rotated|tie points/],
    [/^no-(georeference|system)/, /no (georeference|coordinate)/],
    [/^system-(3857|32633)/, /EPSG:4326/],
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

/** Kinds of variants by the start of their names, for the printed counts. */
const KINDS: readonly (readonly [kind: string, name: RegExp])[] = [
  ["public configurations", /^public/],
  ["big-endian", /^(be|big-endian)-|-big-endian/],
  ["64-bit integers", /^int64|^type-U?Int64/],
  ["LERC", /LERC/],
  ["masks", /^mask/],
  ["alpha", /^(alpha|bytes-4)/],
  ["scale and offset", /^scaled|^(set|aux).*(scale|offset)/],
  ["sidecars", /^(aux|world|uppercase)/],
  ["missing values", /^(nodata|sparse)/],
  ["units and metadata", /^(unit|set)/],
  ["georeference", /^(pixel|rotated|south|no-|ground|system)/],
  ["encodings", /^/],
];

function countsByKind(verdicts: ReadonlyMap<string, Verdict>): string {
  const counts = new Map<string, Record<Verdict["kind"], number>>();
  for (const [name, verdict] of verdicts) {
    const kind = KINDS.find(([, pattern]) => pattern.test(name))?.[0] ?? "";
    const count = counts.get(kind) ?? { right: 0, rejected: 0, wrong: 0 };
    counts.set(kind, { ...count, [verdict.kind]: count[verdict.kind] + 1 });
  }
  const line = (kind: string, { right, rejected, wrong }: Record<Verdict["kind"], number>): string =>
    `${kind}: right ${right}, rejected ${rejected}, wrong ${wrong}`;
  const of = (kind: Verdict["kind"]): number =>
    [...verdicts.values()].filter((verdict) => verdict.kind === kind).length;
  const total = { right: of("right"), rejected: of("rejected"), wrong: of("wrong") };
  return [line("GDAL variants", total), ...[...counts].map(([kind, count]) => line(`  ${kind}`, count))].join("\n");
}
