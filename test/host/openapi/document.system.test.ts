import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "../../../src/host/openapi/document.ts";
import { readExamples } from "../../../src/host/openapi/examples.ts";
import { problemsOf } from "../../../src/host/openapi/routeProblems.ts";
import type { Route } from "../../../src/host/route.ts";
import { ROUTES } from "../../../src/host/routes/routeList.ts";
import { hazardRisk } from "../../../src/host/routes/hazardRisk.ts";
import { schemaViolations, DOCUMENT, responseViolations, OPERATIONS, parametersOf } from "./publishedDocument.ts";

const run = promisify(execFile);
const EXAMPLES = readExamples();
const REDOCLY = fileURLToPath(new URL("../../../node_modules/@redocly/cli/bin/cli.js", import.meta.url));

/** Lints a document and returns each finding as rule and JSON pointer. */
async function findingsOf(document: unknown): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "isotherm-openapi-"));
  try {
    await writeFile(join(folder, "openapi.json"), JSON.stringify(document));
    await writeFile(join(folder, "redocly.yaml"), "extends:\n  - recommended-strict\ntelemetry: off\n");
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const flags = ["lint", "openapi.json", "--config", "redocly.yaml", "--format", "json"];
    const { stdout } = await run(process.execPath, [REDOCLY, ...flags], { cwd: folder, env }).catch(
      (error: unknown) => error as { stdout: string },
    );
    const report = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
      totals: { errors: number; warnings: number; ignored: number };
      problems: { ruleId: string; location: { pointer?: string }[] }[];
    };
    expect(report.totals.ignored).toBe(0);
    // The linter lists at most 100 findings.
    expect(report.problems).toHaveLength(Math.min(100, report.totals.errors + report.totals.warnings));
    return report.problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns all schemas with an enum, at any depth. */
function enumSchemasIn(value: unknown): { readonly type?: unknown; readonly enum: readonly unknown[] }[] {
  if (typeof value !== "object" || value === null) return [];
  const below = Object.values(value).flatMap(enumSchemasIn);
  return "enum" in value && Array.isArray(value.enum) ? [{ ...value, enum: value.enum }, ...below] : below;
}

describe("the published document", () => {
  test("passes the linter", async () => {
    expect(await findingsOf(DOCUMENT)).toStrictEqual([]);
  });

  test("is checked by a linter that finds injected errors", async () => {
    const duplicate = structuredClone(DOCUMENT) as unknown as { paths: Record<string, Record<string, object>> };
    duplicate.paths["/healthz"] = { get: { ...duplicate.paths["/healthz"]?.["get"], operationId: "getHazardRisk" } };
    const findings = await findingsOf(duplicate);
    expect(findings.some((finding) => finding.startsWith("operation-operationId-unique"))).toBe(true);
    const invalid = structuredClone(DOCUMENT) as unknown as {
      components: { examples: Record<string, { value: object }> };
    };
    invalid.components.examples["rate_limited_429"] = { value: { code: 429 } };
    expect((await findingsOf(invalid)).some((finding) => finding.startsWith("no-invalid-media-type-examples"))).toBe(
      true,
    );
  });

  test("describes every route at its path", () => {
    const described = OPERATIONS.map(({ method, path, operationId }) => `${method} ${path} ${operationId}`);
    const served = ROUTES.map(
      ({ method, path, description }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")} ${description.operationId}`,
    );
    expect(described.toSorted()).toStrictEqual(served.toSorted());
    expect(new Set(described).size).toBe(described.length);
  });

  test.each(OPERATIONS)("$operationId requires the authentication of its route", (operation) => {
    const { access, metered, tokenScope } = ROUTES.find(
      ({ description }) => description.operationId === operation.operationId,
    ) as Route<unknown, unknown>;
    const required = { open: [], key: [{ ApiKey: [] }], customer: [{ ApiKey: [], CustomerId: [] }] };
    const token = tokenScope === undefined ? [] : [{ TileToken: [] }];
    expect(operation.security).toStrictEqual([...required[access], ...token]);
    const headers = parametersOf(operation).filter(({ in: location }) => location === "header");
    expect(headers.map(({ name }) => name)).toStrictEqual(metered === undefined ? [] : ["Idempotency-Key"]);
    expect(access === "customer").toBe(metered !== undefined);
  });

  test("describes both headers that identify the caller as security schemes", () => {
    expect(DOCUMENT.components.securitySchemes).toMatchObject({
      ApiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
      CustomerId: { type: "apiKey", in: "header", name: "X-Customer-ID" },
    });
  });

  test("gives every enum the type of its values", () => {
    const schemas = enumSchemasIn({ paths: DOCUMENT.paths, components: { ...DOCUMENT.components, examples: {} } });
    expect(schemas.length).toBeGreaterThan(20);
    const invalid = schemas.filter(({ type, enum: values }) => {
      const types = new Set(values.map((value) => (typeof value === "number" ? "integer" : typeof value)));
      return types.size !== 1 || !types.has(type as "string");
    });
    expect(invalid).toStrictEqual([]);
  });

  // Written by hand, independently of the code under test.
  const OPEN = [
    "400 http_malformed",
    "431 headers_too_large",
    "408 request_timeout",
    "503 overloaded",
    "500 internal_error",
  ];
  const KEY = [
    "401 api_key_missing",
    "401 api_key_invalid",
    "401 api_key_revoked",
    "401 account_suspended",
    "429 rate_limited",
  ];
  const DATA = [
    "400 customer_id_missing",
    "400 customer_id_malformed",
    "403 customer_not_accessible",
    "403 customer_archived",
    "503 usage_not_recorded",
    "503 clock_unreliable",
    "422 idempotency_key_reused",
  ];
  const BODY = ["415 content_type_unsupported", "413 body_too_large", "400 json_malformed"];
  const ROUTE_PROBLEMS: Readonly<Record<string, readonly string[]>> = {
    getHazardRisk: ["422 combination_unavailable", "400 too_many_values", "503 atlas_unavailable"],
    postHazardRiskBatch: ["400 too_many_values", "503 atlas_unavailable"],
    getHazardCurve: ["422 combination_unavailable", "400 too_many_values", "503 atlas_unavailable"],
    postHazardCurveBatch: ["400 too_many_values", "503 atlas_unavailable"],
    alignTemperature: ["422 asset_type_unsupported", "400 too_many_values"],
    analyzeTotalClimateRisk: ["422 country_unknown", "422 industry_unknown", "422 scenario_unknown"],
    registerCustomer: ["409 customer_archived"],
    getCustomer: ["404 customer_not_found"],
    archiveCustomer: ["404 customer_not_found"],
    getCustomerUsage: ["404 customer_not_found"],
    getUsage: ["404 customer_not_found"],
    getProblem: ["404 route_not_found"],
  };

  test.each(OPERATIONS)("$operationId lists every problem that its access, body and handler can cause", (operation) => {
    const { responses, operationId } = operation;
    const listed = Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.keys(content["application/problem+json"]?.examples ?? {}).map((code) => `${status} ${code}`),
    );
    const isData = operation.security.some((scheme) => "CustomerId" in scheme);
    const expected = [
      ...OPEN,
      ...(operation.security.length > 0 ? KEY : []),
      ...(isData ? DATA : []),
      ...(operation.requestBody === undefined ? [] : BODY),
      ...(ROUTE_PROBLEMS[operationId] ?? []),
    ];
    expect(expected.filter((problem) => !listed.includes(problem))).toStrictEqual([]);
    expect(new Set(listed.map((problem) => problem.slice(4))).size).toBe(listed.length);
  });

  test.each(OPERATIONS)("$operationId has an example of every response, valid against its schema", (operation) => {
    const { responses, operationId } = operation;
    for (const [status, { content = {} }] of Object.entries(responses)) {
      for (const [contentType, { examples = {}, schema }] of Object.entries(content)) {
        const isJson = contentType.endsWith("json");
        // The document cannot contain itself as an example.
        if (!isJson || (operationId === "getOpenApi" && status === "200")) continue;
        const values = Object.values(examples).map(({ $ref, value }) =>
          $ref === undefined ? value : DOCUMENT.components.examples[$ref.replace("#/components/examples/", "")]?.value,
        );
        expect([operationId, status, values.length > 0]).toStrictEqual([operationId, status, true]);
        for (const value of values)
          expect(responseViolations(operation, Number(status), contentType, value)).toStrictEqual([]);
        expect(schema).toBeDefined();
      }
    }
    const problems = Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.keys(content["application/problem+json"]?.examples ?? {}).map((code) => [code, status]),
    );
    const route = ROUTES.find(({ description }) => description.operationId === operationId) as Route<unknown, unknown>;
    expect(problems.map(([code = ""]) => code).toSorted((a, b) => a.localeCompare(b))).toStrictEqual(
      problemsOf(route).toSorted((a, b) => a.localeCompare(b)),
    );
    for (const [code, status] of problems) {
      expect(EXAMPLES.problems[`${code}_${status}`]?.status).toBe(Number(status));
    }
  });

  test.each(OPERATIONS.filter(({ requestBody }) => requestBody !== undefined))(
    "$operationId has a request example that is valid against its schema",
    ({ requestBody }) => {
      const { schema, example } = requestBody?.content["application/json"] ?? { schema: {} };
      expect(schemaViolations(schema, example)).toStrictEqual([]);
    },
  );

  test("throws for an unknown problem code", () => {
    const route = { ...hazardRisk, description: { ...hazardRisk.description, problems: ["no_such_problem"] } };
    expect(() => openApiDocument([route as Route<unknown, unknown>])).toThrow("no_such_problem");
  });
});
