import { describe, expect, test } from "vitest";
import { COUNTRIES } from "../../src/company/countryFigures.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import { referenceCountries, referenceIndustries, referenceScenarios } from "../../src/company/referenceLists.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import { ask, first } from "./requests.ts";

describe("reference lists", () => {
  test("have industries, countries and scenarios that can be found by id, name and aliases", () => {
    const lists = [
      [referenceIndustries(), "industry"],
      [referenceCountries(), "country"],
    ] as const;
    for (const [items, member] of lists) {
      for (const { id, name, aliases } of items) {
        for (const text of [id, name, ...aliases]) {
          const { company } = ask({ [member]: text });
          expect(member === "industry" ? company.industry.id : company.country.iso3, text).toBe(id);
        }
      }
    }
    expect(referenceIndustries()).toHaveLength(INDUSTRIES.length);
    expect(referenceCountries()).toHaveLength(COUNTRIES.length);
    const scenarios = referenceScenarios();
    expect(scenarios.map(({ id }) => id)).toEqual(SCENARIO_IDS);
    for (const { id, name } of scenarios) {
      expect(first(ask({ transition_scenarios: [name] })).scenario).toBe(id);
    }
  });

  test("describe each item", () => {
    expect(referenceIndustries()[0]).toEqual({
      id: "iron_steel",
      name: "Iron and steel",
      aliases: ["Steel"],
      sector: "Metals and mining",
      isic: ["2410", "2431"],
      nace: ["24.1", "24.2", "24.3", "24.51", "24.52"],
      naics: ["3311", "3312", "33151"],
      factor_source: expect.stringContaining("companies report"),
      parameters: ask({ industry: "iron_steel" }).parameters.industry,
    });
    expect(referenceCountries().find(({ id }) => id === "TWN")).toMatchObject({
      name: "Taiwan",
      iso2: "TW",
      tier: "B",
      fallbacks: [
        "carbon intensity of the economy, estimated as emissions per GDP at purchasing power parity, divided by the median price level of the subregion",
      ],
      parameters: ask({ country: "TWN" }).parameters.country,
    });
    const of = (id: string) => referenceScenarios().find((scenario) => scenario.id === id);
    expect(of("NGFS_BELOW_2C")).toMatchObject({ iams: ["remind", "messageix", "gcam"], world_price: false });
    expect(of("NGFS_NDC")).toMatchObject({ iams: ["remind"], price_substitute: null });
    expect(of("IPCC_C4")).toMatchObject({ iams: [], world_price: true, price_substitute: "lower quartile of C3" });
  });
});
