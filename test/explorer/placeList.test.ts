import { describe, expect, test } from "vitest";
import { parsePlaceList, type PlaceList, PLACE_COUNT_MAX, renamePlaces } from "../../src/explorer/places/placeList.ts";

function accepted(text: string, requested = {}): PlaceList {
  const parsed = parsePlaceList(text, requested);
  if ("errors" in parsed) throw new Error(parsed.errors.join(" "));
  return parsed;
}

describe("parsePlaceList", () => {
  test.each([
    ["commas", "name,latitude,longitude\nDjibouti,11.589,43.145\n"],
    ["semicolons", "name;lat;lon\r\nDjibouti;11.589;43.145"],
    ["tabs, as copied from a spreadsheet", "Name\tLat_DD\tLng\nDjibouti\t11.589\t43.145"],
    [
      "a byte order mark, quotes and empty rows",
      '\ufeff"name","latitude","longitude"\n"Djibouti",11.589,43.145\n,,\n\n',
    ],
  ])("reads a list with %s", (_, text) => {
    const { rows, used } = accepted(text);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      line: 2,
      id: "Djibouti",
      location: { latitude: 11.589, longitude: 43.145 },
      errors: [],
    });
    expect(used.id?.toLowerCase()).toBe("name");
  });

  test("reads decimal commas of both coordinates if the delimiter is the semicolon", () => {
    const { rows } = accepted("id;lat;lon\n007;14,6;121,0\nB;-33,92;18,42\nC;12,5;10\nD;1,234,5;2,5\nE;95,5;10,5");
    expect(rows[0]).toMatchObject({ cells: ["007", "14,6", "121,0"], location: { latitude: 14.6, longitude: 121 } });
    expect(rows.map(({ location }) => location?.latitude)).toEqual([14.6, -33.92, undefined, undefined, undefined]);
    expect(rows[2]?.errors[0]).toContain("write 12.5 with a decimal point");
    expect(rows[4]?.errors[0]).toContain("must be between -90 and 90");
    expect(accepted('id,lat,lon\nA,"14,6","121,0"').rows[0]?.location).toBeUndefined();
  });

  test("keeps faulty rows with their errors", () => {
    const { rows } = accepted('id,lat,lon\nA,95,10\nB,1,2\nC,,200\nD,"12,5",x\nE,1,2,3');
    expect(rows.map(({ location }) => location !== undefined)).toEqual([false, true, false, false, false]);
    expect(rows[0]?.errors).toEqual(['latitude in column "lat" must be between -90 and 90 degrees (got "95")']);
    expect(rows[2]?.errors).toEqual([
      'latitude in column "lat" is missing; it must be between -90 and 90 degrees',
      'longitude in column "lon" must be between -180 and 180 degrees (got "200"); subtract 360 from longitudes above 180',
    ]);
    expect(rows[3]?.errors[0]).toContain("write 12.5 with a decimal point");
    expect(rows[3]?.errors).toHaveLength(2);
    expect(rows[4]?.errors[0]).toContain("the row has 4 cells, but the header has 3");
  });

  test("keeps a row with an unclosed quote with its error, and reads the next ones", () => {
    const { rows } = accepted('id,lat,lon\nA,1,2\nB,3,"4"x\n"C,5,6\nD,7,8\n');
    expect(rows.map(({ id, location }) => [id, location?.latitude])).toEqual([
      ["A", 1],
      ["B", undefined],
      ['"C', undefined],
      ["D", 7],
    ]);
    expect(rows.map(({ errors }) => errors)).toEqual([
      [],
      [
        'line 3, column "lon": unexpected text after the closing quote of a cell; write a quote inside a quoted cell twice',
      ],
      ['line 4, column "id": the closing quote of a cell is missing'],
      [],
    ]);
  });

  test("names places without an identifier by their lines", () => {
    const list = accepted('site,lat,lon\n"two\nlines",1,2\n,3,4');
    expect(list.used.id).toBeUndefined();
    expect(list.rows.map(({ id }) => id)).toEqual(["line 2", "line 4"]);
    expect(renamePlaces(list, "site").rows.map(({ id }) => id)).toEqual(["two\nlines", "line 4"]);
    expect(renamePlaces(renamePlaces(list, "site"), undefined)).toEqual(list);
  });

  test("uses the columns that are given", () => {
    const { used, rows } = accepted("a,b\n1,2", { latitude: "b", longitude: "a" });
    expect(used).toEqual({ id: undefined, latitude: "b", longitude: "a" });
    expect(rows[0]?.location).toEqual({ latitude: 2, longitude: 1 });
  });

  test.each([
    ["", "The list is empty."],
    ["lat,lon\n", "The list has a header, but no places."],
    ["11.5,43.1\n12.5,44.1", 'The first line must name the columns, for example "name,latitude,longitude".'],
    ['lat,"lon\n1,2', "Line 1: the closing quote of a cell is missing."],
    ["lat,lat\n1,2", 'Several columns have the same name: "lat". Rename them.'],
  ])("rejects %j", (text, error) => {
    expect(parsePlaceList(text)).toMatchObject({ errors: [error] });
  });

  test("names the columns that are missing or ambiguous, without options of the command line", () => {
    expect(parsePlaceList("name,north,east\nA,1,2")).toEqual({
      errors: [
        'No column has a usual name of the latitude, such as "latitude" or "lat". Choose the column.',
        'No column has a usual name of the longitude, such as "longitude" or "lon". Choose the column.',
      ],
      columns: ["name", "north", "east"],
    });
    expect(parsePlaceList("lat,latitude,lon\n1,2,3")).toMatchObject({
      errors: ['The columns "lat" and "latitude" could both be the latitude. Choose one of them.'],
    });
  });

  test(`accepts ${PLACE_COUNT_MAX} places and not one more`, () => {
    const listOf = (count: number): string => `lat,lon\n${"1,2\n".repeat(count)}`;
    expect(accepted(listOf(PLACE_COUNT_MAX)).rows).toHaveLength(PLACE_COUNT_MAX);
    expect(parsePlaceList(listOf(PLACE_COUNT_MAX + 1))).toMatchObject({
      errors: ['The list has 1001 places; at most 1000 are accepted here. For longer lists, use "isotherm portfolio".'],
      columns: [],
    });
  });
});
