import { describe, expect, test } from "vitest";
import { placeBeyondMapText, placesBeyondMapText } from "../../src/explorer/map/mapOverlay.ts";

describe("places beyond the map", () => {
  test.each([
    [90, "The map ends at 85.05° N; the place is drawn at its edge."],
    [85.06, "The map ends at 85.05° N; the place is drawn at its edge."],
    [85.05, undefined],
    [0, undefined],
    [-85.05, undefined],
    [-85.06, "The map ends at 85.05° S; the place is drawn at its edge."],
  ])("says where a place at latitude %f is drawn", (latitude, text) => {
    expect(placeBeyondMapText({ latitude })).toBe(text);
  });

  test("counts those of a list", () => {
    const places = [89, 12, -90, 85].map((latitude) => ({ latitude }));
    expect(placesBeyondMapText(places)).toBe("The map ends at 85.05° N and S; 2 places beyond are drawn at its edges.");
    expect(placesBeyondMapText(places.slice(0, 2))).toBe(
      "The map ends at 85.05° N and S; 1 place beyond is drawn at its edge.",
    );
    expect(placesBeyondMapText([{ latitude: 85 }])).toBeUndefined();
  });
});
