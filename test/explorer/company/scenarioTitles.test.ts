import { expect, test } from "vitest";
import { SCENARIO_IDS } from "../../../src/company/scenarios.ts";
import { transitionScenarioTitle } from "../../../src/explorer/company/companyFormat.ts";

test("every transition scenario has a title of its own", () => {
  const titles = SCENARIO_IDS.map(transitionScenarioTitle);
  expect(titles.filter((title) => title.includes("_"))).toStrictEqual([]);
  expect(new Set(titles).size).toBe(SCENARIO_IDS.length);
});

test("titles are those of the NGFS and the IPCC", () => {
  expect(["NGFS_BELOW_2C", "IPCC_C7", "IPCC_SSP3_70"].map(transitionScenarioTitle)).toStrictEqual([
    "Below 2 °C",
    "IPCC C7",
    "IPCC SSP3-7.0",
  ]);
});

test("an unknown scenario keeps its id", () => {
  expect(transitionScenarioTitle("NGFS_OTHER")).toBe("NGFS_OTHER");
});
