import { type CsvCell, csvLine } from "../csvText.ts";
import { encodeJson } from "../host/http/json.ts";
import { ENTITY_COLUMN_NAMES } from "./entityCsv.ts";
import type { EntityFormat } from "./fileFormats.ts";
import type { AlignedYear, AlignmentResult, Entity } from "../contract/wireTypes.ts";

/** Entities of a file and their results. */
interface AlignedChunk {
  readonly entities: readonly Entity[];
  readonly results: readonly AlignmentResult[];
  /** CSV only: the cells of each projected year, entity by entity. */
  readonly rows?: readonly (readonly string[])[] | undefined;
}

/** Formats results as text: `head`, the output of each `write`, then `tail`. */
export interface AlignmentWriter {
  readonly head: string;
  write(chunk: AlignedChunk): string;
  readonly tail: string;
}

const VALUE_COLUMNS: Readonly<Record<string, (year: AlignedYear) => CsvCell>> = {
  temperature_alignment: ({ temperature_alignment }) => temperature_alignment,
  reason: ({ reason }) => reason,
};

const DETAIL_COLUMNS: Readonly<Record<string, (detail: NonNullable<AlignedYear["detail"]>) => CsvCell>> = {
  benchmark: ({ benchmark }) => benchmark,
  basis: ({ basis }) => basis,
  temperature_intensity: ({ temperature_intensity }) => temperature_intensity,
  temperature_emissions: ({ temperature_emissions }) => temperature_emissions,
  temperature_cumulative: ({ temperature_cumulative }) => temperature_cumulative,
  pathway: ({ pathway }) => pathway,
  matched_on: ({ matched }) => matched.on,
  matched_key: ({ matched }) => matched.key,
  growth_region: ({ growth_region }) => growth_region,
  growth_factor: ({ growth_factor }) => growth_factor,
  emissions_ratio: ({ emissions_ratio }) => emissions_ratio,
  emissions_ratio_q: ({ emissions_ratio_q }) => emissions_ratio_q,
  evaluated_year: ({ evaluated_year }) => evaluated_year,
  between_below: ({ between }) => between?.below,
  between_above: ({ between }) => between?.above,
  between_weight: ({ between }) => between?.weight,
  temperature_scope1: ({ temperature_by_scope }) => temperature_by_scope.scope1,
  temperature_scope2: ({ temperature_by_scope }) => temperature_by_scope.scope2,
  temperature_scope3: ({ temperature_by_scope }) => temperature_by_scope.scope3,
  flags: ({ flags }) => flags.join(";"),
};

/** Returns the names of the columns that a result adds. */
export function resultColumnNames(hasDetail: boolean): readonly string[] {
  return [...Object.keys(VALUE_COLUMNS), ...(hasDetail ? Object.keys(DETAIL_COLUMNS) : [])];
}

/**
 * Creates a writer for a format.
 * @param columnNames columns of CSV input, whose rows are copied to the output; if absent, rows are built from the entities
 */
export function alignmentWriter(
  format: EntityFormat,
  { columnNames, hasDetail }: { readonly columnNames?: readonly string[] | undefined; readonly hasDetail: boolean },
): AlignmentWriter {
  if (format === "json") return jsonWriter();
  if (format === "ndjson") {
    return { head: "", write: ({ results }) => results.map((result) => `${encodeJson(result)}\n`).join(""), tail: "" };
  }
  const head = csvLine([...(columnNames ?? ENTITY_COLUMN_NAMES), ...resultColumnNames(hasDetail)]);
  return { head, write: writeRows, tail: "" };
}

/** Writes a single document, the response format of the HTTP service. */
function jsonWriter(): AlignmentWriter {
  let isFirst = true;
  return {
    head: '{"results":[',
    write({ results }) {
      const text = results
        .map((result, index) => `${isFirst && index === 0 ? "" : ","}\n${encodeJson(result)}`)
        .join("");
      isFirst &&= results.length === 0;
      return text;
    },
    tail: "\n]}\n",
  };
}

function writeRows({ entities, results, rows }: AlignedChunk): string {
  let text = "";
  let row = 0;
  for (const [index, { data }] of results.entries()) {
    const entity = entities[index];
    if (entity === undefined) throw new Error(`Result ${index} has no entity.`);
    for (const [i, year] of data.entries()) {
      text += csvLine([...(rows?.[row++] ?? entityCells(entity, i)), ...resultCells(year)]);
    }
  }
  return text;
}

function resultCells(year: AlignedYear): readonly CsvCell[] {
  const { detail } = year;
  const values = Object.values(VALUE_COLUMNS).map((read) => read(year));
  return detail === undefined ? values : [...values, ...Object.values(DETAIL_COLUMNS).map((read) => read(detail))];
}

/** Returns the cells of a projected year in the order of `ENTITY_COLUMN_NAMES`. */
function entityCells({ entity_info, data, projected_emissions }: Entity, projection: number): readonly CsvCell[] {
  const [baseline] = data;
  const projected = projected_emissions[projection];
  const { scope1, scope2, scope3 } = baseline?.emissions ?? {};
  const cells: Readonly<Record<(typeof ENTITY_COLUMN_NAMES)[number], CsvCell>> = {
    identifier: entity_info.identifier,
    name: entity_info.name,
    asset_type: entity_info.asset_type,
    country: entity_info.country,
    industry_classification_system: entity_info.industry_classification_system,
    industry: entity_info.industry,
    sector: entity_info.sector,
    baseline_year: baseline?.year,
    baseline_scope1: scope1,
    baseline_scope2: scope2,
    baseline_scope3: scope3,
    baseline_revenue: baseline?.financials?.revenue,
    baseline_ebitda: baseline?.financials?.ebitda,
    year: projected?.year,
    scope1: projected?.emissions.scope1,
    scope2: projected?.emissions.scope2,
    scope3: projected?.emissions.scope3,
  };
  return ENTITY_COLUMN_NAMES.map((name) => cells[name]);
}
