import { assess } from "../../company/report.ts";
import { type Company, readCompanyRequest } from "../../company/request.ts";
import { rejectParameters } from "./parameters.ts";
import type { Route } from "../route.ts";
import type { CompanyAnswer, CompanyRequest } from "../../contract/wireTypes.ts";
import { CompanyRequestSchema } from "../../contract/companyRequest.ts";
import { CompanyAnswerSchema } from "../../contract/companyAnswer.ts";

/** Size of a request for a few scenarios and years, which takes less than a millisecond; all of them take about ten. */
const INLINE_BODY_BYTES_MAX = 512;

const EXAMPLE: CompanyRequest = {
  name: "Example Cement Ltd",
  country: "India",
  industry: "cement_lime",
  revenue: "7870000000",
  total_assets: "11400000000",
  ebitda: "1380000000",
  total_debt: "1230000000",
  transition_scenarios: ["NGFS_NET_ZERO_2050"],
  assessment_years: [2030],
};

/** POST /analyze/total-climate-risk: losses of one company in every requested combination of scenario and year. */
export const totalClimateRisk: Route<Company, CompanyAnswer> = {
  method: "POST",
  path: "/analyze/total-climate-risk",
  access: "customer",
  description: {
    operationId: "analyzeTotalClimateRisk",
    tag: "Company risk",
    summary: "Total climate risk of a company",
    description:
      "Returns the annual transition and physical losses in each scenario and year, with their drivers, their range and their " +
      "effect on value and credit. Absent assets, EBITDA and debt are estimated, with a warning. `parameters` contains the " +
      "figures of the tables that were used. Each combination of scenario and year counts as one unit of `company_results`.",
    body: { schema: CompanyRequestSchema, example: EXAMPLE },
    responses: { 200: { description: "The company's losses.", schema: CompanyAnswerSchema } },
    problems: ["invalid_request", "combination_unavailable", "country_unknown", "industry_unknown", "scenario_unknown"],
  },
  metered: { meter: "company_results", units: ({ results }) => results.length },
  inlineBodyBytesMax: INLINE_BODY_BYTES_MAX,
  parse({ queryText, body }) {
    rejectParameters(queryText);
    return readCompanyRequest(body);
  },
  handle: (company) => assess(company),
};
