import { describe, expect, test } from "vitest";
import { tabulateByYear } from "../../src/alignment/benchmark.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { type AlignmentRule, computeAlignment } from "../../src/kernel/alignment.ts";
import type { AlignmentInclude } from "../../src/kernel/alignmentColumns.ts";
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
/** What the fast path of the kernel computes, and everything. */
const INCLUDES: readonly AlignmentInclude[] = [
  {},
  { climateRange: true, overall: true },
  { climateRange: true, byScope: true, budget: 0, overall: true },
];

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
      let largest = 0;
      let rowCount = 0;
      let flags = 0;
      let emptyCount = 0;
      for (let seed = 1; rowCount < ROW_COUNT; seed += BATCH) {
        const entities = Array.from({ length: BATCH }, (_, i) => randomOracleEntity(reference, rule, seed + i));
        const include = INCLUDES.map((asked) => ({
          ...asked,
          ...(asked.budget === 0 ? { budget: Math.floor(seed / BATCH) % 4 } : {}),
        }));
        const columns = columnsOfEntities(entities);
        const outcomes = include.map((asked) => computeAlignment(kernel, tables, columns, rule, asked));
        const compared = compareWithOracle(reference, entities, { rule, include, outcomes });
        largest = Math.max(largest, compared.largest);
        rowCount += compared.rowCount;
        flags |= compared.flags;
        emptyCount += compared.emptyCount;
      }
      console.info(`${rule.basis}: ${rowCount} entity-years, largest difference ${largest}`);
      expect(emptyCount).toBeGreaterThan(0);
      expect(namesOf(flags).split(" ")).toEqual(flagsThatCanBeRaised(rule));
    },
    TIMEOUT_MS,
  );
});
