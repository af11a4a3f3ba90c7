import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type GdalVariant, toFloat64, verdictOf } from "./gdalVerdict.ts";

/** Folder of files written by GDAL (see gdalVariants.py), with the values that GDAL reads from them. */
const FOLDER = fileURLToPath(new URL("../../fixtures/gdal/", import.meta.url));
const { variants } = JSON.parse(readFileSync(`${FOLDER}variants.json`, "utf8")) as { variants: GdalVariant[] };
const readBand = (base64: string): Float64Array => toFloat64(inflateSync(Buffer.from(base64, "base64")));

/** Names of the rejected files, with a part of the reason. */
const REJECTED: Readonly<Record<string, RegExp>> = {
  "int64-inexact": /64-bit integer beyond 2\^53/,
  "mask-internal-contradicts-nodata": /nodata value although the internal mask/,
  "alpha-Byte-half-PIXEL-strips": /has the value 127 in the alpha band/,
  palette: /class codes/,
  "unit-cm": /unit/,
  rotated: /rotated/,
  "system-3857": /EPSG:4326/,
};

describe("files written by GDAL", () => {
  test("every fixture is listed", () => {
    const maps = readdirSync(FOLDER).filter((name) => name.endsWith(".tif"));
    expect(variants.map(({ file }) => file).toSorted()).toEqual(maps.toSorted());
  });

  test.each(variants)("$name is read as by GDAL, or rejected with the expected reason", async (variant) => {
    const verdict = await verdictOf({ ...variant, file: FOLDER + variant.file }, readBand);
    const reason = REJECTED[variant.name];
    const message: unknown = reason === undefined ? undefined : expect.stringMatching(reason);
    expect(verdict).toEqual(reason === undefined ? { kind: "right" } : { kind: "rejected", message });
  });
});
