import type { AlignedYear, AlignmentResult } from "../alignment/answer.ts";
import type { Entity } from "../alignment/entity.ts";
import { type CsvCell, csvLine } from "../csvText.ts";
import { encodeJson } from "../host/http/json.ts";
import { ENTITY_COLUMN_NAMES } from "./entityCsv.ts";
import type { EntityFormat } from "./fileFormats.ts";

/** An answered part of a file. */
export interface AnsweredChunk {
  readonly entities: readonly Entity[];
  readonly results: readonly AlignmentResult[];
  /** Of CSV: the cells of each projected year, entity by entity. */
  readonly rows?: readonly (readonly string[])[] | undefined;
}

/** Writes answers as text: what stands before them, between them and after them. */
export interface AlignmentWriter {
  readonly head: string;
  write(chunk: AnsweredChunk): string;
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

/** The columns that an answer adds. */
export function answerColumnNames(hasDetail: boolean): readonly string[] {
  return [...Object.keys(VALUE_COLUMNS), ...(hasDetail ? Object.keys(DETAIL_COLUMNS) : [])];
}

/**
 * @param columnNames of the CSV that the entities come from, whose rows go through; without them a row is made from
 *   what JSON said
 */
export function alignmentWriter(
  format: EntityFormat,
  { columnNames, hasDetail }: { readonly columnNames?: readonly string[] | undefined; readonly hasDetail: boolean },
): AlignmentWriter {
  if (format === "json") return jsonWriter();
  if (format === "ndjson") {
    return { head: "", write: ({ results }) => results.map((result) => `${encodeJson(result)}\n`).join(""), tail: "" };
  }
  const head = csvLine([...(columnNames ?? ENTITY_COLUMN_NAMES), ...answerColumnNames(hasDetail)]);
  return { head, write: writeRows, tail: "" };
}

/** One document, as the HTTP service answers. */
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

function writeRows({ entities, results, rows }: AnsweredChunk): string {
  let text = "";
  let row = 0;
  for (const [index, { data }] of results.entries()) {
    const entity = entities[index];
    if (entity === undefined) throw new Error(`Result ${index} is of no entity.`);
    for (const [i, year] of data.entries()) {
      text += csvLine([...(rows?.[row++] ?? cellsOf(entity, i)), ...answerOf(year)]);
    }
  }
  return text;
}

function answerOf(year: AlignedYear): readonly CsvCell[] {
  const { detail } = year;
  const values = Object.values(VALUE_COLUMNS).map((read) => read(year));
  return detail === undefined ? values : [...values, ...Object.values(DETAIL_COLUMNS).map((read) => read(detail))];
}

/** A row in the columns of `ENTITY_COLUMN_NAMES`. */
function cellsOf({ entity_info, data, projected_emissions }: Entity, projection: number): readonly CsvCell[] {
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
