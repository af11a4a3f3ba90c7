/** Requests for company tests, and accessors for their answers. */
import { expect } from "vitest";
import { totalClimateRisk } from "../../src/company/report.ts";
import type { CompanyAnswer, CompanyRequest, CompanyResult } from "../../src/contract/wireTypes.ts";

export const REQUEST = {
  name: "Ours",
  country: "IND",
  industry: "cement_lime",
  revenue: 7.87e9,
  total_assets: 11.4e9,
  ebitda: 1.38e9,
  total_debt: 1.23e9,
  transition_scenarios: ["NGFS_BELOW_2C"],
  assessment_years: [2030],
} as const satisfies CompanyRequest;
export const BANK = {
  ...REQUEST,
  industry: "major_banks",
  revenue: 27e9,
  total_assets: 450e9,
  ebitda: 8e9,
  total_debt: 60e9,
};
export const INSURER = { ...BANK, industry: "insurance_life" };

export const ask = (change: Partial<CompanyRequest> = {}, base: CompanyRequest = REQUEST): CompanyAnswer =>
  totalClimateRisk({ ...base, ...change });
export const first = ({ results }: CompanyAnswer): CompanyResult => results[0] ?? expect.fail("no result");
export const codes = ({ warnings }: CompanyAnswer): string[] => warnings.map(({ code }) => code);
export const qualityOf = ({ data_quality }: CompanyAnswer, output: string) =>
  data_quality.find((quality) => quality.output.startsWith(output));
