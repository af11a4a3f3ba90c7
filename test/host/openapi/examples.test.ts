import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Atlas } from "../../../src/hazard/answer.ts";
import { EXAMPLES } from "../../../src/host/openapi/examples.ts";
import type { Route } from "../../../src/host/routes/route.ts";
import { ROUTES } from "../../../src/host/routes/routeList.ts";
import { openAtlas } from "../../../src/openAtlas.ts";
import { HEADERS, type Hosted, hosted } from "../hosting.ts";
import { PROBLEM_CASES, triggerProblem } from "../problems/problemCases.ts";

/** The examples of the published contract are what the service answers. ISOTHERM_UPDATE_EXAMPLES=1 writes them anew. */
const IS_UPDATING = process.env["ISOTHERM_UPDATE_EXAMPLES"] === "1";
const FILE = fileURLToPath(new URL("../../../src/host/openapi/examples.ts", import.meta.url));
const DECLARATION = "export const EXAMPLES: Examples =";
/** Of a longer list an example shows the first two items. */
const WHOLE_LIST_MAX = 6;

interface Example {
  readonly summary?: string;
  readonly value: unknown;
}
const found = { answers: {} as Record<string, Record<string, Example>>, problems: {} as Record<string, unknown> };

let atlas: Atlas;
let host: Hosted;
beforeAll(async () => {
  atlas = await openAtlas("demo");
  // The limits that are shown are those that there are by default.
  host = await hosted({ atlas, limits: { requestsPerS: 50, requestBurst: 100 } });
  await host.ready;
});
afterAll(async () => {
  await host.close();
  await atlas.close();
  if (!IS_UPDATING) return;
  const text = readFileSync(FILE, "utf8");
  const head = text.slice(0, text.indexOf(DECLARATION) + DECLARATION.length);
  const whole = await format(`${head} ${JSON.stringify(found)};\n`, { ...(await resolveConfig(FILE)), filepath: FILE });
  writeFileSync(FILE, whole);
});

/** Ids and times are others every time; so that examples stay, each has one value. */
function steadied(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "0190f000-0000-7000-8000-000000000001")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-01-15T09:30:00.000Z")
    .replaceAll(/"period":"\d{4}-\d\d-\d\d"/g, '"period":"2026-01-15"');
  return JSON.parse(text) as unknown;
}

function shortened(value: unknown): Example {
  for (const [name, list] of Object.entries(value as object)) {
    if (!Array.isArray(list) || list.length <= WHOLE_LIST_MAX) continue;
    const cut = { ...(value as object), [name]: list.slice(0, 2) as unknown[] };
    return { summary: `The first 2 of ${list.length} ${name}`, value: cut };
  }
  return { value };
}

function propertiesOf(schema: { readonly properties?: object } | undefined): object {
  return schema?.properties ?? {};
}

async function askedFor(route: Route<unknown, unknown>): Promise<Response> {
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

/** The document that holds the examples is none of its own. */
const ROUTES_SHOWN = ROUTES.filter(({ description }) => description.operationId !== "getOpenApi");

// In the order of the contract: usage is asked for when there is some, and the customer is archived when all is asked.
const ORDER = [
  ...ROUTES_SHOWN.filter(({ method }) => method !== "DELETE"),
  ...ROUTES_SHOWN.filter(({ method }) => method === "DELETE"),
];

test.each(ORDER.map((route) => [route.description.operationId, route] as const))("%s", async (operationId, route) => {
  const asks = operationId === "registerCustomer" ? 2 : 1; // registered, and registered before
  for (let i = 0; i < asks; i++) {
    const response = await askedFor(route);
    const status = String(response.status);
    expect(Object.keys(route.description.responses)).toContain(status);
    if (!response.headers.get("content-type")?.startsWith("application/json")) continue;
    const example = shortened(steadied(await response.json()));
    (found.answers[operationId] ??= {})[status] = example;
    if (!IS_UPDATING) expect(EXAMPLES.answers[operationId]?.[status]).toStrictEqual(example);
  }
});

test.each(PROBLEM_CASES.map((problemCase) => [`${problemCase.code}_${problemCase.status}`, problemCase] as const))(
  "%s",
  async (name, problemCase) => {
    const problem = steadied((await triggerProblem(problemCase)).problem);
    found.problems[name] = problem;
    if (!IS_UPDATING) expect(EXAMPLES.problems[name]).toStrictEqual(problem);
  },
);

test("there is no example of what is not answered", () => {
  if (IS_UPDATING) return;
  const names = (of: Readonly<Record<string, object>>) =>
    Object.entries(of).flatMap(([name, members]) => Object.keys(members).map((member) => `${name} ${member}`));
  expect(names(EXAMPLES.answers).toSorted()).toStrictEqual(names(found.answers).toSorted());
  expect(Object.keys(EXAMPLES.problems).toSorted()).toStrictEqual(Object.keys(found.problems).toSorted());
});
