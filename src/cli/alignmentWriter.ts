/** Writes the results of `isotherm align`; in CSV, as columns that are added to those of the file. */
import { type CsvCell, csvLine } from "../text/csv.ts";
import { encodeJson } from "../text/json/json.ts";
import { ENTITY_COLUMN_NAMES } from "./entityCsv.ts";
import type { EntityFormat } from "./fileIo.ts";
import type {
  AlignedYear,
  AlignmentAnswer,
  AlignmentInclude,
  AlignmentResult,
  BlendedYear,
  Entity,
} from "../contract/wireTypes.ts";

/** Entities of a file and their results. */
interface AlignedChunk {
  readonly entities: readonly Entity[];
  readonly results: readonly AlignmentResult[];
  /** CSV only: the cells of each projected year, entity by entity. */
  readonly rows?: readonly (readonly string[])[] | undefined;
}

/** Formats results as text: `head`, the output of each `write`, then `tail`. */
interface AlignmentWriter {
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

/** What determines the columns of a file. */
interface ResultColumns {
  readonly include: readonly AlignmentInclude[];
  readonly hasDetail: boolean;
  /** Whether the records can have labels. */
  readonly hasLabels: boolean;
}

/** A row of the output: a projection record and the result of its entity. */
interface ResultRow {
  readonly result: AlignmentResult;
  readonly year: AlignedYear;
  /** The mean over the labels in the same year. */
  readonly blended: BlendedYear | undefined;
}

type Columns = Readonly<Record<string, (row: ResultRow) => CsvCell>>;

const VALUE_COLUMNS: Columns = {
  temperature_alignment: ({ year }) => year.temperature_alignment,
  reason: ({ year }) => year.reason,
  range_low: ({ year }) => year.range?.low,
  range_high: ({ year }) => year.range?.high,
  coverage: ({ year }) => year.coverage,
  flags: ({ result, year }) => [...(result.flags ?? []), ...(year.flags ?? [])].join(";"),
  did_you_mean: ({ result }) =>
    Object.entries(result.did_you_mean ?? {})
      .map(([member, name]) => `${member}=${name}`)
      .join(";"),
};

const LABEL_COLUMNS: Columns = {
  blended: ({ blended }) => blended?.temperature_alignment,
  blended_range_low: ({ blended }) => blended?.range.low,
  blended_range_high: ({ blended }) => blended?.range.high,
};

const INCLUDED_COLUMNS: Readonly<Record<AlignmentInclude, Columns>> = {
  climate_range: {
    climate_range_low: ({ year }) => year.climate_range?.low,
    climate_range_high: ({ year }) => year.climate_range?.high,
  },
  by_scope: {
    by_scope_s1s2: ({ year }) => year.by_scope?.s1s2,
    by_scope_s3: ({ year }) => year.by_scope?.s3,
  },
  budget: {
    budget_scenario: ({ year }) => year.budget?.scenario,
    budget_allowed: ({ year }) => year.budget?.allowed,
    budget_projected: ({ year }) => year.budget?.projected,
    budget_overshoot: ({ year }) => year.budget?.overshoot,
    budget_overshoot_pct: ({ year }) => year.budget?.overshoot_pct,
  },
  overall: {
    overall: ({ result }) => result.overall?.temperature_alignment,
    overall_range_low: ({ result }) => result.overall?.range.low,
    overall_range_high: ({ result }) => result.overall?.range.high,
    overall_years: ({ result }) => result.overall?.years,
  },
};

const DETAIL_COLUMNS: Columns = {
  method: ({ year }) => year.detail?.method,
  benchmark: ({ year }) => year.detail?.benchmark,
  basis: ({ year }) => year.detail?.basis,
  temperature_intensity: ({ year }) => year.detail?.temperature_intensity,
  temperature_emissions: ({ year }) => year.detail?.temperature_emissions,
  temperature_cumulative: ({ year }) => year.detail?.temperature_cumulative,
  pathway: ({ year }) => year.detail?.pathway,
  matched_on: ({ year }) => year.detail?.matched.on,
  matched_key: ({ year }) => year.detail?.matched.key,
  growth_source: ({ year }) => year.detail?.growth.source,
  growth_region: ({ year }) => year.detail?.growth_region,
  growth_factor: ({ year }) => year.detail?.growth_factor,
  emissions_ratio: ({ year }) => year.detail?.emissions_ratio,
  emissions_ratio_q: ({ year }) => year.detail?.emissions_ratio_q,
  evaluated_year: ({ year }) => year.detail?.evaluated_year,
  between_below: ({ year }) => year.detail?.between?.below,
  between_above: ({ year }) => year.detail?.between?.above,
  between_weight: ({ year }) => year.detail?.between?.weight,
  temperature_scope1: ({ year }) => year.detail?.temperature_by_scope.scope1,
  temperature_scope2: ({ year }) => year.detail?.temperature_by_scope.scope2,
  temperature_scope3: ({ year }) => year.detail?.temperature_by_scope.scope3,
};

function columnsOf({ include, hasDetail, hasLabels }: ResultColumns): Columns {
  const members = Object.keys(INCLUDED_COLUMNS) as AlignmentInclude[];
  const included = members.filter((member) => hasDetail || include.includes(member));
  return Object.assign(
    {},
    VALUE_COLUMNS,
    hasLabels ? LABEL_COLUMNS : {},
    ...included.map((member) => INCLUDED_COLUMNS[member]),
    hasDetail ? DETAIL_COLUMNS : {},
  ) as Columns;
}

/** The columns that results add to a file. */
interface ResultCells {
  readonly names: readonly string[];
  /** Returns the cells of each projection record of a result. */
  cellsOf(result: AlignmentResult): readonly (readonly CsvCell[])[];
}

export function resultCells(columns: ResultColumns): ResultCells {
  const readers = columnsOf(columns);
  const readCells = Object.values(readers);
  return {
    names: Object.keys(readers),
    cellsOf(result) {
      const blendedByYear = new Map(result.blended?.map((blended) => [blended.year, blended]));
      return result.data.map((year) => {
        const row = { result, year, blended: blendedByYear.get(year.year) };
        return readCells.map((read) => read(row));
      });
    },
  };
}
