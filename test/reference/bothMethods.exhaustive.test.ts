/** Sends the same names to temperature alignment and to the company method: what one accepts, the other does too. */
import { expect, test } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { totalClimateRisk } from "../../src/company/report.ts";
import { isFault } from "../../src/errors.ts";
import { LISTED_COUNTRIES } from "../../src/reference/countryNames.ts";
import { COUNTRY_NAME_ROWS } from "../../src/reference/data/countryNames.generated.ts";
import { COUNTRY_NATIVE_NAME_ROWS } from "../../src/reference/data/countryNativeNames.generated.ts";
import { INDUSTRY_CLASS_ROWS } from "../../src/reference/data/industryClasses.generated.ts";
import { INDUSTRY_SPELLING_ROWS } from "../../src/reference/data/industrySpellings.generated.ts";
import { LISTED_INDUSTRIES } from "../../src/reference/industries.ts";
import type { Entity } from "../../src/contract/wireTypes.ts";
import { fixtureRows } from "./fixtureRows.ts";

/** Returns the id of the industry and the code of the country that the company method finds, or its error codes. */
function companyMatch(names: { readonly industry: string; readonly country: string }): readonly (string | undefined)[] {
  try {
    const { company } = totalClimateRisk({
      name: "Company",
      ...names,
      revenue: 1e9,
      transition_scenarios: ["NGFS_BELOW_2C"],
      assessment_years: [2030],
    });
    return [company.industry.id, company.country.iso3];
  } catch (error) {
    if (!isFault(error)) throw error;
    return error.items.map(({ code }) => code);
  }
}

/** Returns the flags of each entity; those of years do not concern names. */
async function alignmentFlags(
  infos: readonly Partial<Entity["entity_info"]>[],
): Promise<readonly (readonly string[])[]> {
  const { results } = await alignTemperature(
    infos.map((info) => ({
      entity_info: { name: "Company", asset_type: "equity", ...info },
      data: [{ year: 2023, emissions: { scope1: 100, scope2: 10, scope3: 10 } }],
      projected_emissions: [{ year: 2030, emissions: { scope1: 90, scope2: 9, scope3: 9 } }],
    })),
  );
  return results.map(({ flags = [] }) => flags);
}

const industryNames = [
  ...LISTED_INDUSTRIES.filter(({ id }) => id !== "miscellaneous").flatMap(({ id, names }) => [id, ...names]),
  ...INDUSTRY_SPELLING_ROWS.map(({ spelling }) => spelling),
  ...INDUSTRY_CLASS_ROWS.map(({ title }) => title),
  ...INDUSTRY_CLASS_ROWS.map(({ system, code }) => `${system.toUpperCase()} ${code}`),
  ...fixtureRows("gicsSubIndustries.csv").map(({ name = "" }) => name.toUpperCase()),
];

test("alignment has a pathway for every industry that the company method accepts", async () => {
  const texts = [...new Set(industryNames)];
  expect(texts.length).toBeGreaterThan(5000);
  const flags = await alignmentFlags(texts.map((industry) => ({ industry, country: "DEU" })));
  const accepted = texts.filter((industry) => companyMatch({ industry, country: "DEU" })[1] === "DEU");
  expect(accepted.length).toBeGreaterThan(4000);
  const unknown = new Set(texts.filter((_, index) => flags[index]?.includes("unknown_industry") === true));
  expect(accepted.filter((text) => unknown.has(text))).toEqual([]);
});

test("both accept the same names of countries", async () => {
  const named = [...LISTED_COUNTRIES, ...COUNTRY_NAME_ROWS, ...COUNTRY_NATIVE_NAME_ROWS].flatMap(({ iso3, names }) =>
    names.map((name) => ({ iso3, name })),
  );
  const others = ["Republic of China", "Kosovo", "Atlantis", "Virgin Islands", "Mỹ"].map((name) => ({
    iso3: "country_unknown",
    name,
  }));
  const all = [...named, ...others].filter(({ iso3 }) => iso3 !== "ATA");
  const flags = await alignmentFlags(all.map(({ name }) => ({ industry: "Steel", country: name })));
  for (const [index, { iso3, name }] of all.entries()) {
    const found = companyMatch({ industry: "iron_steel", country: name }).at(-1);
    const isUnknown = flags[index]?.includes("unknown_country") ?? false;
    expect([name, found, isUnknown]).toEqual([name, iso3, iso3 === "country_unknown"]);
  }
});
