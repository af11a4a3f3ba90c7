/** docs/http-api.md: its endpoints, problem codes, error example and commands are those of the service. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeProblem, PROBLEM_CODES } from "../../src/host/problems/problemTexts.ts";
import { ROUTES } from "../../src/host/routes/routeList.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { curlRequest } from "../curlCommand.ts";
import { codeSpansIn, tableRows } from "../documentTables.ts";
import { HEADERS, startTestHost, type TestHost } from "./testHost.ts";

const PAGE = readFileSync(new URL("../../docs/http-api.md", import.meta.url), "utf8");

/** Problems that mean "internal error" to a client; the page lists only that code. */
const INTERNAL_CODES = new Set(PROBLEM_CODES.filter((code) => describeProblem(code).title === "Internal error"));

let host: TestHost;
let variables: Readonly<Record<string, string>>;
let atlas: Awaited<ReturnType<typeof openAtlas>>;
beforeAll(async () => {
  atlas = await openAtlas("demo");
  host = await startTestHost({ atlas });
  variables = {
    SERVICE: host.address.url,
    API_KEY: HEADERS["X-API-Key"],
    CUSTOMER_ID: HEADERS["X-Customer-ID"],
  };
});
afterAll(async () => {
  await host.close();
  await atlas.close();
});

describe("docs/http-api.md", () => {
  test("lists every endpoint in the order of the contract, with its access and meter", () => {
    const endpoints = ROUTES.map(({ method, path, access, metered }) => [
      `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
      access,
      ...(metered === undefined ? [] : [metered.meter]),
    ]);
    const rows = tableRows(PAGE, "endpoint").map((cells) => cells.slice(0, 3).flatMap(codeSpansIn));
    expect(rows).toEqual(endpoints);
  });

  test("lists every problem code with its status and whether a retry can help", () => {
    const listed = tableRows(PAGE, "status").flatMap(([status, codes = "", retry]) =>
      codeSpansIn(codes).map((code) => `${code} ${status} ${retry}`),
    );
    const expected = PROBLEM_CODES.filter((code) => code === "internal_error" || !INTERNAL_CODES.has(code)).map(
      (code) => {
        const { status, retryable } = describeProblem(code);
        return `${code} ${status} ${retryable ? "yes" : "no"}`;
      },
    );
    expect(listed.toSorted()).toEqual(expected.toSorted());
  });

  test("shows the problem of an invalid latitude as the service returns it", async () => {
    const [, example = ""] = /```json\n([\s\S]*?)```/.exec(PAGE) ?? [];
    const query = "latitude=91&longitude=43.15&hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";
    const response = await host.ask(`/api/v1/hazard-risk?${query}`);
    const problem = (await response.json()) as Record<string, unknown>;
    const shown = JSON.parse(example) as Record<string, unknown>;
    expect(problem["request_id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect({ ...problem, request_id: shown["request_id"] }).toEqual(shown);
  });

  const commands = [...PAGE.matchAll(/^curl .*$/gm)].map(([command]) => command);

  test("has a command for every metered endpoint except the batch of curves", () => {
    const urls = commands.map((command) => curlRequest(command, { SERVICE: "http://localhost" }).url);
    const paths = new Set(urls.map((url) => new URL(url).pathname));
    const metered = ROUTES.filter(({ metered }) => metered !== undefined).map(({ path }) => path);
    expect(metered.filter((path) => !paths.has(path))).toEqual(["/api/v1/hazard-risk/curve/batch"]);
  });

  test.each(commands)("%s succeeds", async (command) => {
    const { url, init } = curlRequest(command, variables);
    const response = await fetch(url, init);
    expect([response.status, await response.text()]).toEqual([200, expect.not.stringContaining('"error"')]);
  });
});
