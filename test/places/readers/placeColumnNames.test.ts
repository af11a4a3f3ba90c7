import { describe, expect, test } from "vitest";
import { findPlaceColumns, readColumnNames } from "../../../src/places/readers/placeColumnNames.ts";

/** The columns of the minimal location file of Open Exposure Data 3.x, and others that look like identifiers. */
const OED_HEADER = [
  "PortNumber",
  "AccNumber",
  "LocNumber",
  "LocName",
  "LocID",
  "IsTenant",
  "BuildingID",
  "CountryCode",
  "Latitude",
  "Longitude",
  "StreetAddress",
  "PostalCode",
  "OccupancyCode",
  "ConstructionCode",
  "LocPerilsCovered",
  "BuildingTIV",
  "OtherTIV",
  "ContentsTIV",
  "BITIV",
  "LocCurrency",
];

function find(names: readonly string[], requested: Parameters<typeof findPlaceColumns>[1]["requested"] = {}) {
  const indices = findPlaceColumns(names, { requested, hasGeometry: false });
  const nameOf = (index: number | undefined) => (index === undefined ? undefined : names[index]);
  return { id: nameOf(indices.id), latitude: nameOf(indices.latitude), longitude: nameOf(indices.longitude) };
}

describe("finding the columns of places", () => {
  test("recognizes OED location files", () => {
    expect(find(OED_HEADER)).toStrictEqual({ id: "LocNumber", latitude: "Latitude", longitude: "Longitude" });
  });

  test.each([
    [["id", "lat", "lon"], "id", "lat", "lon"],
    [["ASSET_ID", "LAT_DD", "LONG_DD"], "ASSET_ID", "LAT_DD", "LONG_DD"],
    [
      ["Site Latitude (deg)", "Site Longitude (deg)", "country"],
      undefined,
      "Site Latitude (deg)",
      "Site Longitude (deg)",
    ],
    [["decimalLatitude", "decimalLongitude"], undefined, "decimalLatitude", "decimalLongitude"],
    [["x", "y", "name"], "name", "y", "x"],
    [["x", "y", "lat", "lng"], undefined, "lat", "lng"],
    [["id", "asset_id", "gps.lat", "gps.lon"], "id", "gps.lat", "gps.lon"],
  ])("finds %j", (names, id, latitude, longitude) => {
    expect(find(names)).toStrictEqual({ id, latitude, longitude });
  });

  test("takes the given names before usual ones", () => {
    expect(find(["id", "lat", "lon", "b", "l", "key"], { id: "key", latitude: "b", longitude: "l" })).toStrictEqual({
      id: "key",
      latitude: "b",
      longitude: "l",
    });
  });

  test.each([
    [
      ["lat", "site_lat", "lon"],
      {},
      'The columns "lat" and "site_lat" could both be the latitude; choose one with --lat.',
    ],
    [
      ["asset_id", "site_id", "lat", "lon"],
      {},
      'The columns "asset_id" and "site_id" could both be the identifier of a place; choose one with --id.',
    ],
    [
      ["latitud3", "lon"],
      {},
      'No column has a usual name of the latitude; name it with --lat. Did you mean "latitud3"? The columns are "latitud3", "lon".',
    ],
    [
      ["lat", "lon"],
      { latitude: "Lat" },
      'The column "Lat" of --lat is missing. Did you mean "lat"? The columns are "lat", "lon".',
    ],
    [["lat", "lon"], { radiusKm: "r" }, 'The column "r" of --radius-column is missing. The columns are "lat", "lon".'],
    [
      ["lat", "lon"],
      { latitude: "lat", longitude: "lat" },
      'The column "lat" cannot be both the latitude and the longitude. The columns are "lat", "lon".',
    ],
    [
      ["a"],
      {},
      'No column has a usual name of the latitude; name it with --lat. No column has a usual name of the longitude; name it with --lon. The columns are "a".',
    ],
  ])("rejects %j with %j", (names, requested, message) => {
    expect(() => find(names, requested)).toThrow(message);
  });

  test("needs no coordinates if a geometry has them", () => {
    const columns = { requested: {}, hasGeometry: true };
    expect(findPlaceColumns(["id"], columns)).toMatchObject({ id: 0, latitude: undefined, longitude: undefined });
  });
});

describe("names of a header", () => {
  test("that occur more than once are rejected, each once", () => {
    const message = 'Several columns have the same name: "a", "b". Rename them.';
    expect(() => readColumnNames(["a", "b", "a", " a", "c", "b"])).toThrow(message);
  });

  test("are trimmed, and missing ones are the position", () => {
    expect(readColumnNames([" a ", "", "column_2"])).toStrictEqual(["a", "column_2_", "column_2"]);
  });
});
