import { afterAll, beforeAll, expect, test } from "vitest";
import type { AlignTemperatureOptions } from "../../../src/alignment/options.ts";
import { alignTemperature } from "../../../src/alignment/alignTemperature.ts";
import { roundTemperatures } from "../../../src/alignment/answer.ts";
import { totalClimateRisk } from "../../../src/company/report.ts";
import type { Atlas } from "../../../src/hazard/answer.ts";
import type { Problem } from "../../../src/host/problems/problem.ts";
import { openAtlas } from "../../../src/openAtlas.ts";
import { alignPortfolio, roundPortfolio } from "../../../src/holdings/alignPortfolio.ts";
import { randomFrom } from "../../seededRandom.ts";
import { HEADERS, type TestHost, startTestHost } from "../testHost.ts";
import { mutateRequest } from "./mutations.ts";
import { DATA_OPERATIONS, type GeneratedRequest, OTHER_OPERATIONS, requestOf, encodeRequest } from "./requests.ts";
import { responseViolations } from "./publishedDocument.ts";
import type {
  CompanyRequest,
  CurveQueryInput,
  Entity,
  HazardQueryInput,
  PortfolioRequest,
} from "../../../src/contract/wireTypes.ts";

/** Numbers of generated requests. Full runs use 20,000 and 50,000; the defaults keep ordinary test runs short. */
const VALID_COUNT = Number(process.env["ISOTHERM_OPENAPI_VALID"] ?? 300);
const MUTATED_COUNT = Number(process.env["ISOTHERM_OPENAPI_MUTATED"] ?? 1000);
const SEED = Number(process.env["ISOTHERM_OPENAPI_SEED"] ?? 20_260_120);
const REQUEST_DURATION_MS_MAX = 50;
const CONCURRENT_REQUEST_COUNT = 8;

let atlas: Atlas;
let host: TestHost;
beforeAll(async () => {
  atlas = await openAtlas("demo");
  host = await startTestHost({ atlas });
  await host.ready;
});
afterAll(async () => {
  await host.close();
  await atlas.close();
});

interface Received {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly units: string | null;
  readonly headers: Headers;
}

async function send({
  target,
  body,
}: {
  readonly target: string;
  readonly body: string | undefined;
}): Promise<Received> {
  const response = await host.ask(
    target,
    body === undefined ? {} : { method: "POST", body, headers: { "Content-Type": "application/json" } },
  );
  return {
    status: response.status,
    contentType: response.headers.get("content-type")?.split(";")[0] ?? "",
    text: await response.text(),
    units: response.headers.get("x-usage-units"),
    headers: response.headers,
  };
}

/** Returns the result of the library as JSON; undefined for routes that only use the ledger. */
async function libraryResult({ operation, parameters, body }: GeneratedRequest): Promise<string | undefined> {
  switch (operation.operationId) {
    case "getHazardRisk":
      return JSON.stringify(await atlas.hazardRisk(parameters as unknown as HazardQueryInput));
    case "postHazardRiskBatch":
      return JSON.stringify({ results: await atlas.hazardRiskBatch(body as HazardQueryInput[]) });
    case "getHazardCurve":
      return JSON.stringify(await atlas.curve(parameters as unknown as CurveQueryInput));
    case "postHazardCurveBatch":
      return JSON.stringify({ results: await atlas.curveBatch(body as CurveQueryInput[]) });
    case "alignTemperature": {
      const { budget_scenario: budgetScenario, benchmark: _, ...others } = parameters;
      const options = { ...others, budgetScenario } as AlignTemperatureOptions;
      return JSON.stringify(roundTemperatures(await alignTemperature(body as Entity[], options)));
    }
    case "alignPortfolio": {
      const { holdings, options } = body as PortfolioRequest;
      return JSON.stringify(roundPortfolio(await alignPortfolio(holdings, options)));
    }
    case "analyzeTotalClimateRisk":
      return JSON.stringify(totalClimateRisk(body as CompanyRequest));
    default:
      return undefined;
  }
}

/** Reference implementation of usage counting: counts the objects of a response one by one. */
function unitsIn(operationId: string, answer: unknown): number | null {
  let units = 0;
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const members = value as Readonly<Record<string, unknown>>;
    if (operationId === "analyzeTotalClimateRisk") {
      if ("drivers" in members) units++;
    } else if (operationId === "alignTemperature" || operationId === "alignPortfolio") {
      // Means over the years of an entity or over its labels are not counted.
      if ("year" in members && !("years" in members) && typeof members["temperature_alignment"] === "number") units++;
    } else if (Array.isArray(members["curve"])) {
      units++; // the rules of a hazard have a member of this name too, a string
    } else if ("metrics" in members) {
      const values: unknown[] = Object.values(members["metrics"] as object);
      if (values.some((metric) => metric !== null)) units++;
    }
    for (const [name, member] of Object.entries(members)) if (name !== "blended") visit(member);
  };
  visit(answer);
  return (DATA_OPERATIONS as readonly string[]).includes(operationId) ? units : null;
}

/** Operations in whose response a problem replaces the result of an invalid query. */
const BATCH_OPERATIONS = new Set(["postHazardRiskBatch", "postHazardCurveBatch"]);

async function forEach(count: number, act: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await act(index);
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUEST_COUNT }, work));
}

const OPERATION_IDS = [...DATA_OPERATIONS, ...DATA_OPERATIONS, ...OTHER_OPERATIONS];

test(
  "answers valid requests as documented, with the result of the library and the right units",
  async () => {
    const counts = new Map<string, number>();
    let expectedUnits = 0;
    const unitsBefore = host.ledger.entries.reduce((sum, { units }) => sum + units, 0);
    await forEach(VALID_COUNT, async (index) => {
      const random = randomFrom(SEED + index);
      const request = requestOf(random, OPERATION_IDS[index % OPERATION_IDS.length] ?? "");
      const { operationId } = request.operation;
      const sent = encodeRequest(request, HEADERS["X-Customer-ID"]);
      const { status, contentType, text, units, headers } = await send(sent);
      const context = `seed ${SEED + index}: ${sent.target} ${sent.body ?? ""} -> ${text.slice(0, 1000)}`;
      const isFile = request.parameters["format"] === "csv";
      expect([200, 201], context).toContain(status);
      expect(contentType, context).toBe(isFile ? "text/csv" : "application/json");
      // All documented headers; only replayed responses have Idempotent-Replayed.
      const documented = Object.keys(request.operation.responses[status]?.headers ?? {});
      const missing = documented.filter((name) => !headers.has(name));
      expect(
        missing.filter((name) => name !== "Idempotent-Replayed"),
        context,
      ).toStrictEqual([]);
      if (!isFile) {
        const answer = JSON.parse(text) as unknown;
        expect(responseViolations(request.operation, status, contentType, answer), context).toStrictEqual([]);
        const expectedCount = unitsIn(operationId, answer);
        expect(units, context).toBe(expectedCount === null ? null : String(expectedCount));
        expectedUnits += expectedCount ?? 0;
      }
      const library = await libraryResult(request);
      if (library !== undefined) expect(text, context).toBe(library);
      counts.set(operationId, (counts.get(operationId) ?? 0) + 1);
    });
    expect(counts.size).toBe(DATA_OPERATIONS.length + OTHER_OPERATIONS.length);
    const recorded = host.ledger.entries.reduce((sum, { units }) => sum + units, 0) - unitsBefore;
    expect(recorded).toBe(expectedUnits);
    expect(expectedUnits).toBeGreaterThan(0);
  },
  60_000 + VALID_COUNT * REQUEST_DURATION_MS_MAX,
);

type Item = NonNullable<Problem["errors"]>[number];
type Location = { readonly parameter: string } | { readonly pointer: string };

/** Returns whether an error refers to the mutated location or to one below it. */
function isAt(item: Item, location: Location): boolean {
  if ("parameter" in location) return item.parameter === location.parameter;
  return item.pointer === location.pointer || item.pointer?.startsWith(`${location.pointer}/`) === true;
}

/** Returns whether an error is a consequence of the mutation: a later baseline year makes projected years invalid. */
function isConsequence(item: Item, location: Location): boolean {
  const entity = "pointer" in location ? /^(\/\d+)\/data\/0\/year$/.exec(location.pointer)?.[1] : undefined;
  return entity !== undefined && item.pointer?.startsWith(`${entity}/projected_emissions/`) === true;
}

function areLocated(items: readonly Item[], location: Location): boolean {
  return (
    items.some((item) => isAt(item, location)) &&
    items.every((item) => isAt(item, location) || isConsequence(item, location))
  );
}

test(
  "rejects requests with one mutation, names its location and does not meter them",
  async () => {
    const seen = new Set<string>();
    const unitsBefore = host.ledger.entries.reduce((sum, { units }) => sum + units, 0);
    let elementUnits = 0;
    await forEach(MUTATED_COUNT, async (index) => {
      const random = randomFrom(SEED - 1 - index);
      const request = requestOf(random, OPERATION_IDS[index % OPERATION_IDS.length] ?? "");
      const { operationId } = request.operation;
      const { what, location, ...invalid } = mutateRequest(random, request);
      const sent = { ...invalid, target: invalid.target.replace("//usage", `/${HEADERS["X-Customer-ID"]}/usage`) };
      const { status, contentType, text, units } = await send(sent);
      const context = `seed ${SEED - 1 - index}: ${what} at ${JSON.stringify(location)}: ${sent.target} ${sent.body ?? ""} -> ${text.slice(0, 1000)}`;
      seen.add(`${operationId} ${what}`);
      const element = "pointer" in location ? /^\/(\d+)(.*)$/.exec(location.pointer) : null;
      if (BATCH_OPERATIONS.has(operationId) && element !== null) {
        // Only the mutated query fails; the others are answered.
        const { results } = JSON.parse(text) as { results: { error?: Problem }[] };
        const [, position, pointer = ""] = element;
        const failed = results.filter(({ error }) => error !== undefined);
        expect([status, failed.length], context).toStrictEqual([200, 1]);
        const errors = results[Number(position)]?.error?.errors ?? [];
        expect(areLocated(errors, { pointer }), context).toBe(true);
        expect(units, context).toBe(String(unitsIn(operationId, results)));
        elementUnits += Number(units);
        return;
      }
      expect([400, 422], context).toContain(status);
      expect(contentType, context).toBe("application/problem+json");
      const problem = JSON.parse(text) as Problem;
      expect(responseViolations(request.operation, status, contentType, problem), context).toStrictEqual([]);
      const { errors = [] } = problem;
      expect(areLocated(errors, location), context).toBe(true);
      expect(units, context).toBe((DATA_OPERATIONS as readonly string[]).includes(operationId) ? "0" : null);
    });
    const recorded = host.ledger.entries.reduce((sum, { units }) => sum + units, 0) - unitsBefore;
    expect(recorded).toBe(elementUnits);
    expect(seen.size).toBeGreaterThan(30);
  },
  60_000 + MUTATED_COUNT * REQUEST_DURATION_MS_MAX,
);
