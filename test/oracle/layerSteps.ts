/** Reference implementation of curveSteps: one cell and one layer at a time, from the definition of the curve. */
import { curveByDefinition, type OracleRule } from "./curve.ts";

type OracleLayer = { readonly stepsPerUnit: number; readonly offset: number } & (
  | { readonly kind: "design" }
  | { readonly kind: "probability" }
  | { readonly kind: "design-share"; readonly reference: number }
  | { readonly kind: "product"; readonly factors: readonly [number, number] }
);

const NODATA = 65_535;

export function stepsByDefinition(
  maps: readonly ArrayLike<number>[],
  rule: OracleRule,
  {
    layers,
    counted,
    flags,
  }: { readonly layers: readonly OracleLayer[]; readonly counted: number; readonly flags: ArrayLike<number> },
) {
  const steps: number[] = [];
  const worst = layers.map(() => 0);
  const counts = { nodata: 0, zero: 0, flagged: [0, 0, 0, 0] };
  for (let cell = 0; cell < flags.length; cell++) {
    const raw = maps.map((map) => map[cell] ?? NaN);
    const curve = curveByDefinition(raw, rule);
    const values: number[] = [];
    const ofCell: number[] = [];
    for (const [index, layer] of layers.entries()) {
      let exact: number;
      if (layer.kind === "product") {
        const [first, second] = layer.factors;
        values.push((values[first] ?? NaN) * (values[second] ?? NaN));
        exact =
          (((ofCell[first] ?? NaN) / (layers[first]?.stepsPerUnit ?? NaN)) * (ofCell[second] ?? NaN)) /
          (layers[second]?.stepsPerUnit ?? NaN);
      } else {
        values.push(
          layer.kind === "probability"
            ? curve.probability
            : layer.kind === "design"
              ? curve.design
              : Math.min(1, curve.design / layer.reference),
        );
        exact = values[index] ?? NaN;
      }
      if (Number.isNaN(values[index])) {
        ofCell.push(NODATA);
        continue;
      }
      // The last bits of the two implementations differ, which matters only halfway between two steps.
      const step = Math.round(Number(((exact - layer.offset) * layer.stepsPerUnit).toPrecision(12)));
      ofCell.push(step);
      worst[index] = Math.max(
        worst[index] ?? 0,
        Math.abs(step / layer.stepsPerUnit + layer.offset - (values[index] ?? NaN)),
      );
    }
    steps.push(...ofCell);
    if (ofCell[counted] === NODATA) counts.nodata++;
    if (ofCell[counted] === 0) counts.zero++;
    for (const [bit, isSet] of flagsByDefinition(raw, rule, flags[cell] ?? 0).entries()) {
      counts.flagged[bit] = (counts.flagged[bit] ?? 0) + (isSet ? 1 : 0);
    }
  }
  return { steps, worst, counts };
}

/** Returns whether a cell was clamped, is partly missing, reaches the threshold on the first map, and falls. */
function flagsByDefinition(raw: readonly number[], rule: OracleRule, flags: number): readonly boolean[] {
  const missingCount = raw.filter((value) => Number.isNaN(value)).length;
  const falls = raw.some((value, map) => raw.slice(0, map).some((before) => before > value));
  return [
    flags % 2 === 1,
    missingCount > 0 && missingCount < raw.length,
    missingCount === 0 && (raw[0] ?? NaN) * rule.unitFactor >= rule.threshold,
    missingCount === 0 && falls,
  ];
}
