/**
 * Company risk: one company in all 21 scenarios and three years, validation of the request included, as a library call.
 *
 *   npm run bench -- company
 *   npm run bench -- company against=/path/to/another/checkout    also times another built version
 */
import { pathToFileURL } from "node:url";
import { referenceScenarios } from "../src/company/referenceLists.ts";
import { totalClimateRisk } from "../src/company/report.ts";
import type { CompanyRequest } from "../src/contract/wireTypes.ts";
import { type Contender, interleave } from "./interleave.ts";
import { print } from "./row.ts";

const ROUNDS = 400;
const WARMUP_ROUNDS = 200;
const MS_MAX = 1;

const other = process.argv.find((argument) => argument.startsWith("against="))?.slice("against=".length);
const otherModule =
  other === undefined
    ? undefined
    : ((await import(pathToFileURL(`${other}/dist/index.js`).href)) as {
        readonly totalClimateRisk: (request: CompanyRequest) => unknown;
      });

const COMPANIES = [
  { name: "steel maker", industry: "iron_steel" },
  { name: "bank, with its borrowers", industry: "major_banks" },
] as const;

for (const { name, industry } of COMPANIES) {
  const request: CompanyRequest = {
    name,
    country: "Germany",
    industry,
    revenue: "10000000000",
    total_assets: "12e9",
    ebitda: "1.5e9",
    total_debt: "3e9",
    transition_scenarios: referenceScenarios().map(({ id }) => id),
    assessment_years: [2030, 2040, 2050],
  };
  const contenders: Contender[] = [{ name: "ours", run: () => void totalClimateRisk(request) }];
  if (otherModule !== undefined) {
    contenders.push({ name: "other", run: () => void otherModule.totalClimateRisk(request) });
  }
  const [ours, theirs] = await interleave(contenders, { rounds: ROUNDS, warmupRounds: WARMUP_ROUNDS });
  if (ours === undefined) throw new Error("the library was not timed");
  const label = `${name}, 21 scenarios x 3 years`;
  print({
    bench: "company",
    name: label,
    state: "hot",
    unit: "ms per request",
    ours: ours.medianMs,
    target: { atMost: MS_MAX },
  });
  print({ bench: "company", name: `${label}, fastest`, state: "hot", unit: "ms per request", ours: ours.fastestMs });
  if (theirs === undefined) continue;
  const against = other ?? "";
  const row = { bench: "company", state: "hot", unit: "ms per request", against } as const;
  print({ ...row, name: label, ours: ours.medianMs, theirs: theirs.medianMs });
  print({ ...row, name: `${label}, fastest`, ours: ours.fastestMs, theirs: theirs.fastestMs });
}
