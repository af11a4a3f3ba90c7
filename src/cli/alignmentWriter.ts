import { type CsvCell, csvLine } from "../text/csv.ts";
import { encodeJson } from "../text/json/json.ts";
import { ENTITY_COLUMN_NAMES } from "./entityCsv.ts";
import type { EntityFormat } from "./fileFormats.ts";
import { type ResultCells, resultCells, type ResultColumns } from "./alignmentColumns.ts";
import type { AlignmentAnswer, AlignmentResult, Entity } from "../contract/wireTypes.ts";

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

/**
 * Creates a writer for a format.
 * @param columnNames columns of CSV input, whose rows are copied to the output; if absent, rows are built from the entities
 */
export function alignmentWriter(
  format: EntityFormat,
  {
    columnNames,
    columns,
    versions,
  }: {
    readonly columnNames?: readonly string[] | undefined;
    readonly columns: ResultColumns;
    readonly versions: Omit<AlignmentAnswer, "results">;
  },
): AlignmentWriter {
  if (format === "json") return jsonWriter(versions);
  if (format === "ndjson") {
    return { head: "", write: ({ results }) => results.map((result) => `${encodeJson(result)}\n`).join(""), tail: "" };
  }
  const cells = resultCells(columns);
  const head = csvLine([...(columnNames ?? ENTITY_COLUMN_NAMES), ...cells.names]);
  return { head, write: (chunk) => rowsText(chunk, cells), tail: "" };
}

/** Writes a single document, the response format of the HTTP service. */
function jsonWriter(versions: Omit<AlignmentAnswer, "results">): AlignmentWriter {
  let isFirst = true;
  return {
    head: `${encodeJson(versions).slice(0, -1)},"results":[`,
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

function rowsText({ entities, results, rows }: AlignedChunk, { cellsOf }: ResultCells): string {
  let text = "";
  let row = 0;
  for (const [index, result] of results.entries()) {
    const entity = entities[index];
    if (entity === undefined) throw new Error(`Result ${index} has no entity.`);
    for (const [i, cells] of cellsOf(result).entries()) {
      text += csvLine([...(rows?.[row++] ?? entityCells(entity, i)), ...cells]);
    }
  }
  return text;
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
    currency: baseline?.financials?.currency,
    price_year: baseline?.financials?.price_year,
    year: projected?.year,
    scope1: projected?.emissions.scope1,
    scope2: projected?.emissions.scope2,
    scope3: projected?.emissions.scope3,
    revenue: projected?.financials?.revenue,
    label: projected?.label,
    probability: projected?.probability,
  };
  return ENTITY_COLUMN_NAMES.map((name) => cells[name]);
}
