import { describe, expect, test } from "vitest";
import type { AlignmentRequest } from "../../../src/contract/wireTypes.ts";
import { type CompanyCall, companyPrograms } from "../../../src/explorer/company/companySnippets.ts";
import { SNIPPET_LANGUAGES, snippetIn, snippetNote } from "../../../src/explorer/snippets.ts";

const request: AlignmentRequest = [
  {
    entity_info: { name: 'O\'Neil & "Söhne"', asset_type: "equity" },
    data: [{ year: 2023, emissions: { scope1: 1e21 } }],
    projected_emissions: [{ year: 2030, emissions: { scope1: 5 } }],
  },
];
const align: CompanyCall = {
  method: "alignTemperature",
  request,
  parameters: {
    basis: "emissions",
    include: ["overall", "budget"],
    budget_scenario: "ndcs",
    benchmark: "ngfs-phase5-message-r12/2",
  },
};
const assess: CompanyCall = {
  method: "totalClimateRisk",
  request: {
    name: "Example",
    country: "DEU",
    industry: "Cement",
    revenue: "1e9",
    transition_scenarios: ["NGFS_NDC"],
    assessment_years: [2030],
  },
};
const service = { kind: "service", baseUrl: "https://risk.example/isotherm/" } as const;
const published = { kind: "published", atlasUrl: "https://static.example/" } as const;

describe("programs of the company views", () => {
  test("curl sends the body and the parameters, quoted for the shell", () => {
    expect(codeOf("curl", align)).toBe(
      `curl --fail-with-body 'https://risk.example/isotherm/api/v1/temperature-alignment-projections?basis=emissions&include=overall,budget&budget_scenario=ndcs&benchmark=ngfs-phase5-message-r12%2F2' \\
  --header "X-API-Key: $ISOTHERM_KEY" \\
  --header "X-Customer-ID: $ISOTHERM_CUSTOMER" \\
  --header "Content-Type: application/json" \\
  --data-raw '[
  {
    "entity_info": { "name": "O'\\''Neil & \\"Söhne\\"", "asset_type": "equity" },
    "data": [{ "year": 2023, "emissions": { "scope1": 1e+21 } }],
    "projected_emissions": [{ "year": 2030, "emissions": { "scope1": 5 } }]
  }
]'`,
    );
    expect(codeOf("curl", assess)).toContain("'https://risk.example/isotherm/analyze/total-climate-risk'");
  });

  test("JSON is the body", () => {
    expect(JSON.parse(codeOf("json", align))).toEqual(request);
    expect(JSON.parse(codeOf("json", assess))).toEqual(assess.request);
  });

  test("TypeScript calls the client with the names of its options", () => {
    const program = codeOf("typescript", align);
    expect(program).toContain('import { IsothermClient } from "isotherm/client";');
    expect(program).toContain('budgetScenario: "ndcs"');
    expect(program).not.toContain("budget_scenario");
    expect(codeOf("typescript", assess)).toContain("await client.totalClimateRisk({");
  });

  test("a published folder has programs for the library only", () => {
    expect(snippetIn("curl", published, companyPrograms(align))).toHaveProperty("unavailable");
    expect(snippetIn("python", published, companyPrograms(assess))).toHaveProperty("unavailable");
    const program = snippetIn("typescript", published, companyPrograms(align));
    expect(program).toEqual({ code: expect.stringContaining('from "isotherm";') as string });
    // The library takes a benchmark as an object.
    expect(program).toEqual({ code: expect.not.stringContaining("benchmark") as string });
  });

  test("every language has a note, and no program contains a key", () => {
    for (const language of SNIPPET_LANGUAGES) {
      for (const call of [align, assess]) {
        expect(snippetNote(language, service, companyPrograms(call))).toMatch(/^[A-Z].+\.$/);
        expect(snippetNote(language, published, companyPrograms(call))).toMatch(/^[A-Z].+\.$/);
        expect(codeOf(language, call)).not.toMatch(/_sk_/);
      }
    }
  });
});

function codeOf(language: (typeof SNIPPET_LANGUAGES)[number], call: CompanyCall): string {
  const snippet = snippetIn(language, service, companyPrograms(call));
  if ("unavailable" in snippet) throw new Error(snippet.unavailable);
  return snippet.code;
}
