import { type EntityColumns, PATHWAY_INDEX } from "../kernel/alignmentColumns.ts";
import type { EntityClassification } from "./classification.ts";
import { countProjections } from "./entity.ts";
import { intensityOfIndustry } from "./industryIntensities.ts";
import type { Entity } from "../contract/wireTypes.ts";

/** Converts checked entities to the columns of the kernel; NaN for values that are not given. */
export function entityColumnsOf(
  entities: readonly Entity[],
  classifications: readonly EntityClassification[],
): EntityColumns {
  const entityCount = entities.length;
  const rowCount = countProjections(entities);
  const perEntity = (): Float64Array => new Float64Array(entityCount).fill(NaN);
  const perRow = (): Float64Array => new Float64Array(rowCount).fill(NaN);
  const columns = {
    baselineYears: new Int32Array(entityCount),
    pathways: Uint8Array.from(classifications, ({ match }) => PATHWAY_INDEX[match.pathway]),
    regions: Uint8Array.from(classifications, ({ region }) => region),
    baselineScope1: perEntity(),
    baselineScope2: perEntity(),
    baselineScope3: perEntity(),
    starts: new Uint32Array(entityCount + 1),
    years: new Int32Array(rowCount),
    scope1: perRow(),
    scope2: perRow(),
    scope3: perRow(),
    revenues: perEntity(),
    references: { scope1: perEntity(), scope2: perEntity(), scope3: perEntity() },
  };
  let row = 0;
  for (const [index, { entity_info, data, projected_emissions }] of entities.entries()) {
    const [baseline] = data;
    if (baseline === undefined) throw new Error(`Entity ${index} has no baseline.`);
    const { emissions, financials } = baseline;
    columns.baselineYears[index] = baseline.year;
    columns.baselineScope1[index] = emissions.scope1 ?? NaN;
    columns.baselineScope2[index] = emissions.scope2 ?? NaN;
    columns.baselineScope3[index] = emissions.scope3 ?? NaN;
    columns.revenues[index] = financials?.revenue ?? NaN;
    const reference = entity_info.industry === undefined ? undefined : intensityOfIndustry(entity_info.industry);
    if (reference !== undefined) {
      columns.references.scope1[index] = reference.scope1TCO2ePerMUSD;
      columns.references.scope2[index] = reference.scope2TCO2ePerMUSD;
      columns.references.scope3[index] = reference.scope3TCO2ePerMUSD;
    }
    for (const { year, emissions: projected } of projected_emissions) {
      columns.years[row] = year;
      columns.scope1[row] = projected.scope1 ?? NaN;
      columns.scope2[row] = projected.scope2 ?? NaN;
      columns.scope3[row] = projected.scope3 ?? NaN;
      row++;
    }
    columns.starts[index + 1] = row;
  }
  return columns;
}
