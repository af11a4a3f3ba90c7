import { type EntityColumns, PATHWAY_INDEX } from "../kernel/alignmentColumns.ts";
import type { EntityClassification } from "./classification.ts";
import { countProjections } from "./entity.ts";
import type { Entity } from "../contract/wireTypes.ts";
import { CONSUMER_PRICE_ROWS } from "./data/consumerPrices.generated.ts";
import { LISTED_INDUSTRIES } from "../reference/industries.ts";
import { foldAsciiName } from "../reference/names.ts";

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

/** Currency of the industry intensities that convergence compares with. */
const CURRENCY = "USD";

/**
 * Returns the revenue of the baseline year in million USD of 2022; NaN if it is missing or not positive, or if its
 * currency is not USD or its price year is not given. Other currencies are not converted, because the package contains no
 * exchange rates.
 */
function revenueMUSDOf(financials: Entity["data"][number]["financials"]): number {
  const { revenue = NaN, currency, price_year = NaN } = financials ?? {};
  return currency === CURRENCY && revenue > 0 ? convergenceRevenueMUSD2022(revenue, price_year) : NaN;
}

/** Year of the prices of the industry intensities that convergence compares with. */
const REFERENCE_PRICE_YEAR = 2022;

const priceIndexByYear = new Map(CONSUMER_PRICE_ROWS.map((row) => [row.year, row.us_cpi_u_annual_average]));
export const PRICE_YEAR_MIN = Math.min(...priceIndexByYear.keys());
export const PRICE_YEAR_MAX = Math.max(...priceIndexByYear.keys());

/**
 * Converts a revenue in USD of `priceYear` to million USD of 2022, by US consumer prices (annual averages, all items).
 *
 * @returns NaN, which `alignColumns` treats as unusable, outside PRICE_YEAR_MIN to PRICE_YEAR_MAX
 */
export function convergenceRevenueMUSD2022(revenueUSD: number, priceYear: number): number {
  const priceIndex = (year: number): number => priceIndexByYear.get(year) ?? NaN;
  return (revenueUSD / 1e6) * (priceIndex(REFERENCE_PRICE_YEAR) / priceIndex(priceYear));
}

/** Emissions of an industry per unit of revenue, t CO2e per million USD of 2022. */
interface IndustryIntensity {
  readonly scope1TCO2ePerMUSD: number;
  readonly scope2TCO2ePerMUSD: number;
  /** Upstream and downstream. */
  readonly scope3TCO2ePerMUSD: number;
}

/** By folded name and alias; of several equal ones the first counts. */
const INTENSITIES = new Map<string, IndustryIntensity>();
for (const { names, intensity } of LISTED_INDUSTRIES) {
  const { scope1, scope2, scope3Upstream, scope3Downstream } = intensity;
  for (const key of names.map(foldAsciiName)) {
    if (key === "" || INTENSITIES.has(key)) continue;
    INTENSITIES.set(key, {
      scope1TCO2ePerMUSD: scope1,
      scope2TCO2ePerMUSD: scope2,
      scope3TCO2ePerMUSD: scope3Upstream + scope3Downstream,
    });
  }
}

/**
 * Returns the intensity of an entity's industry or, if that is not in the list, of its sector. Only the names and aliases
 * of the list count, not the words that select a pathway, because an intensity belongs to one industry.
 */
export function intensityOfIndustry(
  industry: string | undefined,
  sector: string | undefined,
): IndustryIntensity | undefined {
  return intensityOf(industry) ?? intensityOf(sector);
}

function intensityOf(text: string | undefined): IndustryIntensity | undefined {
  return text === undefined ? undefined : INTENSITIES.get(foldAsciiName(text));
}
