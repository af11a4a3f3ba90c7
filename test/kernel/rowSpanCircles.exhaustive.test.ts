import { beforeAll, describe, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/instance.ts";
import { randomFrom } from "../seededRandom.ts";
import { GRIDS } from "./gridCases.ts";
import { checkEveryCell, checkRims } from "./rowSpanChecks.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

/** The random circles of test/kernel/rowSpans.test.ts, but more of them. */
describe("rowSpans on many circles", () => {
  for (const [index, [name, grid]] of Object.entries(GRIDS).entries()) {
    test(`matches GeographicLib on every cell: ${name}`, () => {
      checkEveryCell(kernel, grid, { random: randomFrom(100 + index), count: 60 });
    });
  }

  test("includes a cell with its center exactly on the rim, and excludes it if the radius is one bit smaller", () => {
    const random = randomFrom(5);
    let checkedCount = 0;
    for (const [name, grid] of Object.entries(GRIDS)) {
      if (!name.startsWith("a single cell")) checkedCount += checkRims(kernel, grid, { random, count: 60 });
    }
    expect(checkedCount).toBeGreaterThan(200);
  });
});
