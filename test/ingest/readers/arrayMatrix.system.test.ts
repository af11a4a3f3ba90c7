import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ArrayVariant, type ArrayVerdict, verdictOf } from "./arrayVerdict.ts";
import { arrayPython, describeWithArrayPython } from "./mapPython.ts";

/** Expected reasons by the prefix of the variant's name. Every other variant must be read. */
const REJECTED: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  "netcdfVariants.py": {
    cdf5: /CDF-5/,
    "valid-range-type": /valid_range with the type int32/,
    "text-missing": /text "-9999" as missing_value/,
    "text-scale": /text "0\.1" as scale_factor/,
    "zero-scale": /scale_factor 0/,
    flags: /class codes/,
    "int64-too-large": /1152921504606846976 cannot be represented exactly/,
    "descending-longitudes": /from east to west/,
    gaussian: /lat is not evenly spaced: value 1 is/,
    radians: /degrees_north/,
    "one-row": /size of its cell is unknown/,
    projected: /coordinates x and y without a grid mapping/,
    "rotated-pole": /rotated-pole/,
    "beyond-pole": /between the poles/,
    "bounds-gap": /bounds that are not contiguous/,
    curvilinear: /curvilinear/,
    "system-geotransform-shifted": /GeoTransform .* contradicts/,
    "system-sphere": /radius of 6371229 m/,
    "system-airy": /6377563\.396/,
    "system-paris": /prime meridian 2\.337/,
    "system-lambert": /lambert_conformal_conic/,
    "system-missing-variable": /grid mapping "absent"/,
    "system-none": /--assume-wgs84/,
    "system-empty-mapping": /--assume-wgs84/,
    "select-rp-absent": /there is no 500.*10, 100, 1000/,
    "select-rp-twice": /100 matches 2 positions/,
    "select-none": /it has 3 positions; select one.*"select": \{"rp":10\}/,
    "select-unknown": /no dimension "period" to select; its other dimensions are rp/,
    "select-index-outside": /no index 3; indexes are 0 to 2/,
    "time-number": /years since/,
    "time-ambiguous": /"2020" matches 3 positions/,
    "wrong-variable": /no variable "none".*Its maps are depth/,
    "two-maps": /2 maps; give the variable.*depth, other/,
  },
  "hdf5Variants.py": {
    "h5-lzf": /filter 32000 \(LZF\)/,
    "h5-float16": /floats of 16 bits/,
    "h5-bool": /class codes/,
    "h5-no-scales": /no map/,
    "h5-compound": /compound values/,
    "h5-large-chunk": /chunks of 1600000000 bytes/,
    "h5-virtual": /virtual dataset/,
    "h5-external-link-chosen": /no variable "linked"/,
  },
  "zarrVariants.py": {
    "v2-bz2": /codec "bz2"/,
    "v2-lzma": /codec "lzma"/,
    "v2-type-f2": /"<f2"/,
    "v2-type-bool": /"\|b1"/,
    "v2-type-U4": /"<U4"/,
    "v2-type-c8": /"<c8"/,
    "v2-fixedscaleoffset": /codec "fixedscaleoffset"/,
    "v2-quantize": /codec "quantize"/,
    "v2-absent-null-int64": /cannot be read/,
    "v2-valid-range-packed": /valid_min with no type/,
    "v2-no-dimensions": /no map/,
    "osc-crs-default": /declares the coordinate system .*3857.* are degrees/,
    "osc-rotated": /transform_mat3x3 with rotation/,
    "osc-short-transform": /transform_mat3x3 of 2 numbers/,
    "osc-no-selection": /return period \(years\): it has 3 positions.*10, 100, 1000/,
    "osc-wrong-period": /there is no 200/,
    "osc-array": /no variable "none"/,
    "v3-crc32c-damaged": /codec "crc32c"/,
    "v3-float16": /"float16"/,
    "v3-fill-text": /text "none" as _FillValue/,
    "v3-null-fill": /no fill value/,
    "v3-extension": /extension "another"/,
    "v3-storage-transformer": /storage transformers/,
    "v3-unknown-codec": /codec "zfp"/,
    "v3-large-chunk": /chunks of 536870912 bytes/,
    "v3-sharding-start": /shard index at the "start"/,
    "v3-sharding-uneven": /not whole multiples/,
    "v3-sharding-damaged": /codec "crc32c"/,
    "not-a-store": /a folder that is not a Zarr store/,
    broken: /zarr\.json is not a JSON object/,
  },
};

describeWithArrayPython("array files written by Python", () => {
  describe.each(Object.entries(REJECTED))("%s", (script, rejected) => {
    let folder: string;
    const verdicts = new Map<string, ArrayVerdict>();

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "isotherm-arrays-"));
      const path = fileURLToPath(new URL(script, import.meta.url));
      execFileSync(arrayPython(), ["-B", path, folder], { stdio: ["ignore", "ignore", "pipe"] });
      const list = readFileSync(join(folder, "variants.json"), "utf8");
      for (const variant of (JSON.parse(list) as { variants: ArrayVariant[] }).variants) {
        verdicts.set(variant.name, await verdictOf(variant));
      }
      const count = (kind: ArrayVerdict["kind"]): number =>
        [...verdicts.values()].filter((verdict) => verdict.kind === kind).length;
      console.log(
        `${script}: ${verdicts.size} variants; right ${count("right")}, rejected ${count("rejected")}, wrong ${count("wrong")}`,
      );
    }, 240_000);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test("no variant is read incorrectly", () => {
      expect(Object.fromEntries([...verdicts].filter(([, verdict]) => verdict.kind === "wrong"))).toEqual({});
    });

    test("only the expected variants are rejected, each with its reason", () => {
      const reasons = [...verdicts].flatMap(([name, verdict]) =>
        verdict.kind === "rejected" ? [[name, verdict.message] as const] : [],
      );
      const expectedReason = (name: string): RegExp | undefined =>
        rejected[name] ?? rejected[name.replace(/-(NETCDF4|CLASSIC)$/, "")];
      for (const [name, message] of reasons) {
        expect(message, name).toMatch(expectedReason(name) ?? /^a variant that must be read/);
      }
      const names = new Set(reasons.map(([name]) => name.replace(/-(NETCDF4|CLASSIC)$/, "")));
      expect([...names].toSorted()).toEqual(Object.keys(rejected).toSorted());
    });
  });
});
