import { describe, expect, test } from "vitest";
import { parseCoordinates } from "../../src/explorer/place/coordinates.ts";

describe("parseCoordinates accepts", () => {
  test.each([
    ["11.589, 43.145", 11.589, 43.145],
    ["11.589,43.145", 11.589, 43.145],
    ["11.589 43.145", 11.589, 43.145],
    ["11.589; 43.145", 11.589, 43.145],
    ["11,43", 11, 43],
    ["11, 43", 11, 43],
    ["-33.92 18.42", -33.92, 18.42],
    ["−33.92, +18.42", -33.92, 18.42],
    ["33.92S 18.42E", -33.92, 18.42],
    ["33.92 S, 18.42 E", -33.92, 18.42],
    ["33.92° S, 18.42° E", -33.92, 18.42],
    ["S 33.92 E 18.42", -33.92, 18.42],
    ["s33.92,e18.42", -33.92, 18.42],
    ["18.42E 33.92S", -33.92, 18.42],
    ["48°51'24\"N 2°21'3\"E", 48.856_666_7, 2.350_833_3],
    ["48°51′24″N, 2°21′3″E", 48.856_666_7, 2.350_833_3],
    ["48° 51’ 24” N  2° 21’ 3” W", 48.856_666_7, -2.350_833_3],
    ["48 51 24 N 2 21 3 E", 48.856_666_7, 2.350_833_3],
    ["48 51 24, 2 21 3", 48.856_666_7, 2.350_833_3],
    ["48 51 24 2 21 3", 48.856_666_7, 2.350_833_3],
    ["48:51:24N 2:21:3E", 48.856_666_7, 2.350_833_3],
    ["48°51.4'N 2°21.05'E", 48.856_666_7, 2.350_833_3],
    ["N 48° 51.4' E 2° 21.05'", 48.856_666_7, 2.350_833_3],
    ["-33°55'12\" 18°25'12\"", -33.92, 18.42],
    ["lat 11.5 lon 43.1", 11.5, 43.1],
    ["lat: 11.5, lng: 43.1", 11.5, 43.1],
    ["longitude=43.1 latitude=11.5", 11.5, 43.1],
    ["(11.5, 43.1)", 11.5, 43.1],
    ["geo:11.5,43.1", 11.5, 43.1],
    ["90 -180", 90, -180],
    ["0 S 0 W", 0, 0],
    [".5 -.5", 0.5, -0.5],
  ])("%s", (text, latitude, longitude) => {
    expect(parseCoordinates(text)).toEqual({ kind: "coordinates", latitude, longitude });
  });
});

describe("parseCoordinates rejects", () => {
  test.each([
    ["11,589 43,145", "Write decimals with a point, not with a comma: 11.589 43.145"],
    ["11,589; 43,145", "Write decimals with a point, not with a comma: 11.589; 43.145"],
    ["11,589, 43,145", "Write decimals with a point, not with a comma: 11.589, 43.145"],
    ["11,589 N 43,145 E", "Write decimals with a point, not with a comma: 11.589 n 43.145 e"],
    ["11,5 43", "Write decimals with a point, not with a comma: 11.5 43"],
    ["91, 10", "The latitude must be between -90 and 90 (got 91). The latitude comes first."],
    ["10, 181", "The longitude must be between -180 and 180 (got 181)."],
    [
      "200, 300",
      "The latitude must be between -90 and 90 (got 200). The longitude must be between -180 and 180 (got 300).",
    ],
    ["-33.9 S 18 E", "The latitude has both a minus sign and a direction; remove one of them."],
  ])("%s", (text, message) => {
    expect(parseCoordinates(text)).toEqual({ kind: "error", message });
  });

  test.each(["11.5", "11.5 43 12", "10 N", "10 N 20 N", "48°61' 2°", "48.5°10' 2°", "1..2 3", "12 34 56 78 90"])(
    "%s, with an example",
    (text) => {
      const parsed = parseCoordinates(text);
      expect(parsed.kind).toBe("error");
      expect(parsed).toHaveProperty("message", expect.stringMatching(/such as "11\.589, 43\.145"|from 0 to below 60/));
    },
  );
});

test.each(["Djibouti", "Saint-Denis", "", "São Paulo", "6th of October City", "10 Downing Street"])(
  "parseCoordinates takes %j for a name",
  (text) => {
    expect(parseCoordinates(text)).toEqual({ kind: "other" });
  },
);
