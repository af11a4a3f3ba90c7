import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAtlas } from "../../src/openAtlas.ts";
import { parametersOf, queryTextOf, VALID_QUERY } from "../hazard/queries.ts";
import { HEADERS, type TestHost, startTestHost } from "./testHost.ts";

const QUERY_TEXT = queryTextOf(parametersOf(VALID_QUERY));

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost({ adminPort: 0, load: { requestsInProgressMax: 1 } });
});
afterAll(async () => {
  await host.close();
});

const scrape = async (): Promise<string> => (await fetch(`${host.adminUrl}/metrics`)).text();
const valueOf = (text: string, series: string): number => {
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
};

describe("/metrics", () => {
  test("counts responses, units and problems without revealing request data", async () => {
    const before = await scrape();
    await host.ask(`/latest/api/v1/hazard-risk?${QUERY_TEXT}`);
    await host.ask(`/latest/api/v1/hazard-risk?${QUERY_TEXT}`);
    await host.ask("/api/v1/hazard-risk?latitude=77.123");
    await fetch(`${host.address.url}/private-name`);
    await fetch(`${host.address.url}/healthz`, { method: "PUT" });
    const after = await scrape();
    const increaseOf = (series: string): number => valueOf(after, series) - valueOf(before, series);
    const duration = "http_server_request_duration_seconds_count";
    expect(increaseOf(`${duration}{method="GET",route="/latest/api/v1/hazard-risk",status="200"}`)).toBe(2);
    expect(increaseOf(`${duration}{method="GET",route="/api/v1/hazard-risk",status="400"}`)).toBe(1);
    expect(increaseOf(`${duration}{method="other",route="none",status="404"}`)).toBe(1);
    expect(increaseOf('isotherm_units_total{meter="hazard_values"}')).toBe(16);
    expect(increaseOf('isotherm_errors_total{code="invalid_request"}')).toBe(1);
    expect(increaseOf('isotherm_errors_total{code="route_not_found"}')).toBe(1);
    expect(increaseOf('isotherm_errors_total{code="method_not_allowed"}')).toBe(1);
    expect(increaseOf("isotherm_ledger_commit_duration_seconds_count")).toBe(2);
    expect(valueOf(after, "isotherm_work_jobs")).toBe(0);
    expect(after).toContain("process_cpu_seconds_total");
    for (const secret of [
      host.accountId,
      host.keyId,
      ...Object.values(HEADERS),
      "private-name",
      "77.123",
      "riverine",
    ]) {
      expect(after).not.toContain(secret);
    }
  });

  test("reports ledger commits, tile reads and cached bytes", async () => {
    const atlas = await openAtlas("demo");
    const other = await startTestHost({ adminPort: 0, atlas });
    try {
      const scrape = async (): Promise<string> => (await fetch(`${other.adminUrl}/metrics`)).text();
      const fetched = 'isotherm_tile_read_duration_seconds_count{source="demo"}';
      const figures = (text: string): readonly number[] =>
        [fetched, "isotherm_cache_bytes", "isotherm_ledger_batch_rows_sum"].map((series) => valueOf(text, series));
      expect(figures(await scrape())).toStrictEqual([0, 0, 0]);
      const circle = `/api/v1/hazard-risk?${QUERY_TEXT}&radius=3`;
      expect((await other.ask(circle)).status).toBe(200);
      const first = figures(await scrape());
      expect(first.every((figure) => figure > 0)).toBe(true);
      // Cached tiles are not read again.
      expect((await other.ask(circle)).status).toBe(200);
      expect(figures(await scrape())).toStrictEqual([first[0], first[1], 2 * (first[2] ?? 0)]);
    } finally {
      await other.close();
      await atlas.close();
    }
  });

  test("has the metrics listed in docs/operations.md", async () => {
    const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
    const table = /\| name +\| labels[^\n]*\n([\s\S]*?)\n\n/.exec(page)?.[1] ?? "";
    const names = [...table.matchAll(/^\| (.*?) +\|/gm)].flatMap(([, cell = ""]) => {
      const [first = "", ...more] = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
      return [first, ...more.map((end) => end.replace("…", first.replace(/_[a-z]+$/, "")))];
    });
    const served = [...(await scrape()).matchAll(/^# TYPE ((?:isotherm|http_server)_\w+)/gm)].map(
      ([, name = ""]) => name,
    );
    expect(names.filter((name) => /^(?:isotherm|http_server)_/.test(name)).toSorted()).toStrictEqual(served.toSorted());
  });

  test("counts rejected requests by reason", async () => {
    const limited = await startTestHost({ adminPort: 0, limits: { requestsPerS: 0.5, requestBurst: 1 } });
    try {
      await limited.ask("/api/v1/limits");
      await limited.ask("/api/v1/limits");
      const text = await (await fetch(`${limited.adminUrl}/metrics`)).text();
      expect(valueOf(text, 'isotherm_shed_total{reason="rate_limited"}')).toBe(1);
    } finally {
      await limited.close();
    }
  });

  test("is served only on the loopback address and on a separate port", async () => {
    const { adminUrl = "" } = host;
    expect(adminUrl).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/);
    expect(adminUrl).not.toBe(host.address.url);
    expect((await fetch(`${host.address.url}/metrics`)).status).toBe(404);
    expect((await fetch(`${adminUrl}/healthz`)).status).toBe(404);
    expect((await fetch(`${adminUrl}/metrics`, { method: "POST" })).status).toBe(404);
    const { headers } = await fetch(`${adminUrl}/metrics`);
    expect(headers.get("content-type")).toMatch(/^text\/plain/);
  });

  test("stops with the service", async () => {
    const other = await startTestHost({ adminPort: 0 });
    await other.close();
    await expect(fetch(`${other.adminUrl}/metrics`)).rejects.toThrow("fetch failed");
  });

  test("prevents the start of the service if the admin port is in use", async () => {
    const port = Number(new URL(host.adminUrl ?? "").port);
    await expect(startTestHost({ adminPort: port })).rejects.toMatchObject({ code: "configuration_invalid" });
  });

  test("is not served by default", async () => {
    const other = await startTestHost();
    expect(other.adminUrl).toBeUndefined();
    await other.close();
  });
});
