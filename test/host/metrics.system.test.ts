import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openAtlas } from "../../src/openAtlas.ts";
import { codeSpansIn, tableRows } from "../documentTables.ts";
import { parametersOf, queryTextOf, VALID_QUERY } from "../hazard/queries.ts";
import { exchangeBytes, HEADERS, type TestHost, startTestHost } from "./testHost.ts";

const QUERY_TEXT = queryTextOf(parametersOf(VALID_QUERY));

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost({ adminPort: 0, ledgerFolder: tmpdir(), load: { requestsInProgressMax: 1 } });
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
    const names = tableRows(page, "name").flatMap(([cell = ""]) => {
      const [first = "", ...more] = codeSpansIn(cell);
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

  test("is served if the folder of the ledger cannot be read", async () => {
    const other = await startTestHost({ adminPort: 0, ledgerFolder: "/nonexistent" });
    try {
      const text = await (await fetch(`${other.adminUrl}/metrics`)).text();
      expect(text).toMatch(/^isotherm_ledger_disk_free_bytes nan$/im);
      expect(valueOf(text, "isotherm_ledger_writable")).toBe(1);
    } finally {
      await other.close();
    }
  });

  test("is served only on the loopback address by default, and on a separate port", async () => {
    const { adminUrl = "" } = host;
    expect(adminUrl).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/);
    expect(adminUrl).not.toBe(host.address.url);
    expect((await fetch(`${host.address.url}/metrics`)).status).toBe(404);
    expect((await fetch(`${adminUrl}/healthz`)).status).toBe(404);
    expect((await fetch(`${adminUrl}/metrics`, { method: "POST" })).status).toBe(404);
    const { headers } = await fetch(`${adminUrl}/metrics`);
    expect(headers.get("content-type")).toMatch(/^text\/plain/);
  });

  test("rejects Host headers that do not name the server, as after DNS rebinding", async () => {
    const port = Number(new URL(host.adminUrl ?? "").port);
    const statusFor = async (hostField: string | undefined): Promise<string> => {
      const field = hostField === undefined ? "" : `Host: ${hostField}\r\n`;
      const text = await exchangeBytes(port, `GET /metrics HTTP/1.1\r\n${field}Connection: close\r\n\r\n`);
      expect(text.includes("isotherm_")).toBe(text.startsWith("HTTP/1.1 200"));
      return text.slice(9, 12);
    };
    const rejected = [
      "attacker.example",
      `attacker.example:${port}`,
      "127.0.0.1.attacker.example",
      "",
      undefined,
      "[x]",
    ];
    for (const name of rejected) expect([name, await statusFor(name)]).toStrictEqual([name, "421"]);
    const accepted = [
      "127.0.0.1",
      `127.0.0.1:${port}`,
      "localhost",
      `LOCALHOST:${port}`,
      "localhost.",
      "10.2.3.4",
      "[::1]:9",
    ];
    for (const name of accepted) expect([name, await statusFor(name)]).toStrictEqual([name, "200"]);
  });

  test("accepts the host names in adminAllowedHosts, and listens on adminHost", async () => {
    const other = await startTestHost({
      adminPort: 0,
      adminHost: "127.0.0.2",
      adminAllowedHosts: ["Metrics.internal"],
    });
    try {
      expect(other.adminUrl).toMatch(/^http:\/\/127\.0\.0\.2:/);
      const port = Number(new URL(other.adminUrl ?? "").port);
      const socket = connect({ host: "127.0.0.2", port });
      socket.write("GET /metrics HTTP/1.1\r\nHost: metrics.internal:1\r\nConnection: close\r\n\r\n");
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
    } finally {
      await other.close();
    }
  });

  test("has the state of the service", async () => {
    const other = await startTestHost({ adminPort: 0, ledgerFolder: tmpdir() });
    try {
      const page = await (await fetch(`${other.adminUrl}/metrics`)).text();
      expect(valueOf(page, "isotherm_ledger_writable")).toBe(1);
      expect(page).toContain("\nisotherm_ledger_reports_waiting 0\n");
      expect(page).toContain("\nisotherm_requests_open 0\n");
      expect(page).toContain("\nisotherm_key_lookups 0\n");
      expect(valueOf(page, "isotherm_ledger_disk_free_bytes")).toBeGreaterThan(0);
      expect(Math.abs(valueOf(page, "isotherm_clock_drift_seconds"))).toBeLessThan(60);
      expect(page).toMatch(/\nnodejs_eventloop_lag_p99_seconds [0-9.e+-]+\n/);
      other.ledger.fail(new Error("disk full"));
      const later = await (await fetch(`${other.adminUrl}/metrics`)).text();
      expect(later).toContain("\nisotherm_ledger_writable 0\n");
    } finally {
      await other.close();
    }
  });

  test("shows that the wall clock has been set", async () => {
    const realNow = Date.now;
    vi.spyOn(Date, "now").mockImplementation(() => realNow() + 3_600_000);
    try {
      expect(valueOf(await scrape(), "isotherm_clock_drift_seconds")).toBeGreaterThan(3_500);
    } finally {
      vi.restoreAllMocks();
    }
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
