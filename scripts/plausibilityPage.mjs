// Writes docs/methods/plausibility.md: the answers of both methods for the companies of docs/methods/company-profiles.csv,
// from the output of dist/. Run it after a build when a method or its tables have changed.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { alignTemperature, totalClimateRisk } from "../dist/index.js";

const PROFILES = new URL("../docs/methods/company-profiles.csv", import.meta.url);
const PAGE = new URL("../docs/methods/plausibility.md", import.meta.url);

const PROJECTED_YEARS = [2030, 2040, 2050];
/** Annual reduction in the second projection, as a share of the baseline. */
const REDUCTION = 0.042;
const SCENARIOS = ["NGFS_NET_ZERO_2050", "NGFS_NDC", "NGFS_CURRENT_POLICIES"];
const ASSESSMENT_YEARS = [2030, 2050];

/** Returns the page as Markdown. */
export async function plausibilityPage() {
  const companies = parseProfiles(await readFile(PROFILES, "utf8"));
  const flat = await temperaturesOf(companies, () => 1);
  const reduced = await temperaturesOf(companies, (years) => Math.max(0, 1 - REDUCTION * years));
  const temperatures = companies.map((company, index) => [
    company.name,
    company.country,
    company.industry,
    ...flat[index].cells,
    ...reduced[index].cells,
  ]);
  const answers = companies.map(riskOf);
  return `${INTRODUCTION}
## Temperatures

${table(
  [
    "company",
    "country",
    "industry",
    ...["constant", "reduced"].flatMap((projection) => [
      ...PROJECTED_YEARS.map((year) => `${projection} ${year}`),
      `${projection} overall`,
    ]),
  ],
  temperatures,
)}

## Company risk

${table(
  [
    "company",
    "rating",
    ...SCENARIOS.flatMap((scenario) => ASSESSMENT_YEARS.map((year) => `${scenarioName(scenario)} ${year}`)),
  ],
  answers,
)}

## What to look for

- Companies of one industry whose emissions develop in the same way are close to each other, whatever their size. Three
  things make a difference: the growth of the country (constant emissions of Cemex are a larger cut of intensity than those
  of Heidelberg Materials), the mix of scopes, and the year of the baseline (the reduction of Southern Company starts in
  2020, so that it has cut more by 2030).
- Constant emissions lead to more than 2.5 °C everywhere, and the reduction to less than 2 °C.
- Losses tend to rise with scope 1 emissions per revenue. In 2030 under Net Zero 2050, the four largest losses are those of
  cement and steel companies, and the two smallest are those of software and semiconductors. Nucor melts scrap: its scope 1
  emissions per revenue are about a tenth of those of the companies with blast furnaces.
- In 2030, Nationally Determined Contributions cost no more than Net Zero 2050. They cost POSCO much less, because the
  carbon prices of Asia rise later than those of the OECD in that scenario.
- Under Current Policies there is no price shock, so that the loss is physical only. It grows from 2030 to 2050.
`;
}

const INTRODUCTION = `# Plausibility of both methods: 20 companies

This page is written by \`scripts/plausibilityPage.mjs\`, and a test compares it with the results of the library. The figures
of the companies are approximate: revenue and emissions of one year, rounded, and in most cases quoted from memory
([table with sources](company-profiles.csv)). EBITDA, assets and debt are not given; the method estimates them from the
industry, so that the losses are those of a typical company with these emissions. The source has no scope 3 for Walmart:
its temperature is that of scopes 1 and 2, and the second table models its scope 3. The results are not an opinion about
the companies.

The first table has the implied temperature rise in 2100, in °C, for two projections of all scopes: constant emissions, and
a reduction of 4.2 % of the baseline a year, which is the rate of many targets for 1.5 °C. The baseline is the year of the
report. The second table has the loss as a share of EBITDA in percent (\`total.pct_of_ebitda\`), and the rating under Net Zero
2050 in 2030.
`;

/** Parses the table; only its last column, `source`, has commas within cells. */
function parseProfiles(csv) {
  const [header, ...lines] = csv.trimEnd().split("\n");
  const names = header.split(",");
  return lines.map((line) => {
    const cells = line.split(",");
    return Object.fromEntries(names.map((name, index) => [name, cells[index]]));
  });
}

function scopesOf(company, factor) {
  return Object.fromEntries(
    [1, 2, 3]
      .filter((scope) => company[`scope${scope}_mt`] !== "")
      .map((scope) => [`scope${scope}`, Number(company[`scope${scope}_mt`]) * 1e6 * factor]),
  );
}

async function temperaturesOf(companies, factorAfter) {
  const entities = companies.map((company) => {
    const baselineYear = Number(company.fiscal_year);
    return {
      entity_info: { name: company.name, asset_type: "equity", country: company.country, industry: company.industry },
      data: [{ year: baselineYear, emissions: scopesOf(company, 1) }],
      projected_emissions: PROJECTED_YEARS.map((year) => ({
        year,
        emissions: scopesOf(company, factorAfter(year - baselineYear)),
      })),
    };
  });
  const { results } = await alignTemperature(entities, { include: ["overall"] });
  return results.map(({ data, overall }) => ({
    cells: [...data, overall].map(({ temperature_alignment: temperatureC }) => temperatureC.toFixed(2)),
  }));
}

function riskOf(company) {
  const { results } = totalClimateRisk({
    name: company.name,
    country: company.country,
    industry: company.industry,
    revenue: Number(company.revenue_usd_bn) * 1e9 * Number(company.usd_to_2025),
    ...scopesOf(company, 1),
    transition_scenarios: SCENARIOS,
    assessment_years: ASSESSMENT_YEARS,
  });
  const [first] = results;
  return [company.name, first.total.rating, ...results.map(({ total }) => total.pct_of_ebitda.toFixed(1))];
}

function scenarioName(id) {
  return { NGFS_NET_ZERO_2050: "Net Zero", NGFS_NDC: "NDC", NGFS_CURRENT_POLICIES: "Current Policies" }[id];
}

function table(header, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(PAGE, await plausibilityPage());
