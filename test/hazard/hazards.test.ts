import { describe, expect, test } from "vitest";
import { HAZARD_NAMES, HAZARDS } from "../../src/hazard/hazards.ts";

describe.each(HAZARD_NAMES)("the definition of %s", (hazard) => {
  test("describes the meaning of every metric", () => {
    const { metrics } = HAZARDS[hazard];
    expect(metrics.filter(({ meaning }) => meaning === "").map(({ metric }) => metric)).toEqual([]);
  });
});
