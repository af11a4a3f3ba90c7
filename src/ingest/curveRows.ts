/** Computes the layers of return-period curves of one model. */
import type { MetricSpec, HazardRules } from "../hazard/hazards.ts";
import { type CurveLayer, type CurveRule, curveSteps } from "../kernel/curve.ts";
import type { Kernel } from "../kernel/instance.ts";
import { checkedValues, type UnstorableValue, type ValueRange } from "./badValues.ts";
import { type CellCounts, zeroCounts } from "./cellCounts.ts";
import { type CurveCells, inOneUnit } from "./curve.ts";
import type { LargestRounding } from "./metricSteps.ts";

/** Cells passed to the kernel at a time; with their curves, they fit in the processor's cache. */
const KERNEL_CELLS = 16_384;

/** The layers of a group of curves, and how they are computed. */
export interface CurveLayers {
  readonly specs: readonly MetricSpec[];
  /** Index of the hazard's own metric. */
  readonly own: number;
  readonly rules: HazardRules;
}

export type CurveRows =
  | {
      readonly kind: "rows";
      /** u16[cells][layers] */
      readonly steps: Uint16Array;
      /** Counts of the cells of each run. */
      readonly counts: readonly CellCounts[];
      readonly worst: LargestRounding;
    }
  | ({ readonly kind: "out-of-range" } & UnstorableValue);

/**
 * Computes the layers of cells.
 * @param cellEnds ends of the runs of cells to count
 * @throws BadValueError for a value of a map that is rejected
 */
export function curveRows(
  kernel: Kernel,
  cells: CurveCells,
  {
    layers,
    rule,
    clampTolerance,
    cellEnds,
  }: {
    readonly layers: CurveLayers;
    readonly rule: Omit<CurveRule, "unitFactor">;
    readonly clampTolerance: ValueRange["clampTolerance"];
    readonly cellEnds: readonly number[];
  },
): CurveRows {
  const layerCount = layers.specs.length;
  const steps = new Uint16Array((cells.maps[0]?.length ?? 0) * layerCount);
  const target = { layers: curveLayersOf(layers), counted: layers.own };
  const worst = new Float64Array(layerCount);
  const counts: CellCounts[] = [];
  let first = 0;
  for (const runEnd of cellEnds) {
    const total = zeroCounts();
    while (first < runEnd) {
      const end = Math.min(runEnd, first + KERNEL_CELLS);
      const batch = { ...cells, maps: cells.maps.map((values) => values.subarray(first, end)) };
      const { maps, unitFactor } = inOneUnit(batch);
      const ofBatch = { ...target, steps: steps.subarray(first * layerCount, end * layerCount), flags: undefined };
      let outcome = curveSteps(kernel, maps, { ...rule, unitFactor }, ofBatch);
      if (outcome.kind === "bad-value") {
        const flags = new Uint8Array(end - first);
        const checked = checkedMaps(batch, { clampTolerance, flags });
        outcome = curveSteps(kernel, inOneUnit(checked).maps, { ...rule, unitFactor }, { ...ofBatch, flags });
      }
      if (outcome.kind === "bad-value") throw new Error("A negative or very large value passed the range check.");
      if (outcome.kind === "out-of-range") {
        const { layer, cell, value } = outcome;
        return { kind: "out-of-range", layer: layers.specs[layer], cell: first + cell, value };
      }
      const { nodata, zero, flagged } = outcome.counts;
      const [clampedNegative = 0, partlyMissing = 0, reachedAtFirst = 0, raised = 0] = flagged;
      total.valid += end - first - nodata;
      total.nodata += nodata;
      total.zero += zero;
      total.clampedNegative += clampedNegative;
      total.partlyMissing += partlyMissing;
      total.reachedAtFirst += reachedAtFirst;
      total.raised += raised;
      for (const [layer, error] of outcome.worst.entries()) worst[layer] = Math.max(worst[layer] ?? 0, error);
      first = end;
    }
    counts.push(total);
  }
  const worstOfMetrics = Object.fromEntries(layers.specs.map(({ metric }, layer) => [metric, worst[layer] ?? 0]));
  return { kind: "rows", steps, counts, worst: worstOfMetrics };
}

/** Sets small negative values to 0. @throws BadValueError for a value that is rejected */
function checkedMaps(
  { maps, unitFactors }: CurveCells,
  { clampTolerance, flags }: Pick<ValueRange, "clampTolerance"> & { readonly flags: Uint8Array },
): CurveCells {
  const checked = maps.map((values, map) =>
    checkedValues(values, flags, { unitFactor: unitFactors[map] ?? 1, clampTolerance, max: Number.MAX_VALUE }),
  );
  return { maps: checked, unitFactors };
}

function curveLayersOf({ specs, own, rules }: CurveLayers): readonly CurveLayer[] {
  const indexOf = (name: string): number => specs.findIndex(({ metric }) => metric === name);
  return specs.map(({ metric, stepsPerUnit, offset }, index): CurveLayer => {
    if (index === own) return { kind: "design", stepsPerUnit, offset };
    if (metric === "probability") return { kind: "probability", stepsPerUnit, offset };
    if (metric === "intensity")
      return { kind: "design-share", reference: rules.intensity_reference, stepsPerUnit, offset };
    return { kind: "product", factors: [indexOf("intensity"), indexOf("probability")], stepsPerUnit, offset };
  });
}
