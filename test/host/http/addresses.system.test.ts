import { afterAll, beforeAll, expect, test } from "vitest";
import { addressesOf } from "../../../src/host/route.ts";
import { ROUTES } from "../../../src/host/routes/routeList.ts";
import { openLocalAtlas } from "../../../src/openAtlas.ts";
import { HEADERS, type TestHost, startTestHost } from "../testHost.ts";

let host: TestHost;
beforeAll(async () => {
  // The demo has curves; the fake atlas of the tests does not.
  host = await startTestHost({ atlas: await openLocalAtlas("demo", 16 << 20) });
  await host.ready;
});
afterAll(async () => {
  await host.close();
});

const VERSIONED = ROUTES.filter(({ path }) => path.includes("/api/v1/"));

test.each(VERSIONED)("$method $path has the same response with and without /latest", async (route) => {
  const addresses = addressesOf(route);
  const plain = route.path.replace(/^\/latest/, "");
  expect(addresses.toSorted()).toStrictEqual([plain, `/latest${plain}`]);
  const { parameterExamples = {}, body } = route.description;
  const inPath = new Set([...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name));
  const query = Object.entries(parameterExamples)
    .filter(([name]) => !inPath.has(name))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  const answers: unknown[] = [];
  for (const address of addresses) {
    const target = address.replaceAll(/:(\w+)/g, (_, name: string) =>
      name === "id" ? HEADERS["X-Customer-ID"] : String(parameterExamples[name]),
    );
    const response = await host.ask(query === "" ? target : `${target}?${query}`, {
      method: route.method,
      ...(body === undefined
        ? {}
        : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body.example) }),
    });
    const text = await response.text();
    answers.push(text.replace(/"(?:request_id|created_at|archived_at|customer_id)":"[^"]+"/g, ""));
    expect([200, 201]).toContain(response.status);
  }
  // Usage changes with each metered response; all other responses are equal.
  if (!route.path.endsWith("/usage")) expect(answers[1]).toBe(answers[0]);
});

test.each(ROUTES.filter(({ path }) => !path.includes("/api/v1/")))(
  "$path has no address under /latest",
  async (route) => {
    expect(addressesOf(route)).toStrictEqual([route.path]);
    const response = await host.ask(`/latest${route.path.replace(/:\w+/, "x")}`, { method: route.method });
    expect(response.status).toBe(404);
    await response.text();
  },
);
