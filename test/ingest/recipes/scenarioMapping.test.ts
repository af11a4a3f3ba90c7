import { describe, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { checkScenarioMapping, type ScenarioMapping, sspMappings } from "../../../src/ingest/recipes/recipe.ts";

const SSPS = ["ssp119", "ssp126", "ssp245", "ssp370", "ssp460", "ssp534", "ssp585"] as const;
const accepted = sspMappings(SSPS);
const check = (mapping: ScenarioMapping) => [...checkScenarioMapping(mapping, { product: "Test", accepted })];
const errorsOf = (mapping: ScenarioMapping, product = { product: "Test", accepted }) => {
  try {
    checkScenarioMapping(mapping, product);
  } catch (error) {
    if (isFault(error, "invalid_request")) return error.items.map(({ pointer, detail }) => `${pointer} ${detail}`);
    throw error;
  }
  throw new Error("The mapping was accepted.");
};

describe("SSP scenarios", () => {
  test("are used for the RCP of the same forcing", () => {
    expect(check({ ssp126: "rcp2p6", ssp245: "rcp4p5", ssp460: "rcp6p0", ssp585: "rcp8p5" })).toEqual([
      ["ssp126", "rcp2p6"],
      ["ssp245", "rcp4p5"],
      ["ssp460", "rcp6p0"],
      ["ssp585", "rcp8p5"],
    ]);
    expect(check({})).toEqual([]);
  });

  test("are recognized in their usual spellings", () => {
    expect(check({ "SSP5-8.5": "rcp8p5" })).toEqual([["ssp585", "rcp8p5"]]);
    expect(check({ "ssp2-4.5": "rcp4p5" })).toEqual([["ssp245", "rcp4p5"]]);
  });

  test.each([
    ["ssp119", "SSP1-1.9"],
    ["ssp370", "SSP3-7.0"],
    ["ssp534", "SSP5-3.4"],
  ])("%s is rejected by name, because it has no RCP", (ssp, title) => {
    for (const rcp of ["rcp2p6", "rcp4p5", "rcp6p0", "rcp8p5"]) {
      const [error] = errorsOf({ [ssp]: rcp });
      expect(error).toContain(`there is no RCP scenario with the forcing of ${title}.`);
      expect(error).toContain("Accepted are ssp126, ssp245, ssp460, ssp585.");
    }
  });

  test("reports all errors at once, each with its pointer", () => {
    expect(errorsOf({ ssp370: "rcp6p0", ssp245: "rcp8p5", ssp999: "rcp2p6", rcp4p5: "rcp4p5" })).toEqual([
      expect.stringMatching(/^\/mapScenario\/ssp370 ssp370=rcp6p0: there is no RCP/),
      "/mapScenario/ssp245 ssp245=rcp8p5: SSP2-4.5 may be used only for rcp4p5.",
      expect.stringMatching(/^\/mapScenario\/ssp999 .*Test has no scenario ssp999/),
      expect.stringMatching(/^\/mapScenario\/rcp4p5 .*Test has no scenario rcp4p5/),
    ]);
  });

  test("two scenarios cannot be used for the same one, and a product accepts only its own", () => {
    expect(errorsOf({ ssp585: "rcp8p5", "SSP5-8.5": "rcp8p5" })).toEqual([
      "/mapScenario/SSP5-8.5 SSP5-8.5=rcp8p5: rcp8p5 is already mapped from ssp585.",
    ]);
    const storm = { product: "STORM", accepted: sspMappings(["ssp585"]) };
    expect(errorsOf({ ssp126: "rcp2p6" }, storm)).toEqual([
      "/mapScenario/ssp126 ssp126=rcp2p6: STORM has no SSP1-2.6. Accepted are ssp585.",
    ]);
  });
});
