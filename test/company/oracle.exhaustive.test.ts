import { expect, test } from "vitest";
import { totalClimateRisk } from "../../src/company/report.ts";
import { type Fault, isFault } from "../../src/errors.ts";
import { differences } from "../oracle/company2/differences.ts";
import { randomRefusedRequest, randomRequest } from "../oracle/company2/randomRequests.ts";
import { analyzeCompany } from "../oracle/company2/report.ts";
import { describeWithReference } from "../oracle/company2/sharedReference.ts";
import { randomFrom } from "../seededRandom.ts";
import type { CompanyRequest } from "../../src/contract/wireTypes.ts";

/** Number of accepted and of refused requests. */
const REQUEST_COUNT = Number(process.env["ISOTHERM_COMPANY_REQUESTS"] ?? 400);
const TIMEOUT_MS = Math.max(120_000, 60 * REQUEST_COUNT);

function faultOf(request: unknown): Fault | undefined {
  try {
    totalClimateRisk(request as CompanyRequest);
    return undefined;
  } catch (error) {
    if (!isFault(error)) throw error;
    return error;
  }
}

describeWithReference("compared with the reference implementation", (tables) => {
  test(
    `${REQUEST_COUNT} random requests, every figure at 1e-9`,
    () => {
      const random = randomFrom(71);
      let resultCount = 0;
      for (let i = 0; i < REQUEST_COUNT; i++) {
        const request = randomRequest(tables, random);
        const report = analyzeCompany(tables, request);
        const answer = totalClimateRisk(request);
        const found = differences(report, answer);
        if (found.length > 0) expect(found.slice(0, 5), JSON.stringify(request)).toEqual([]);
        resultCount += answer.results.length;
      }
      expect(resultCount).toBeGreaterThan(REQUEST_COUNT);
    },
    TIMEOUT_MS,
  );

  test(
    `${REQUEST_COUNT} random requests with one error are refused with the same code`,
    () => {
      const random = randomFrom(72);
      for (let i = 0; i < REQUEST_COUNT; i++) {
        const { request, code } = randomRefusedRequest(tables, random);
        const fault = faultOf(request);
        expect(fault?.code, JSON.stringify(request)).toBe(code === "invalid" ? "invalid_request" : code);
        for (const { pointer } of fault?.items ?? []) expect(pointer, fault?.message).toMatch(/^\/[a-z]/);
      }
    },
    TIMEOUT_MS,
  );
});
