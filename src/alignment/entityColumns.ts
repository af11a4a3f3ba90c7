import { type EntityColumns, PATHWAY_INDEX } from "../kernel/alignmentColumns.ts";
import type { EntityClassification } from "./classification.ts";
import { revenueMUSDOf } from "./convergence.ts";
import { countProjections } from "./entity.ts";
import { intensityOfIndustry } from "./industryIntensities.ts";
import type { Entity } from "../contract/wireTypes.ts";

/**
 * Converts validated entities to the columns of the kernel; NaN for values that are not given. Columns that only some
 * requests need are absent from the others.
 */
export function entityColumnsOf(
  entities: readonly Entity[],
  classifications: readonly EntityClassification[],
  { hasConvergence }: { readonly hasConvergence: boolean },
): EntityColumns {
  const entityCount = entities.length;
  const rowCount = countProjections(entities);
  const perEntity = (): Float64Array => new Float64Array(entityCount).fill(NaN);
  const perRow = (): Float64Array => new Float64Array(rowCount).fill(NaN);
  const columns = {
    baselineYears: new Int32Array(entityCount),
    pathways: Uint8Array.from(classifications, ({ match }) => PATHWAY_INDEX[match.pathway]),
    growthSeries: Uint8Array.from(classifications, ({ growthSeries }) => growthSeries),
    baselineScope1: perEntity(),
    baselineScope2: perEntity(),
    baselineScope3: perEntity(),
    starts: new Uint32Array(entityCount + 1),
    years: new Int32Array(rowCount),
    scope1: perRow(),
    scope2: perRow(),
    scope3: perRow(),
  };
  let row = 0;
  let hasLabels = false;
  let hasRevenues = false;
  for (let index = 0; index < entityCount; index++) {
    const { data, projected_emissions: records } = entities[index] as Entity;
    const [baseline] = data;
    if (baseline === undefined) throw new Error(`Entity ${index} has no baseline.`);
    columns.baselineYears[index] = baseline.year;
    columns.baselineScope1[index] = baseline.emissions.scope1 ?? NaN;
    columns.baselineScope2[index] = baseline.emissions.scope2 ?? NaN;
    columns.baselineScope3[index] = baseline.emissions.scope3 ?? NaN;
    for (let i = 0; i < records.length; i++) {
      const { year, emissions, financials, label } = records[i] as Entity["projected_emissions"][number];
      columns.years[row] = year;
      columns.scope1[row] = emissions.scope1 ?? NaN;
      columns.scope2[row] = emissions.scope2 ?? NaN;
      columns.scope3[row] = emissions.scope3 ?? NaN;
      hasLabels ||= label !== undefined;
      hasRevenues ||= financials?.revenue !== undefined;
      row++;
    }
    columns.starts[index + 1] = row;
  }
  return {
    ...columns,
    ...(hasLabels ? { labels: labelColumn(entities, rowCount) } : {}),
    ...(hasRevenues ? revenueColumns(entities, rowCount) : {}),
    ...(hasConvergence ? convergenceColumns(entities) : {}),
  };
}

/** Returns the index of each record's label within its entity; 0 without labels. */
function labelColumn(entities: readonly Entity[], rowCount: number): Uint16Array {
  const labels = new Uint16Array(rowCount);
  let row = 0;
  for (const { projected_emissions: records } of entities) {
    const indices = new Map<string | undefined, number>();
    for (const { label } of records) {
      const index = indices.get(label) ?? indices.size;
      indices.set(label, index);
      labels[row++] = index;
    }
  }
  return labels;
}

/** Returns the revenues that growth is computed from, in the currency of the request. */
function revenueColumns(
  entities: readonly Entity[],
  rowCount: number,
): Required<Pick<EntityColumns, "baselineRevenues" | "projectedRevenues">> {
  const projectedRevenues = new Float64Array(rowCount);
  let row = 0;
  for (const { projected_emissions: records } of entities) {
    for (const { financials } of records) projectedRevenues[row++] = financials?.revenue ?? NaN;
  }
  return { baselineRevenues: Float64Array.from(entities, baselineRevenueOf), projectedRevenues };
}

function baselineRevenueOf({ data: [baseline] }: Entity): number {
  return baseline?.financials?.revenue ?? NaN;
}

/** Returns the revenues and industry intensities for convergence; NaN where it does not apply. */
function convergenceColumns(
  entities: readonly Entity[],
): Required<Pick<EntityColumns, "convergenceRevenues" | "references">> {
  const references = entities.map(({ entity_info: { industry, sector } }) => intensityOfIndustry(industry, sector));
  return {
    convergenceRevenues: Float64Array.from(entities, ({ data }) => revenueMUSDOf(data[0]?.financials)),
    references: {
      scope1: Float64Array.from(references, (reference) => reference?.scope1TCO2ePerMUSD ?? NaN),
      scope2: Float64Array.from(references, (reference) => reference?.scope2TCO2ePerMUSD ?? NaN),
      scope3: Float64Array.from(references, (reference) => reference?.scope3TCO2ePerMUSD ?? NaN),
    },
  };
}
