/** Compares the alignment kernel with the reference implementation over many random and extreme entity-years. */
import { expect, test } from "vitest";
import { tabulateByYear } from "../../src/alignment/benchmark.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { type AlignmentRule, computeAlignment } from "../../src/kernel/alignment.ts";
import { makeAlignmentTables } from "../../src/kernel/alignmentTables.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { compareWithOracle, INCLUDES, namesOf, RULES } from "./alignmentComparison.ts";
import { columnsOfEntities, oracleReference, randomOracleEntity } from "./alignmentOracle.ts";

const kernel = await Kernel.load();
const tables = makeAlignmentTables(tabulateByYear(NGFS_PHASE5));
const reference = oracleReference();

/** Entity-years over all rules. */
const ROW_COUNT = Number(process.env["ISOTHERM_ALIGNMENT_ROWS"] ?? 28_000);
const ROWS_PER_RULE = ROW_COUNT / RULES.length;
const BATCH = 500;
/** The reference implementation needs many minutes for a million entity-years. */
const TIMEOUT_MS = Math.max(60_000, ROWS_PER_RULE * 10);
const GROWTH_FLAGS = new Set(["growth_default", "growth_region", "growth_limited", "growth_driven"]);

test.each(RULES)(
  "matches the reference implementation: $basis, scope 3 x $scope3Weight, gamma $gamma",
  (rule) => {
    const total = { largest: 0, rowCount: 0, flags: 0, emptyCount: 0 };
    for (let seed = 1; total.rowCount < ROWS_PER_RULE; seed += BATCH) {
      const entities = Array.from({ length: BATCH }, (_, i) => randomOracleEntity(reference, rule, seed + i));
      const budget = Math.floor(seed / BATCH) % 4;
      const include = INCLUDES.map((callInclude) =>
        callInclude.budget === undefined ? callInclude : { ...callInclude, budget },
      );
      const columns = columnsOfEntities(entities);
      const outcomes = include.map((callInclude) => computeAlignment(kernel, tables, columns, rule, callInclude));
      const compared = compareWithOracle(reference, entities, { rule, include, outcomes });
      total.largest = Math.max(total.largest, compared.largest);
      total.rowCount += compared.rowCount;
      total.flags |= compared.flags;
      total.emptyCount += compared.emptyCount;
    }
    console.info(`${JSON.stringify(rule)}: ${total.rowCount} entity-years, largest difference ${total.largest}`);
    expect(total.emptyCount).toBeGreaterThan(0);
    expect(namesOf(total.flags).split(" ")).toEqual(flagsThatCanBeRaised(rule));
  },
  TIMEOUT_MS,
);

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
