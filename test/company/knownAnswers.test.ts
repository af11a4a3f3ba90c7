import { expect, test } from "vitest";
import { totalClimateRisk } from "../../src/company/report.ts";
import { describeWithReference } from "../oracle/company2/sharedReference.ts";
import { compareKnown, KNOWN_COMPANIES, KNOWN_RESULT_COUNT, requestOf } from "./knownAnswers.ts";

describeWithReference("the known answers of cases/company.json", () => {
  const counts: number[] = [];

  test.each(KNOWN_COMPANIES.map((known) => [known.name, known] as const))("%s: every figure matches", (_, known) => {
    const count = compareKnown(known, totalClimateRisk(requestOf(known)));
    expect(count).toBeGreaterThan(0);
    counts.push(count);
  });

  test("cover 615 results", () => {
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(KNOWN_RESULT_COUNT);
  });
});
