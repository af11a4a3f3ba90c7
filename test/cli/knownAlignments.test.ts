/** The known answers of the temperature alignment through the command line; details are not rounded. */
import { expect, test } from "vitest";
import type { AlignmentResult } from "../../src/contract/wireTypes.ts";
import {
  entityDifferences,
  KNOWN_ENTITIES,
  KNOWN_YEARS,
  type KnownAnswer,
  yearDifferences,
} from "../alignment/knownAnswers.ts";
import { describeWithSharedMethod } from "../oracle/alignment2/sharedMethod.ts";
import { runAlign, useAlignFolder } from "./alignRun.ts";

useAlignFolder();

/** The command line cannot change the weight of scope 3. */
const YEARS = KNOWN_YEARS.filter(({ options }) => options.scope3Weight === undefined);

async function resultOf({ entity, options }: KnownAnswer): Promise<AlignmentResult> {
  const { basis = "intensity", convergence } = options;
  const flags = ["--detail", "--basis", basis];
  if (convergence !== undefined) flags.push("--convergence", String(convergence));
  return JSON.parse(await runAlign("in.ndjson", JSON.stringify(entity), "out.ndjson", ...flags)) as AlignmentResult;
}

describeWithSharedMethod("known answers through isotherm align", () => {
  test.each(YEARS)("agree within 1e-6: $name", async (known) => {
    expect(yearDifferences(known, (await resultOf(known)).data[known.yearIndex])).toEqual([]);
  });

  test.each(KNOWN_ENTITIES)("agree within 1e-6: $name", async (known) => {
    expect(entityDifferences(known, await resultOf(known))).toEqual([]);
  });
});
