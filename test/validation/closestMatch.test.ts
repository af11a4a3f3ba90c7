import { describe, expect, test } from "vitest";
import { closestMatch } from "../../src/validation/closestMatch.ts";

describe("the suggestion for an unknown name", () => {
  const scenarios = ["baseline", "rcp2p6", "rcp4p5", "rcp6p0", "rcp8p5"];
  test.each([
    ["rcp85", scenarios, "rcp8p5"],
    ["RCP8.5", scenarios, "rcp8p5"],
    ["RCP 4.5", scenarios, "rcp4p5"],
    ["basline", scenarios, "baseline"],
    ["absleine", scenarios, "baseline"],
    ["rcp5p5", scenarios, undefined],
    ["rcp", scenarios, undefined],
    ["ssp585", scenarios, undefined],
    ["lat", ["latitude", "longitude"], "latitude"],
    ["Coastal-Floods", ["coastal_floods", "riverine_floods"], "coastal_floods"],
    ["", scenarios, undefined],
    ["baseline".padEnd(65, "e"), scenarios, undefined],
  ])("for %j is the closest candidate, or none", (given, candidates, suggestion) => {
    expect(closestMatch(given, candidates)).toBe(suggestion);
  });
});
