// Writes each CSV table of TABLES as `<name>.generated.ts` next to it, with typed rows. The tables are compiled into
// the package, so that reading them needs no file access and works in browsers. Skips files that are up to date.
//
// To add a table: add the CSV file and an entry below, run `npm run build`, and import the generated rows.
import { readFile, writeFile } from "node:fs/promises";
import { hashInputs, inputLine, isUpToDate } from "./generatedSource.mjs";
import { tableSource } from "./tableSource.mjs";

const ROOT = new URL("../", import.meta.url);
/** Columns with one value per year. */
const yearColumns = (/** @type {import("./tableSource.d.mts").ColumnKind} */ kind) =>
  Object.fromEntries(
    [2020, 2025, 2030, 2035, 2040, 2045, 2050, 2055, 2060, 2070, 2080, 2090, 2100].map((year) => [year, kind]),
  );

/** Columns `<prefix>_<year>` with one number per five years up to 2060. */
const indexColumns = (/** @type {string} */ prefix, /** @type {number} */ firstYear) =>
  Object.fromEntries(
    Array.from({ length: (2060 - firstYear) / 5 + 1 }, (_, i) => [`${prefix}_${firstYear + 5 * i}`, "number"]),
  );

/** @type {readonly import("./tableSource.d.mts").Table[]} */
const TABLES = [
  {
    file: "src/reference/data/countries.csv",
    rows: "COUNTRY_ROWS",
    row: "CountryRow",
    columns: {
      iso3: "text",
      iso2: "text",
      name: "text",
      official_name: "text",
      aliases: "list",
      ngfs_r5: "text",
      source: "note",
    },
  },
  {
    file: "src/reference/data/countryNames.csv",
    rows: "COUNTRY_NAME_ROWS",
    row: "CountryNameRow",
    columns: { iso3: "text", names: "list", source: "note" },
  },
  {
    file: "src/reference/data/countryNativeNames.csv",
    rows: "COUNTRY_NATIVE_NAME_ROWS",
    row: "CountryNativeNameRow",
    columns: { iso3: "text", names: "list", source: "note" },
  },
  {
    file: "src/reference/data/pathwayKeys.csv",
    rows: "PATHWAY_KEY_ROWS",
    row: "PathwayKeyRow",
    columns: { row: "number", pathway: "text", keys: "list", source: "note" },
  },
  {
    file: "src/reference/data/industrySpellings.csv",
    rows: "INDUSTRY_SPELLING_ROWS",
    row: "IndustrySpellingRow",
    columns: { spelling: "text", industries: "list", note: "note" },
  },
  {
    file: "src/reference/data/industryClasses.csv",
    rows: "INDUSTRY_CLASS_ROWS",
    row: "IndustryClassRow",
    columns: { system: "text", code: "text", title: "text", industries: "list", note: "note" },
  },
  {
    file: "src/reference/data/industries.csv",
    rows: "INDUSTRY_ROWS",
    row: "IndustryRow",
    columns: {
      id: "text",
      name: "text",
      alias: "text",
      s1_t_per_musd: "number",
      s2_t_per_musd: "number",
      s3up_t_per_musd: "number",
      s3down_t_per_musd: "number",
      factor_source: "text",
      useeio_codes: "note",
    },
  },
  {
    file: "src/alignment/data/anchors.csv",
    rows: "ANCHOR_ROWS",
    row: "AnchorRow",
    columns: {
      scenario: "text",
      temperature_2100_c: "number",
      temperature_2100_p10_c: "number",
      temperature_2100_p90_c: "number",
      source: "note",
    },
  },
  {
    file: "src/alignment/data/warmingPercentiles.csv",
    rows: "WARMING_PERCENTILE_ROWS",
    row: "WarmingPercentileRow",
    columns: { percentile: "text", gsat_2025_c: "number", floor_c: "number", source: "note" },
  },
  {
    file: "src/alignment/data/pathways.csv",
    rows: "PATHWAY_ROWS",
    row: "PathwayRow",
    columns: { pathway: "text", scenario: "text", ...indexColumns("index", 2025), source: "note" },
  },
  {
    file: "src/alignment/data/countryGrowth.csv",
    rows: "COUNTRY_GROWTH_ROWS",
    row: "CountryGrowthRow",
    columns: { id: "text", kind: "text", ...indexColumns("gdp_ppp_index", 2015), source: "note" },
  },
  {
    file: "src/alignment/data/consumerPrices.csv",
    rows: "CONSUMER_PRICE_ROWS",
    row: "ConsumerPriceRow",
    columns: { year: "number", us_cpi_u_annual_average: "number", source: "note" },
  },
  {
    file: "src/company/data/countryFigures.csv",
    rows: "COUNTRY_FIGURE_ROWS",
    row: "CountryFigureRow",
    columns: {
      iso3: "text",
      tier: "text",
      fallbacks: "list",
      ei_t_per_musd_nominal_2022: "number",
      ci_ratio_us: "number",
      price_level_rel_us: "number",
      grid_gco2_kwh: "number",
      grid_year: "number?",
      grid_source: "text",
      grid_ratio_us: "number",
      warming_ratio: "number",
      t0_c: "number",
      t0_source: "text",
      aal_flood: "number?",
      aal_wind: "number?",
      aal_surge: "number?",
      source: "note",
    },
  },
  {
    file: "src/company/data/industryParameters.csv",
    rows: "INDUSTRY_PARAMETER_ROWS",
    row: "IndustryParameterRow",
    columns: {
      id: "text",
      sector: "text",
      isic4: "list",
      nace2: "list",
      naics2017: "list",
      theta_s1: "number",
      s1_scaling: "text",
      s1_range: "number",
      s2_range: "number",
      s3_range: "number",
      va_share: "number",
      archetype: "text",
      ebitda_margin: "number",
      assets_to_revenue: "number",
      debt_to_assets: "number",
      pass_through: "number",
      pass_through_long: "number",
      abatement_backstop_usd_t: "number",
      abatement_years: "number",
      abatement_max_share: "number",
      demand_elasticity: "number",
      product_channel: "text",
      tangible_share: "number",
      heat_sensitivity: "number",
      asset_vol: "number",
      factor_quality: "text",
      source: "note",
    },
  },
  {
    file: "src/company/data/scenarios.csv",
    rows: "SCENARIO_ROWS",
    row: "ScenarioRow",
    columns: {
      scenario_id: "text",
      family: "text",
      vintage: "text",
      narrative: "text",
      price_path: "text",
      temperature_path: "text",
      ssp: "text",
      ar6_category: "text",
      source: "note",
    },
  },
  {
    file: "src/company/data/carbonPrices.csv",
    rows: "CARBON_PRICE_ROWS",
    row: "CarbonPriceRow",
    columns: { scenario_id: "text", variant: "text", region: "text", ...yearColumns("number?"), source: "text" },
  },
  {
    file: "src/company/data/temperatures.csv",
    rows: "TEMPERATURE_ROWS",
    row: "TemperatureRow",
    columns: { scenario_id: "text", ...yearColumns("number"), source: "text" },
  },
  {
    file: "src/ingest/data/datums.csv",
    rows: "DATUM_ROWS",
    row: "DatumRow",
    columns: {
      geographic_code: "number",
      name: "text",
      datum_code: "number",
      datum_name: "text",
      aliases: "list",
      inverse_flattening: "number",
      tolerance_m: "number",
      source: "note",
    },
  },
  {
    file: "src/ingest/data/epsgCodes.csv",
    rows: "EPSG_CODE_ROWS",
    row: "EpsgCodeRow",
    columns: { code: "number", name: "text", geographic_code: "number", definition: "text", source: "note" },
  },
  {
    file: "src/ingest/data/utmCodes.csv",
    rows: "UTM_CODE_ROWS",
    row: "UtmCodeRow",
    columns: {
      first_code: "number",
      last_code: "number",
      geographic_code: "number",
      first_zone: "number",
      is_south: "number",
      source: "note",
    },
  },
];

for (const table of TABLES) {
  const target = new URL(table.file.replace(/csv$/, "generated.ts"), ROOT);
  const hash = hashInputs({
    files: [table.file, "scripts/buildTables.mjs", "scripts/tableSource.mjs"],
    packages: [],
  });
  if (isUpToDate(target, hash)) continue;
  const source = tableSource(await readFile(new URL(table.file, ROOT), "utf8"), table);
  const head = `// Written by scripts/buildTables.mjs from ${table.file}. Do not edit.\n${inputLine(hash)}\n`;
  await writeFile(target, `${head}\n${source}`);
  console.log(`table: ${table.file}`);
}
