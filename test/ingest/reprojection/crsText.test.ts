import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { projStringOf } from "../../../src/ingest/crsDefinition.ts";
import { axisOrderOf, crsOfText, isSameCrs } from "../../../src/ingest/reprojection/crsText.ts";
import { openProjection } from "../../../src/ingest/reprojection/projection.ts";

interface KnownPoint {
  readonly notation: string;
  readonly definition: string;
  readonly lon_deg: string;
  readonly lat_deg: string;
  readonly x: string;
  readonly y: string;
}

/** Positions that PROJ computed, by notation of the coordinate system. */
const points = parse<KnownPoint>(readFileSync(new URL("../../fixtures/projectedPoints.csv", import.meta.url)), {
  columns: true,
});
const WGS84 = { assumeWgs84: false };
const UTM_33 = "+proj=utm +zone=33 +datum=WGS84";

/** Returns the message of the error for a text. */
function rejection(text: string, options = WGS84): string {
  try {
    return `accepted as ${projStringOf(crsOfText(text, options).crs)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("positions", () => {
  test.each(points.map((point) => [`${point.notation} ${point.definition.slice(0, 60)}`, point] as const))(
    "%s are those of PROJ",
    async (_, { notation, definition, lon_deg, lat_deg, x, y }) => {
      // PROJ strings of ETRS89 have no datum.
      const { crs, unitM } = crsOfText(definition, { assumeWgs84: notation === "proj" });
      const projection = await openProjection(crs);
      const point = projection.forward(Number(lon_deg), Number(lat_deg));
      expect(Math.abs((point?.x ?? NaN) / unitM - Number(x))).toBeLessThan(1e-3);
      expect(Math.abs((point?.y ?? NaN) / unitM - Number(y))).toBeLessThan(1e-3);
      const location = projection.inverse(Number(x) * unitM, Number(y) * unitM);
      expect(Math.abs((location?.latDeg ?? NaN) - Number(lat_deg))).toBeLessThan(1e-7);
    },
  );

  test("have a unit of length", () => {
    expect(crsOfText(`${UTM_33} +units=us-ft`, WGS84).unitM).toBe(1200 / 3937);
    expect(crsOfText(`${UTM_33} +to_meter=1000`, WGS84).unitM).toBe(1000);
  });

  test("are undefined outside of the domain of a projection", async () => {
    const utm = await openProjection(crsOfText("EPSG:32633", WGS84).crs);
    expect(utm.forward(15 + 100, 10)).toBeUndefined();
    const mercator = await openProjection(crsOfText("EPSG:3857", WGS84).crs);
    expect(mercator.forward(0, 90)).toBeUndefined();
    const polar = await openProjection(crsOfText("EPSG:3413", WGS84).crs);
    expect(polar.forward(0, -90)).toBeUndefined();
  });
});

describe("datums", () => {
  test("states how a datum becomes WGS84", () => {
    const datum = (text: string, options = WGS84) => crsOfText(text, options).crs.datum;
    expect(datum("EPSG:32633")).toEqual({ kind: "unchanged", description: "WGS 84" });
    expect(datum("EPSG:25832")).toMatchObject({ description: expect.stringContaining("ETRS89") as string });
    expect(datum("+proj=tmerc +ellps=airy +towgs84=446.448,-125.157,542.06")).toEqual({
      kind: "helmert",
      toWgs84: [446.448, -125.157, 542.06],
    });
    expect(datum("+proj=sinu +R=6371007.181", { assumeWgs84: true })).toMatchObject({
      description: expect.stringContaining("sphere with a radius of 6371007.181 m") as string,
    });
  });

  test.each([
    ["+proj=sinu +R=6371007.181", /no datum \(a sphere.*--assume-wgs84/],
    ["+proj=utm +zone=33 +ellps=intl", /no datum \(an ellipsoid of 6378388 m/],
    ["+proj=utm +zone=17 +datum=NAD27", /datum NAD27, which needs a grid file/],
    ["+proj=utm +zone=17 +ellps=clrk66 +nadgrids=conus", /grid file conus/],
    ["EPSG:27700", /EPSG:27700, which is not among the supported codes/],
    [
      'PROJCS["BNG",GEOGCS["OSGB36",DATUM["OSGB_1936",SPHEROID["Airy",6377563.396,299.3249646]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],UNIT["metre",1]]',
      /datum OSGB_1936, whose transformation to WGS84 is not known/,
    ],
    [
      'PROJCS["x",GEOGCS["x",DATUM["WGS_1984",SPHEROID["x",6377397,299.15]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Sinusoidal"],UNIT["metre",1]]',
      /states the datum WGS 84 with an ellipsoid of 6377397 m/,
    ],
  ])("rejects %s", (text, expected) => expect(rejection(text)).toMatch(expected));
});

describe("texts", () => {
  test.each([
    ["+proj=utm +zone=61 +datum=WGS84", /UTM zone 61/],
    ["+proj=utm +zone=33 +datum=WGS84 +axis=wsu", /axis=wsu/],
    ["+proj=utm +zone=33 +datum=WGS84 +pm=paris", /prime meridian paris/],
    ["+proj=utm +zone=33 +zone=34 +datum=WGS84", /\+zone twice/],
    ["+proj=utm +zone=33 +datum=WGS84 +gamma=3", /\+gamma, which is not supported/],
    ["+proj=omerc +lat_0=4 +datum=WGS84", /projection omerc.*Transverse Mercator/],
    ["+proj=ob_tran +o_proj=longlat +datum=WGS84", /\+o_proj, which is not supported/],
    ["+proj=stere +lat_0=45 +datum=WGS84", /lat_0 = 45; 90 or -90/],
    ["+proj=stere +lat_0=90 +lat_ts=-70 +datum=WGS84", /lat_ts = -70/],
    ["+proj=stere +lat_0=90 +lat_ts=70 +k=0.9 +datum=WGS84", /both a standard parallel and a scale factor/],
    ["+proj=lcc +lat_1=20 +lat_2=-20 +datum=WGS84", /minus lat_2/],
    ["+proj=aea +lat_1=20 +datum=WGS84", /lacks the parameter lat_2/],
    ["+proj=merc +k=x +datum=WGS84", /\+k=x; a number/],
    ["+proj=laea +lat_0=95 +datum=WGS84", /lat_0 = 95; a latitude/],
    ["+proj=sinu +a=1000 +b=1000 +towgs84=0,0,0", /semi-major axis of 1000 m/],
    ["+proj=sinu", /no ellipsoid/],
    ["ESRI:54009", /an EPSG code, a PROJ string or well-known text is expected/],
    ["PROJCS[", /not well-formed/],
    ['PROJCS["x"', /not well-formed \(a comma or a closing bracket is missing/],
    ['GEOCCS["x"]', /neither projected nor geographic/],
    ['PROJCS["x",PROJECTION["Krovak"]]', /without a geographic one/],
    ["[".repeat(50), /an EPSG code/],
    [`${"A[".repeat(60)}1${"]".repeat(60)}`, /more than 30 levels/],
    ['GEOGCS["x" "y"]', /not well-formed/],
    ['GEOGCS["x",1+2]', /not well-formed/],
    ['GEOGCS["x",{"word":"NORTH"}]', /"\{" cannot be read/],
  ])("rejects %s", (text, expected) => expect(rejection(text)).toMatch(expected));

  test("accepts one or rejects it with an error, however it is damaged", () => {
    const texts = points.map(({ definition }) => definition);
    const piece = fc.constantFrom(
      "[",
      "]",
      ",",
      '"',
      "+",
      "=",
      "0",
      "-1",
      "1e999",
      "NaN",
      "UNIT",
      "PARAMETER",
      " ",
      "é",
    );
    const damage = fc.record({ at: fc.nat(), count: fc.nat(12), piece, copies: fc.integer({ min: 0, max: 3 }) });
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(damage, { minLength: 1, maxLength: 4 }), (text, damages) => {
        let damaged = text;
        for (const { at, count, piece: inserted, copies } of damages) {
          const start = at % (damaged.length + 1);
          damaged = damaged.slice(0, start) + inserted.repeat(copies) + damaged.slice(start + count);
        }
        try {
          const { crs, unitM } = crsOfText(damaged, { assumeWgs84: true });
          expect(Object.values(crs.parameters).every(Number.isFinite)).toBe(true);
          expect(unitM > 0 && Number.isFinite(unitM)).toBe(true);
          expect(crs.ellipsoid.semiMajorM).toBeGreaterThan(6_300_000);
        } catch (error) {
          // Errors of the program, such as a TypeError, are not refusals.
          expect((error as Error).constructor).toBe(Error);
          expect((error as Error).message.length).toBeLessThan(800);
        }
      }),
      { numRuns: Number(process.env["ISOTHERM_CRS_TEXTS"] ?? 2000) },
    );
  });
});

describe("the order of axes", () => {
  const wkt = (first: string, second: string): string =>
    `PROJCS["x",GEOGCS["y",AXIS["Latitude",NORTH],AXIS["Longitude",EAST]],AXIS["a",${first}],AXIS["b",${second}]]`;

  test.each([
    [wkt("EAST", "NORTH"), "1,2"],
    [wkt("NORTH", "EAST"), "2,1"],
    [wkt("NORTH", "NORTH"), "1,2"],
    ['GEOGCS["y",AXIS["Latitude",NORTH],AXIS["Longitude",EAST]]', "2,1"],
    ['GEOGCS["y"]', "1,2"],
    ['COMPD_CS["z",GEOGCS["y",AXIS["Latitude",NORTH],AXIS["Longitude",EAST]],VERT_CS["h"]]', "2,1"],
    ["+proj=utm +zone=33", "1,2"],
    ["EPSG:4326", "2,1"],
    ["EPSG:32633", undefined],
  ])("of %s is %s", (text, order) => {
    expect(axisOrderOf(text)).toBe(order);
  });
});

describe("two coordinate systems", () => {
  const parse = (text: string) => crsOfText(text, { assumeWgs84: true });

  test.each([
    ["EPSG:32633", "+proj=utm +zone=33 +datum=WGS84", true],
    ["EPSG:32633", "EPSG:32634", false],
    ["EPSG:32633", "EPSG:32733", false],
    ["EPSG:4326", "+proj=longlat +datum=WGS84", true],
    ["EPSG:4326", "EPSG:3857", false],
    ["+proj=utm +zone=33 +datum=WGS84", "+proj=utm +zone=33 +datum=WGS84 +units=km", false],
    ["+proj=longlat +ellps=bessel +towgs84=1,2,3", "+proj=longlat +ellps=bessel +towgs84=1,2,4", false],
  ])("%s and %s are the same: %s", (first, second, isSame) => {
    expect(isSameCrs(parse(first), parse(second))).toBe(isSame);
    expect(isSameCrs(parse(second), parse(first))).toBe(isSame);
  });
});
