/** The known answers of the temperature alignment over HTTP; details are not rounded. */
import { expect, test } from "vitest";
import type { AlignmentAnswer } from "../../../src/contract/wireTypes.ts";
import {
  entityDifferences,
  KNOWN_ENTITIES,
  KNOWN_YEARS,
  type KnownAnswer,
  yearDifferences,
} from "../../alignment/knownAnswers.ts";
import { describeWithSharedMethod } from "../../oracle/alignment2/sharedMethod.ts";
import { ALIGNMENT_PATH } from "../testHost.ts";
import { alignmentRoute } from "./alignmentRoute.ts";

/** Requests cannot change the weight of scope 3. */
const YEARS = KNOWN_YEARS.filter(({ options }) => options.scope3Weight === undefined);

describeWithSharedMethod("known answers over HTTP", () => {
  const { post } = alignmentRoute();

  async function answerTo({ entity, options }: KnownAnswer): Promise<AlignmentAnswer["results"][number]> {
    const { basis = "intensity", convergence } = options;
    const query = `detail=true&basis=${basis}${convergence === undefined ? "" : `&convergence=${convergence}`}`;
    const response = await post(JSON.stringify([entity]), `${ALIGNMENT_PATH}?${query}`);
    expect(response.status).toBe(200);
    const [result] = ((await response.json()) as AlignmentAnswer).results;
    if (result === undefined) throw new Error("There is no result.");
    return result;
  }

  test("include 47 years and 15 entities", () => {
    expect([YEARS.length, KNOWN_ENTITIES.length]).toEqual([47, 15]);
  });

  test.each(YEARS)("agree within 1e-6: $name", async (known) => {
    expect(yearDifferences(known, (await answerTo(known)).data[known.yearIndex])).toEqual([]);
  });

  test.each(KNOWN_ENTITIES)("agree within 1e-6: $name", async (known) => {
    expect(entityDifferences(known, await answerTo(known))).toEqual([]);
  });
});
