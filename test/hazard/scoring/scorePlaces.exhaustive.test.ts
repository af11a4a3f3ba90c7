/** Scores equal single queries bit for bit. ISOTHERM_SCORED_PLACES sets the number of places per case. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalAtlas } from "../../../src/hazard/answer.ts";
import type { ScoreGroup } from "../../../src/hazard/scoring/scoreRequest.ts";
import { Kernel } from "../../../src/kernel/instance.ts";
import { openLocalAtlas } from "../../../src/openAtlas.ts";
import { randomFrom } from "../../seededRandom.ts";
import { makePortfolioAtlas } from "./portfolioAtlas.ts";
import { groupsFor, placesFor, SCORE_CASES } from "./scoreRequests.ts";
import { groupScores, queriedScores } from "./singleQueries.ts";

const PLACE_COUNT = Number(process.env["ISOTHERM_SCORED_PLACES"] ?? 120);
/** Less than the tiles of the atlas take, so that tiles are evicted. */
const CACHE_BYTES = 6 << 20;

/** Some layers are not in the made atlas: of a scenario and year, and of a hazard. */
const LAYERS: readonly Omit<ScoreGroup, "metrics">[] = [
  { hazard: "riverine_floods", scenario: "baseline", analysisYear: 1980 },
  { hazard: "riverine_floods", scenario: "baseline", analysisYear: 2050 },
  { hazard: "riverine_floods", scenario: "rcp4p5", analysisYear: 2030 },
  { hazard: "riverine_floods", scenario: "rcp8p5", analysisYear: 2030 },
  { hazard: "riverine_floods", scenario: "rcp8p5", analysisYear: 2050 },
  { hazard: "riverine_floods", scenario: "rcp8p5", analysisYear: 2080 },
  { hazard: "cyclones", scenario: "rcp8p5", analysisYear: 1980 },
  { hazard: "cyclones", scenario: "rcp8p5", analysisYear: 2050 },
  { hazard: "cyclones", scenario: "rcp2p6", analysisYear: 2050 },
  { hazard: "wildfire", scenario: "rcp8p5", analysisYear: 2050 },
];

let folder: string;
let made: LocalAtlas;
let demo: LocalAtlas;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  await makePortfolioAtlas(await Kernel.load(), folder);
  made = await openLocalAtlas(folder, CACHE_BYTES);
  demo = await openLocalAtlas("demo", 64 << 20);
});
afterAll(async () => {
  await Promise.all([made.close(), demo.close()]);
  await rm(folder, { recursive: true, force: true });
});

describe.each([
  ["an atlas with holes, bounds and missing layers", () => made, 1],
  ["the demo", () => demo, 0.1],
] as const)("scores of %s", (_, atlasOf, share) => {
  test.each(SCORE_CASES)("equal single queries: $name", async (scoreCase) => {
    const random = randomFrom(SCORE_CASES.indexOf(scoreCase) + 1);
    const groups = groupsFor(random, scoreCase, LAYERS);
    const { method, anthropogenic = false } = scoreCase;
    const count = Math.ceil(PLACE_COUNT * share);
    const request = { groups, method, anthropogenic, ...placesFor(random, scoreCase, count) };
    const scores = await atlasOf().score(request);
    const expected = await queriedScores(atlasOf(), request);
    expect(groupScores(request, scores)).toStrictEqual(expected);
  });
});
