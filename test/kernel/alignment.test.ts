import { describe, expect, test } from "vitest";
import { tabulateByYear } from "../../src/alignment/benchmark.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { type AlignmentRule, computeAlignment } from "../../src/kernel/alignment.ts";
import { makeAlignmentTables } from "../../src/kernel/alignmentTables.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { compareWithOracle, namesOf } from "./alignmentComparison.ts";
import { columnsOfEntities, oracleReference, randomOracleEntity } from "./alignmentOracle.ts";

const kernel = await Kernel.load();
const tables = makeAlignmentTables(tabulateByYear(NGFS_PHASE5));
const reference = oracleReference();

/** Entity-years per rule. */
const ROW_COUNT = Number(process.env["ISOTHERM_ALIGNMENT_ROWS"] ?? 5000);
const BATCH = 1000;
const TIMEOUT_MS = Math.max(60_000, ROW_COUNT * 2);

const RULES: readonly AlignmentRule[] = [
  { basis: "intensity", scope3Weight: 1, gamma: 0 },
  { basis: "emissions", scope3Weight: 1, gamma: 0 },
  { basis: "cumulative", scope3Weight: 1, gamma: 0 },
  { basis: "intensity", scope3Weight: 1, gamma: 0.5 },
  { basis: "emissions", scope3Weight: 0.3, gamma: 1 },
  { basis: "intensity", scope3Weight: 0, gamma: 0 },
  { basis: "cumulative", scope3Weight: 0.5, gamma: 0.5 },
];
const GROWTH_FLAGS = new Set(["growth_default", "growth_region", "growth_limited", "growth_driven"]);
const EVERYTHING = { climateRange: true, byScope: true, overall: true } as const;

/** Returns the flags that the kernel can raise under a rule, in the order of their bits. */
function flagsThatCanBeRaised({ basis, scope3Weight, gamma }: AlignmentRule): readonly string[] {
  return namesOf(0x1ffff0)
    .split(" ")
    .filter((flag) => {
      if (flag === "scope3_absent") return scope3Weight > 0;
      if (flag === "revenue_unusable") return basis === "intensity" || (basis === "emissions" && gamma > 0);
      return basis === "intensity" || !GROWTH_FLAGS.has(flag);
    });
}

describe("computeAlignment", () => {
  test.each(RULES)(
    "matches the reference implementation on random entities: $basis, scope 3 x $scope3Weight, gamma $gamma",
    (rule) => {
      let largestC = 0;
      let rowCount = 0;
      let flags = 0;
      let emptyCount = 0;
      for (let seed = 1; rowCount < ROW_COUNT; seed += BATCH) {
        const entities = Array.from({ length: BATCH }, (_, i) => randomOracleEntity(reference, rule, seed + i));
        const budget = (seed + BATCH - 1) % 4;
        const outcome = computeAlignment(kernel, tables, columnsOfEntities(entities), rule, { ...EVERYTHING, budget });
        if (outcome.kind === "refused") throw new Error(`refused: ${JSON.stringify(entities[outcome.entity])}`);
        const compared = compareWithOracle(reference, entities, outcome, { rule, budget });
        largestC = Math.max(largestC, compared.largestC);
        rowCount += compared.rowCount;
        flags |= compared.flags;
        emptyCount += compared.emptyCount;
      }
      console.info(`${rule.basis}: ${rowCount} entity-years, largest difference ${largestC} degrees C`);
      expect(emptyCount).toBeGreaterThan(0);
      expect(namesOf(flags).split(" ")).toEqual(flagsThatCanBeRaised(rule));
    },
    TIMEOUT_MS,
  );
});
