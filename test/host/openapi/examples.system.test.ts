import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Atlas } from "../../../src/hazard/answer.ts";
import { readExamples } from "../../../src/host/openapi/examples.ts";
import type { Route } from "../../../src/host/route.ts";
import { ROUTES } from "../../../src/host/routes/routeList.ts";
import { openAtlas } from "../../../src/openAtlas.ts";
import { HEADERS, type TestHost, startTestHost } from "../testHost.ts";
import { PROBLEM_CASES, triggerProblem } from "../problems/problemCases.ts";

/** Whether the examples of the OpenAPI document are rewritten (ISOTHERM_UPDATE_EXAMPLES=1) instead of compared. */
const IS_UPDATING = process.env["ISOTHERM_UPDATE_EXAMPLES"] === "1";
const FILE = fileURLToPath(new URL("../../../src/host/openapi/examples.json", import.meta.url));
/** Longer lists are cut to their first two items. */
const FULL_LIST_LENGTH_MAX = 6;

const EXAMPLES = readExamples();
/** The default rate limits, which the example of GET /api/v1/limits shows. */
const DEFAULT_RATES = { requestsPerS: 50, requestBurst: 100, tilesPerS: 100, tileBurst: 400 };

interface Example {
  readonly summary?: string;
  readonly value: unknown;
}
const collected = { responses: {} as Record<string, Record<string, Example>>, problems: {} as Record<string, unknown> };

let atlas: Atlas;
let host: TestHost;
beforeAll(async () => {
  atlas = await openAtlas("demo");
  host = await startTestHost({ atlas, limits: DEFAULT_RATES });
  await host.ready;
});
afterAll(async () => {
  await host.close();
  await atlas.close();
  if (!IS_UPDATING) return;
  writeFileSync(FILE, await format(JSON.stringify(collected), { ...(await resolveConfig(FILE)), filepath: FILE }));
});

/** Replaces ids, times, addresses and tokens, which differ in every run, with fixed values. */
function withFixedIdsAndTimes(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "0190f000-0000-7000-8000-000000000001")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-01-15T09:30:00.000Z")
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "https://example.org")
    .replaceAll(/token=[\w.-]+/g, "token=0190f000-0000-7000-8000-000000000001.1768471200.signature")
    .replaceAll(/"period":"\d{4}-\d\d-\d\d"/g, '"period":"2026-01-15"');
  return JSON.parse(text) as unknown;
}

function shortenLists(value: unknown): Example {
  for (const [name, list] of Object.entries(value as object)) {
    if (!Array.isArray(list) || list.length <= FULL_LIST_LENGTH_MAX) continue;
    const cut = { ...(value as object), [name]: list.slice(0, 2) as unknown[] };
    return { summary: `The first 2 of ${list.length} ${name}`, value: cut };
  }
  return { value };
}

function propertiesOf(schema: { readonly properties?: object } | undefined): object {
  return schema?.properties ?? {};
}

async function requestExample(route: Route<unknown, unknown>): Promise<Response> {
  const { parameterExamples = {}, path: pathSchema, body } = route.description;
  const members = new Set(Object.keys(propertiesOf(pathSchema)));
  const path = route.path.replaceAll(/:(\w+)/g, (_all, name: string) =>
    name === "id" ? HEADERS["X-Customer-ID"] : String(parameterExamples[name]),
  );
  const query = Object.entries(parameterExamples)
    .filter(([name]) => !members.has(name))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  return host.ask(query === "" ? path : `${path}?${query}`, {
    method: route.method,
    ...(body === undefined
      ? {}
      : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body.example) }),
  });
}

/** The document is not an example within itself, and this service has no built explorer. */
const WITHOUT_EXAMPLES: ReadonlySet<string> = new Set(["getOpenApi", "getExplorerFile"]);
const ROUTES_WITH_EXAMPLES = ROUTES.filter(({ description }) => !WITHOUT_EXAMPLES.has(description.operationId));

// The order of the contract records usage before it is queried; the customer is archived last.
const ORDER = [
  ...ROUTES_WITH_EXAMPLES.filter(({ method }) => method !== "DELETE"),
  ...ROUTES_WITH_EXAMPLES.filter(({ method }) => method === "DELETE"),
];

test.each(ORDER.map((route) => [route.description.operationId, route] as const))(
  "the example of %s is the actual response",
  async (operationId, route) => {
    const requestCount = operationId === "registerCustomer" ? 2 : 1; // 201, then 200
    for (let i = 0; i < requestCount; i++) {
      const response = await requestExample(route);
      const status = String(response.status);
      expect(Object.keys(route.description.responses)).toContain(status);
      if (!response.headers.get("content-type")?.startsWith("application/json")) continue;
      const example = shortenLists(withFixedIdsAndTimes(await response.json()));
      (collected.responses[operationId] ??= {})[status] = example;
      if (!IS_UPDATING) expect(EXAMPLES.responses[operationId]?.[status]).toStrictEqual(example);
    }
  },
);

test.each(PROBLEM_CASES.map((problemCase) => [`${problemCase.code}_${problemCase.status}`, problemCase] as const))(
  "the example of %s is the actual response",
  async (name, problemCase) => {
    const problem = withFixedIdsAndTimes((await triggerProblem(problemCase)).problem);
    collected.problems[name] = problem;
    if (!IS_UPDATING) expect(EXAMPLES.problems[name]).toStrictEqual(problem);
  },
);

test("has no example of a response that no route returns", () => {
  if (IS_UPDATING) return;
  const names = (examples: Readonly<Record<string, object>>) =>
    Object.entries(examples).flatMap(([name, members]) => Object.keys(members).map((member) => `${name} ${member}`));
  expect(names(EXAMPLES.responses).toSorted()).toStrictEqual(names(collected.responses).toSorted());
  expect(Object.keys(EXAMPLES.problems).toSorted()).toStrictEqual(Object.keys(collected.problems).toSorted());
});
