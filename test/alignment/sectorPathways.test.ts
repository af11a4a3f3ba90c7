import { describe, expect, test } from "vitest";
import { isKnownClassification, matchSector } from "../../src/alignment/sectorPathways.ts";
import { describeWithReference, readSharedRows } from "./sharedReference.ts";

/** Names of sectors, groups and industries in common classification systems, by expected pathway. */
const USUAL_NAMES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  GICS: {
    power: [
      "Utilities",
      "Electric Utilities",
      "Multi-Utilities",
      "Independent Power and Renewable Electricity Producers",
    ],
    energy_supply: ["Energy", "Energy Equipment & Services", "Oil, Gas & Consumable Fuels", "Gas Utilities"],
    industry: [
      "Materials",
      "Industrials",
      "Consumer Durables & Apparel",
      "Food, Beverage & Tobacco",
      "Household & Personal Products",
      "Health Care Equipment & Services",
      "Pharmaceuticals, Biotechnology & Life Sciences",
      "Technology Hardware & Equipment",
      "Semiconductors & Semiconductor Equipment",
      "Chemicals",
      "Construction Materials",
      "Containers & Packaging",
      "Metals & Mining",
      "Paper & Forest Products",
      "Aerospace & Defense",
      "Building Products",
      "Construction & Engineering",
      "Electrical Equipment",
      "Industrial Conglomerates",
      "Machinery",
      "Household Durables",
      "Leisure Products",
      "Textiles, Apparel & Luxury Goods",
      "Electronic Equipment, Instruments & Components",
    ],
    transport: [
      "Transportation",
      "Automobiles & Components",
      "Air Freight & Logistics",
      "Passenger Airlines",
      "Marine Transportation",
      "Ground Transportation",
      "Transportation Infrastructure",
      "Automobile Components",
      "Automobiles",
    ],
    buildings: [
      "Real Estate",
      "Equity Real Estate Investment Trusts (REITs)",
      "Real Estate Management & Development",
      "Hotels, Restaurants & Leisure",
    ],
    economy: [
      "Consumer Discretionary",
      "Consumer Staples",
      "Health Care",
      "Financials",
      "Information Technology",
      "Communication Services",
      "Commercial & Professional Services",
      "Consumer Services",
      "Consumer Discretionary Distribution & Retail",
      "Consumer Staples Distribution & Retail",
      "Banks",
      "Financial Services",
      "Insurance",
      "Software & Services",
      "Telecommunication Services",
      "Media & Entertainment",
      "Trading Companies & Distributors",
      "Diversified Consumer Services",
      "Water Utilities",
    ],
    unknown: ["Capital Goods"],
  },
  NACE: {
    power: ["Electricity, gas, steam and air conditioning supply"],
    energy_supply: [
      "Manufacture of coke and refined petroleum products",
      "Extraction of crude petroleum and natural gas",
      "Mining of coal and lignite",
    ],
    industry: [
      "Mining and quarrying",
      "Manufacturing",
      "Construction",
      "Manufacture of electrical equipment",
      "Manufacture of other transport equipment",
      "Manufacture of basic metals",
    ],
    transport: ["Transportation and storage", "Manufacture of motor vehicles, trailers and semi-trailers"],
    buildings: ["Accommodation and food service activities", "Real estate activities"],
    economy: [
      "Agriculture, forestry and fishing",
      "Water supply; sewerage, waste management and remediation activities",
      "Wholesale and retail trade; repair of motor vehicles and motorcycles",
      "Information and communication",
      "Financial and insurance activities",
      "Professional, scientific and technical activities",
      "Administrative and support service activities",
      "Public administration and defence; compulsory social security",
      "Education",
      "Human health and social work activities",
      "Arts, entertainment and recreation",
      "Other service activities",
      "Activities of households as employers",
      "Activities of extraterritorial organisations and bodies",
      "Social work activities without accommodation",
    ],
  },
  NAICS: {
    power: ["Utilities"],
    energy_supply: ["Mining, Quarrying, and Oil and Gas Extraction"],
    industry: ["Construction", "Manufacturing"],
    transport: ["Transportation and Warehousing"],
    buildings: ["Real Estate and Rental and Leasing", "Accommodation and Food Services"],
    economy: [
      "Agriculture, Forestry, Fishing and Hunting",
      "Wholesale Trade",
      "Retail Trade",
      "Information",
      "Finance and Insurance",
      "Professional, Scientific, and Technical Services",
      "Management of Companies and Enterprises",
      "Administrative and Support and Waste Management and Remediation Services",
      "Educational Services",
      "Health Care and Social Assistance",
      "Arts, Entertainment, and Recreation",
      "Other Services (except Public Administration)",
      "Public Administration",
    ],
  },
  ISIC: {
    power: ["Electricity, gas, steam and air conditioning supply"],
    transport: ["Transportation and storage"],
    economy: [
      "Agriculture, forestry and fishing",
      "Water supply; sewerage, waste management and remediation activities",
      "Wholesale and retail trade; repair of motor vehicles and motorcycles",
      "Financial and insurance activities",
      "Human health and social work activities",
      "Activities of households as employers; undifferentiated goods- and services-producing activities of households for own use",
      "Telecommunications, computer programming, consultancy, computing infrastructure, and other information service activities",
    ],
  },
  SICS: {
    power: [
      "Renewable Resources & Alternative Energy",
      "Electric Utilities & Power Generators",
      "Solar Technology & Project Developers",
      "Wind Technology & Project Developers",
    ],
    energy_supply: [
      "Gas Utilities & Distributors",
      "Oil & Gas – Exploration & Production",
      "Oil & Gas – Midstream",
      "Coal Operations",
      "Biofuels",
    ],
    industry: [
      "Extractives & Minerals Processing",
      "Food & Beverage",
      "Resource Transformation",
      "Iron & Steel Producers",
      "Engineering & Construction Services",
      "Fuel Cells & Industrial Batteries",
      "Pulp & Paper Products",
    ],
    transport: [
      "Transportation",
      "Air Freight & Logistics",
      "Airlines",
      "Auto Parts",
      "Automobiles",
      "Cruise Lines",
      "Marine Transportation",
      "Rail Transportation",
      "Road Transportation",
    ],
    buildings: ["Home Builders", "Real Estate Services"],
    economy: [
      "Consumer Goods",
      "Financials",
      "Health Care",
      "Services",
      "Technology & Communications",
      "Forestry Management",
      "Car Rental & Leasing",
      "Water Utilities & Services",
      "Waste Management",
    ],
    unknown: ["Infrastructure"],
  },
};

describe.each(Object.entries(USUAL_NAMES))("names of %s", (_, byPathway) => {
  test.each(Object.entries(byPathway).flatMap(([pathway, names]) => names.map((name) => ({ pathway, name }))))(
    "$name: $pathway",
    ({ pathway, name }) => {
      for (const match of [matchSector({ sector: name }), matchSector({ industry: name })]) {
        expect(match.on === null ? "unknown" : match.pathway).toBe(pathway);
      }
    },
  );
});

/** Industries of the company method with a pathway other than `economy`. */
const INDUSTRIES: Readonly<Record<string, readonly string[]>> = {
  power: [
    "Electric utilities",
    "Renewable and alternative power generation",
    "Fossil-fuelled power generation",
    "Nuclear power generation",
    "Electricity transmission and distribution",
  ],
  energy_supply: [
    "Oil and gas production",
    "Integrated oil and gas",
    "Oil refining and marketing",
    "Coal mining",
    "Contract drilling",
    "Oilfield services and equipment",
    "Oil and gas pipelines",
    "Gas distribution",
  ],
  industry: [
    "Iron and steel",
    "Aluminium",
    "Precious metals mining and refining",
    "Other metals and minerals",
    "Forestry and wood products",
    "Construction materials (aggregates, concrete, cement mix)",
    "Metal fabrication",
    "Industrial machinery",
    "Trucks, construction and farm machinery",
    "Building products",
    "Electrical equipment",
    "Office equipment and supplies",
    "Miscellaneous manufacturing",
    "Industrial conglomerates",
    "Semiconductors",
    "Electronic components",
    "Electronic equipment and instruments",
    "Telecommunications equipment",
    "Aerospace and defence",
    "Computers and servers",
    "Computer peripherals and storage",
    "Computer networking equipment",
    "Semiconductor and electronics production equipment",
    "Home furnishings",
    "Consumer electronics and appliances",
    "Tools and hardware",
    "Recreational products and toys",
    "Jewellery, watches and leather goods",
    "Basic and diversified chemicals",
    "Specialty chemicals",
    "Fertilisers and agricultural chemicals",
    "Textiles",
    "Pulp and paper",
    "Containers and packaging",
    "Paints, plastics and industrial specialties",
    "Pharmaceuticals, major",
    "Pharmaceuticals, other",
    "Pharmaceuticals, generic",
    "Biotechnology",
    "Medical devices and instruments",
    "Food, diversified",
    "Food, specialty and confectionery",
    "Meat, fish and dairy",
    "Beverages, non-alcoholic",
    "Beverages, alcoholic",
    "Tobacco",
    "Household and personal care",
    "Apparel and footwear",
    "Engineering and construction",
    "Commercial printing",
    "Cement and lime",
    "Glass",
    "Fertilisers and nitrogen compounds",
  ],
  transport: [
    "Motor vehicle parts",
    "Motor vehicles",
    "Automotive aftermarket",
    "Air freight and couriers",
    "Airlines",
    "Trucking",
    "Railroads",
    "Marine shipping",
    "Transport infrastructure, transit and logistics",
    "Ports, airports and toll roads",
    "Warehousing and storage",
  ],
  buildings: [
    "Homebuilding",
    "Hotels, resorts and cruise lines",
    "Real estate development and operation",
    "Real estate investment trusts",
  ],
};

describeWithReference("industries of the company method", () => {
  const rows = readSharedRows("reference/industries.csv");
  const expected = new Map(
    Object.entries(INDUSTRIES).flatMap(([pathway, names]) => names.map((name) => [name, pathway])),
  );

  test("are 147, and include every name of the list above", () => {
    const names = new Set(rows.map(({ name }) => name));
    expect(names.size).toBe(147);
    expect([...expected.keys()].filter((name) => !names.has(name))).toEqual([]);
  });

  test.each(rows)("$name", ({ name = "", sector = "" }) => {
    const match = matchSector({ industry: name, sector });
    expect(match.pathway).toBe(expected.get(name) ?? "economy");
    // The unclassified industry has no match.
    expect(match.on).toBe(name === "Miscellaneous / unclassified company" ? null : "industry");
  });
});

describe("matchSector", () => {
  test.each([
    { text: "Railroads", pathway: "transport", row: 13, key: "rail*" },
    { text: "Trailers", pathway: "economy", row: null, key: null },
    { text: "Autos", pathway: "transport", row: 8, key: "autos" },
    { text: "Factory automation", pathway: "economy", row: null, key: null },
    { text: "ELECTRICITÉ, production", pathway: "economy", row: null, key: null },
    { text: "Énergie, Solar", pathway: "power", row: 11, key: "solar" },
    { text: "Multi-Utilities", pathway: "power", row: 5, key: "multi utilit*" },
    { text: "Non-Energy Minerals", pathway: "industry", row: 10, key: "non energy" },
    { text: "Electric Vehicle Manufacturers", pathway: "transport", row: 4, key: "electric vehicle*" },
    { text: "Transportation equipment", pathway: "industry", row: 10, key: "transport* equipment" },
    { text: "Real_estate", pathway: "buildings", row: 2, key: "real estate" },
    { text: "Real, or estate", pathway: "economy", row: null, key: null },
    { text: "Home building and Mortgages", pathway: "economy", row: 1, key: "mortgage*" },
    { text: "Ｓｔｅｅｌ", pathway: "industry", row: 14, key: "steel" },
    { text: "D35.11", pathway: "economy", row: null, key: null },
    { text: "", pathway: "economy", row: null, key: null },
  ])("$text: $pathway by $key", ({ text, pathway, row, key }) => {
    expect(matchSector({ industry: text })).toEqual({ pathway, on: row === null ? null : "industry", row, key });
  });

  test("uses the sector only if the industry does not match", () => {
    expect(matchSector({ industry: "Zinc", sector: "Utilities" })).toEqual({
      pathway: "power",
      on: "sector",
      row: 15,
      key: "utilit*",
    });
    expect(matchSector({ industry: "Media", sector: "Utilities" }).pathway).toBe("economy");
    expect(matchSector({}).on).toBeNull();
  });
});

test("recognizes classification systems regardless of case and spaces", () => {
  expect([" GICS ", "nace", "custom"].every(isKnownClassification)).toBe(true);
  expect(["", "gics2", "sic"].some(isKnownClassification)).toBe(false);
});

test("caches names correctly, however many and however long", () => {
  for (let i = 0; i < 5000; i++) matchSector({ industry: `Unheard-of ${i}` });
  expect(matchSector({ industry: "Unheard-of 7" }).on).toBeNull();
  expect(matchSector({ industry: "Airlines" }).pathway).toBe("transport");
  expect(matchSector({ industry: `${"zz ".repeat(100)}cement` }).key).toBe("cement");
});
