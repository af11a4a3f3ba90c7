import { Compile } from "typebox/compile";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { estimateEmissions, totalClimateRisk } from "../../src/company/report.ts";
import { AlignmentAnswerSchema } from "../../src/contract/alignmentAnswer.ts";
import { CompanyAnswerSchema, EmissionsAnswerSchema } from "../../src/contract/companyAnswer.ts";
import { CurveResultSchema } from "../../src/contract/curve.ts";
import { HazardResultSchema } from "../../src/contract/hazardResult.ts";
import { ProblemSchema } from "../../src/contract/problem.ts";
import { PortfolioAnswerSchema } from "../../src/contract/portfolioAnswer.ts";
import type {
  CompanyRequest,
  CurveQueryInput,
  Entity,
  HazardQueryInput,
  PortfolioRequest,
} from "../../src/contract/wireTypes.ts";
import type { Atlas } from "../../src/hazard/answer.ts";
import { readExamples } from "../../src/host/openapi/examples.ts";
import { ROUTES } from "../../src/host/routes/routeList.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { alignPortfolio } from "../../src/holdings/alignPortfolio.ts";
import { requestOf } from "../host/openapi/requests.ts";
import { randomFrom } from "../seededRandom.ts";

/** Number of generated requests per function of the library. */
const REQUEST_COUNT = 60;
const SEED = 20_260_211;

/** Disallows additional members at every level, so that a member that is missing in the contract is a violation. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]));
  return typeof members["properties"] === "object" && members["type"] === "object"
    ? { ...members, additionalProperties: false }
    : members;
}

/** Returns a function that lists how a value, after a JSON round trip, violates a schema of the contract. */
function violationsAgainst(schema: object): (value: unknown) => readonly string[] {
  const compiled = Compile(closed(JSON.parse(JSON.stringify(schema))) as object);
  return (value) => {
    const received: unknown = JSON.parse(JSON.stringify(value));
    if (compiled.Check(received)) return [];
    return compiled.Errors(received).map(({ instancePath, message }) => `${instancePath}: ${message}`);
  };
}

describe("recorded responses", () => {
  const { responses, problems } = readExamples();
  const examples = ROUTES.flatMap(({ description }) =>
    Object.entries(responses[description.operationId] ?? {}).map(([status, { value }]) => ({
      name: `${description.operationId} ${status}`,
      schema: description.responses[Number(status)]?.schema,
      value,
    })),
  );

  test.each(examples)("$name has the members of its schema", ({ schema, value }) => {
    expect(violationsAgainst(schema as object)(value)).toEqual([]);
  });

  test.each(Object.entries(problems))("%s is a problem document", (_name, problem) => {
    expect(violationsAgainst(ProblemSchema)(problem)).toEqual([]);
  });
});

describe("results of the library for random requests", () => {
  let atlas: Atlas;
  beforeAll(async () => {
    atlas = await openAtlas("demo");
  });
  afterAll(async () => {
    await atlas.close();
  });

  const seeds = Array.from({ length: REQUEST_COUNT }, (_, index) => SEED + index);

  test("curve returns a CurveResult", async () => {
    const violationsOf = violationsAgainst(CurveResultSchema);
    for (const seed of seeds) {
      const { body } = requestOf(randomFrom(seed), "postHazardCurveBatch");
      for (const query of body as readonly CurveQueryInput[]) {
        const detailed = { ...query, detail: seed % 2 === 0 };
        expect(violationsOf(await atlas.curve(detailed)), `seed ${seed}`).toEqual([]);
      }
    }
  });

  test("hazardRisk returns a HazardResult", async () => {
    const violationsOf = violationsAgainst(HazardResultSchema);
    for (const seed of seeds) {
      const { parameters } = requestOf(randomFrom(seed), "getHazardRisk");
      const query = { ...parameters, detail: seed % 2 === 0 } as unknown as HazardQueryInput;
      expect(violationsOf(await atlas.hazardRisk(query)), `seed ${seed}`).toEqual([]);
    }
  });

  test("alignTemperature returns an AlignmentAnswer", async () => {
    const violationsOf = violationsAgainst(AlignmentAnswerSchema);
    for (const seed of seeds) {
      const { body } = requestOf(randomFrom(seed), "alignTemperature");
      const answer = await alignTemperature(body as Entity[], { detail: true, convergence: 0.5 });
      expect(violationsOf(answer), `seed ${seed}`).toEqual([]);
    }
  });

  test("alignPortfolio returns a PortfolioAnswer", async () => {
    const violationsOf = violationsAgainst(PortfolioAnswerSchema);
    for (const seed of seeds) {
      const { holdings, options } = requestOf(randomFrom(seed), "alignPortfolio").body as PortfolioRequest;
      expect(violationsOf(await alignPortfolio(holdings, options)), `seed ${seed}`).toEqual([]);
    }
  });

  test("totalClimateRisk returns a CompanyAnswer, and estimateEmissions an EmissionsAnswer", () => {
    const violationsOf = violationsAgainst(CompanyAnswerSchema);
    const emissionsViolationsOf = violationsAgainst(EmissionsAnswerSchema);
    for (const seed of seeds) {
      const request = requestOf(randomFrom(seed), "analyzeTotalClimateRisk").body as CompanyRequest;
      expect(violationsOf(totalClimateRisk(request)), `seed ${seed}`).toEqual([]);
      const { name, country, industry, revenue } = request;
      const emitter = seed % 2 === 0 ? { country, industry, revenue } : { name, country, industry, revenue };
      expect(emissionsViolationsOf(estimateEmissions(emitter)), `seed ${seed}`).toEqual([]);
    }
  });
});
