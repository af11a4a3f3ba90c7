import { expect, test } from "vitest";
import { startupLines, startupRecord, type StartupReport } from "../../src/cli/startupReport.ts";

const KEY = `iso_sk_${"a".repeat(64)}`;
const CUSTOMER = "9f1d1b1e-6a43-4b7e-8f0c-2d3e4f5a6b7c";
const REPORT: StartupReport = {
  url: "http://127.0.0.1:8080",
  atlas: "demo",
  atlasRelease: "demo-1",
  isSynthetic: true,
  demo: {
    file: "/data/demo-credentials.json",
    credentials: { base_url: "http://127.0.0.1:8080", api_key: KEY, customer_id: CUSTOMER },
  },
};

test("prints the address of the explorer with the key of the demo in its fragment", () => {
  expect(startupLines(REPORT)).toContain(`Explorer: http://127.0.0.1:8080/#key=${KEY}&customer=${CUSTOMER}`);
});

test("prints the address without a key if the service is not the demo", () => {
  const { demo: _demo, ...report } = REPORT;
  expect(startupLines(report)).toContain("Explorer: http://127.0.0.1:8080/");
});

test("keeps the key out of the log record and of all other lines", () => {
  expect(JSON.stringify(startupRecord(REPORT))).not.toContain(KEY);
  expect(startupLines(REPORT).filter((line) => line.includes(KEY))).toHaveLength(1);
});
