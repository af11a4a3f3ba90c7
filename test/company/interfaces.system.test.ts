import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { IsothermClient } from "../../src/client/client.ts";
import type { CompanyAnswer } from "../../src/contract/wireTypes.ts";
import { HEADERS, startTestHost } from "../host/testHost.ts";
import { differences } from "../oracle/company2/differences.ts";
import { randomRequest } from "../oracle/company2/randomRequests.ts";
import { analyzeCompany } from "../oracle/company2/report.ts";
import { describeWithReference } from "../oracle/company2/sharedReference.ts";
import { randomFrom } from "../seededRandom.ts";
import { compareKnown, KNOWN_COMPANIES, KNOWN_RESULT_COUNT, requestOf } from "./knownAnswers.ts";

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const RANDOM_REQUEST_COUNT = 40;

describeWithReference("the known answers of cases/company.json, through every interface", (tables) => {
  test("the command line returns them", async () => {
    const folder = mkdtempSync(join(tmpdir(), "isotherm-known-"));
    try {
      const [input, output] = [join(folder, "in.ndjson"), join(folder, "out.ndjson")];
      writeFileSync(input, KNOWN_COMPANIES.map((known) => `${JSON.stringify(requestOf(known))}\n`).join(""));
      await promisify(execFile)(process.execPath, [CLI, "company", input, output]);
      const answers = readFileSync(output, "utf8").trimEnd().split("\n");
      expect(answers).toHaveLength(KNOWN_COMPANIES.length);
      const counts = KNOWN_COMPANIES.map((known, i) =>
        compareKnown(known, JSON.parse(answers[i] ?? "") as CompanyAnswer),
      );
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(KNOWN_RESULT_COUNT);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("the service returns them, and answers random requests as the reference implementation does", async () => {
    const host = await startTestHost();
    try {
      await host.ready;
      const client = new IsothermClient({
        baseUrl: host.address.url,
        apiKey: HEADERS["X-API-Key"],
        customerId: HEADERS["X-Customer-ID"],
      });
      let count = 0;
      for (const known of KNOWN_COMPANIES) {
        count += compareKnown(known, await client.totalClimateRisk(requestOf(known)));
      }
      expect(count).toBe(KNOWN_RESULT_COUNT);
      const random = randomFrom(73);
      for (let i = 0; i < RANDOM_REQUEST_COUNT; i++) {
        const request = randomRequest(tables, random);
        const answer = await client.totalClimateRisk(request);
        expect(differences(analyzeCompany(tables, request), answer), JSON.stringify(request)).toEqual([]);
      }
    } finally {
      await host.close();
    }
  });
});
