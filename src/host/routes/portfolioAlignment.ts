import { PortfolioAnswerSchema } from "../../contract/portfolioAnswer.ts";
import { PortfolioRequestSchema } from "../../contract/portfolioRequest.ts";
import type { PortfolioRequest } from "../../contract/wireTypes.ts";
import { DEFAULT_BENCHMARK } from "../../alignment/benchmarkNgfsPhase5.ts";
import { countEntities } from "../../holdings/entityScores.ts";
import { readPortfolio } from "../../holdings/readPortfolio.ts";
import { checkLimit, type Route } from "../route.ts";
import { rejectParameters } from "./parameters.ts";
import { portfolioChunks } from "./portfolioText.ts";

/** Size of about twenty holdings, whose results take about a millisecond. */
const INLINE_BODY_BYTES_MAX = 16 << 10;

const EXAMPLE: PortfolioRequest = {
  holdings: [
    {
      id: "bond 1",
      issuer: "Example Steel AG",
      value: 60_000_000,
      currency: "EUR",
      entity: {
        entity_info: {
          name: "Example Steel AG",
          asset_type: "equity",
          country: "Germany",
          industry: "Steel",
        },
        data: [
          {
            year: 2023,
            emissions: { scope1: 300_000, scope2: 100_000, scope3: 600_000 },
            financials: { revenue: 1_000_000_000 },
          },
        ],
        projected_emissions: [
          { year: 2030, emissions: { scope1: 250_000, scope2: 60_000, scope3: 550_000 } },
          { year: 2050, emissions: { scope1: 60_000, scope2: 10_000, scope3: 200_000 } },
        ],
      },
      enterprise_value: 1_500_000_000,
      cash: 100_000_000,
      data_quality: { s1s2: 1, s3: 3 },
      groups: { sector: "materials" },
    },
    {
      id: "Example Software KK",
      value: 40_000_000,
      currency: "EUR",
      temperature: { s1s2s3: { t: 3, low: 2.9, high: 3.1 } },
      scope1: 40_000,
      scope2: 10_000,
      scope3: 150_000,
      evic: 500_000_000,
      revenue: 500_000_000,
      groups: { sector: "technology" },
    },
    {
      id: "Example Timber Ltd",
      value: 5_000_000,
      currency: "EUR",
      temperature: {},
      scope1: 1000,
      scope3: 2000,
      groups: { sector: "materials" },
    },
  ],
  options: { methods: ["WATS", "ECOTS"], goal: 1.5, group_by: ["sector"] },
};

/** A response and its usage units. */
interface EncodedPortfolio {
  readonly text: string;
  readonly units: number;
}

/** POST /api/v1/portfolio-alignment: the temperature of a portfolio and its financed emissions. */
export const portfolioAlignment: Route<PortfolioRequest, EncodedPortfolio> = {
  method: "POST",
  path: "/api/v1/portfolio-alignment",
  access: "customer",
  description: {
    operationId: "alignPortfolio",
    tag: "Temperature alignment",
    summary: "Temperature and financed emissions of a portfolio",
    description:
      "Scores the companies of a portfolio and aggregates the scores by up to seven weighting methods, with coverage, bounds, " +
      "contributions and groups. Also returns the financed emissions according to the PCAF standard. Each projected year of " +
      "an entity counts as one unit of `alignment_values` if that year has a temperature.",
    body: { schema: PortfolioRequestSchema, example: EXAMPLE },
    responses: {
      200: {
        description: "The temperature of the portfolio for each method and scope, and its financed emissions.",
        schema: PortfolioAnswerSchema,
        headers: { "X-Benchmark": "Version of the benchmark pathways with which emissions are compared." },
      },
    },
    problems: ["invalid_request", "too_many_values"],
  },
  metered: { meter: "alignment_values", units: ({ units }) => units },
  inlineBodyBytesMax: INLINE_BODY_BYTES_MAX,
  parse({ queryText, body, limits }) {
    rejectParameters(queryText);
    const request = readPortfolio(body);
    const { entityCount, projectionCount } = countEntities(request.holdings);
    checkLimit("entities", { requested: entityCount, limit: limits.entityCount });
    checkLimit("temperatures", { requested: projectionCount, limit: limits.alignmentValueCount });
    return request;
  },
  async handle(request) {
    let text = "";
    let units = 0;
    for await (const chunk of portfolioChunks(request)) {
      text += chunk.text;
      units += chunk.units;
    }
    return { text, units };
  },
  reply: ({ text }) => ({ status: 200, contentType: "application/json", body: text }),
  headers: () => ({ "X-Benchmark": DEFAULT_BENCHMARK.id }),
};
