import { Fault } from "../../errors.ts";
import { SCORE_BOUNDS } from "../../hazard/scoring/scoreRequest.ts";
import { parseNumber } from "../../validation/parameters.ts";
import { quote } from "../../validation/schemaErrors.ts";
import { isInLimits, LIMITS, numberIn } from "../readers/coordinates.ts";
import type { ScoreCells } from "./groupStatistics.ts";
import type { PlaceReader } from "./placeList.ts";
import {
  type GroupColumns,
  INVALID_ROW,
  KEY_COLUMNS,
  ROW_COLUMNS,
  scoreKeyOf,
  scoreKeyText,
  type ScoreLayout,
  statusIndex,
  SUMMARY_METRICS,
} from "./scoreColumns.ts";
import type { TableBatch } from "./scoreTable.ts";
import type { SummaryCollector } from "./summaryCollector.ts";

/** Kept columns that a summary reads; undefined for those that it does not. */
export interface PlaceColumnNames {
  readonly id: string | undefined;
  readonly latitude: string | undefined;
  readonly longitude: string | undefined;
  readonly groupBy: string | undefined;
  /** Columns that are shown with each listed place; none by default. */
  readonly shown?: readonly string[];
}

/** Positions of the columns of a group among the columns that are read. */
interface GroupPositions {
  readonly status: number;
  readonly metrics: readonly {
    readonly metricPosition: number;
    readonly column: number;
    /** -1 if the metric has no bounds. */
    readonly boundColumn: number;
  }[];
}

/** Reads the scores of batches of rows into a collector. */
export class ScoreRows {
  /** Names of the columns to read. */
  readonly columnNames: readonly string[];
  readonly #layout: ScoreLayout;
  readonly #collector: SummaryCollector;
  readonly #positions: Readonly<Record<"id" | "latitude" | "longitude" | "groupBy" | "status" | "error", number>>;
  readonly #shownPositions: readonly number[];
  readonly #keyPositions: readonly number[];
  /** Groups of the wide layout. */
  readonly #groups: readonly { readonly index: number; readonly positions: GroupPositions }[];
  readonly #longPositions: GroupPositions | undefined;
  /** Cells that name the groups of the long layout. */
  readonly #names: {
    readonly hazard: unknown;
    readonly scenario: unknown;
    readonly year: unknown;
    readonly group: number;
  }[] = [];
  /** Indexes of `#names` by hazard, scenario and year. */
  readonly #nameIndexes = new Map<string, number>();
  #lastName = -1;
  readonly #cells: ScoreCells = {
    status: 0,
    values: new Float64Array(SUMMARY_METRICS.length).fill(NaN),
    bounds: new Uint8Array(SUMMARY_METRICS.length),
  };
  #batch: TableBatch = { rowCount: 0, columns: [] };
  #rowsBefore = 0;
  readonly #placeReader: PlaceReader = {
    idOf: (row) => textOf(this.#cell(this.#positions.id, row)),
    latitudeOf: (row) => this.#coordinate(this.#positions.latitude, row, "latitude"),
    longitudeOf: (row) => this.#coordinate(this.#positions.longitude, row, "longitude"),
    shownOf: (row) => this.#shownPositions.map((position) => textOf(this.#cell(position, row))),
  };

  constructor(layout: ScoreLayout, places: PlaceColumnNames, collector: SummaryCollector) {
    this.#layout = layout;
    this.#collector = collector;
    const names: string[] = [];
    const positionOf = (name: string | undefined): number => {
      if (name === undefined) return -1;
      const known = names.indexOf(name);
      return known >= 0 ? known : names.push(name) - 1;
    };
    const groupPositions = ({ status, metrics, bounds }: GroupColumns): GroupPositions => ({
      status: positionOf(status),
      metrics: [...metrics].map(([metric, name]) => ({
        metricPosition: SUMMARY_METRICS.indexOf(metric),
        column: positionOf(name),
        boundColumn: positionOf(bounds.get(metric)),
      })),
    });
    this.#keyPositions = layout.kind === "long" ? KEY_COLUMNS.map(positionOf) : [];
    this.#longPositions = layout.kind === "long" ? groupPositions(layout.columns) : undefined;
    this.#groups =
      layout.kind === "long"
        ? []
        : layout.groups.map(({ key, columns }) => ({
            index: collector.addGroup(key, columns),
            positions: groupPositions(columns),
          }));
    this.#positions = {
      id: positionOf(places.id),
      latitude: positionOf(places.latitude),
      longitude: positionOf(places.longitude),
      groupBy: positionOf(places.groupBy),
      status: positionOf(ROW_COLUMNS.status),
      error: positionOf(ROW_COLUMNS.error),
    };
    this.#shownPositions = (places.shown ?? []).map(positionOf);
    this.columnNames = names;
  }

  /** @throws Fault `invalid_request` naming row and column of a cell that is not part of an output */
  add(batch: TableBatch): void {
    this.#batch = batch;
    for (let row = 0; row < batch.rowCount; row++) {
      const partValue = textOf(this.#cell(this.#positions.groupBy, row));
      if (this.#cell(this.#positions.status, row) === INVALID_ROW) {
        const error = textOf(this.#cell(this.#positions.error, row)) ?? "";
        const [id, shown] = [this.#placeReader.idOf(row), this.#placeReader.shownOf(row)];
        this.#collector.addInvalidRow({ id, shown, error }, partValue);
      } else if (this.#longPositions !== undefined) {
        this.#addScores(this.#longGroup(row), this.#longPositions, row, partValue);
      } else {
        for (const { index, positions } of this.#groups) this.#addScores(index, positions, row, partValue);
      }
    }
    this.#rowsBefore += batch.rowCount;
  }

  #addScores(group: number, positions: GroupPositions, row: number, partValue: string | null): void {
    const cells = this.#cells;
    cells.status = statusIndex(this.#cell(positions.status, row)) ?? this.#reject(positions.status, row, "a status");
    for (const { metricPosition, column, boundColumn } of positions.metrics) {
      cells.values[metricPosition] = this.#number(column, row);
      cells.bounds[metricPosition] = this.#bound(boundColumn, row);
    }
    this.#collector.addScores(group, cells, { reader: this.#placeReader, row, partValue });
  }

  /** Returns the index of the group that the row of a long table names. */
  #longGroup(row: number): number {
    const [hazardColumn = -1, scenarioColumn = -1, yearColumn = -1] = this.#keyPositions;
    const hazard = this.#cell(hazardColumn, row);
    const scenario = this.#cell(scenarioColumn, row);
    const year = this.#cell(yearColumn, row);
    // The groups usually have the same order in every place, so that no text has to be composed.
    this.#lastName = this.#lastName + 1 < this.#names.length ? this.#lastName + 1 : 0;
    const expected = this.#names[this.#lastName];
    if (
      expected !== undefined &&
      expected.hazard === hazard &&
      expected.scenario === scenario &&
      expected.year === year
    ) {
      return expected.group;
    }
    const text = `${String(hazard)}.${String(scenario)}.${String(year)}`;
    const known = this.#nameIndexes.get(text);
    if (known !== undefined) {
      this.#lastName = known;
      return this.#names[known]?.group ?? -1;
    }
    const key = scoreKeyOf(hazard, scenario, year);
    if (key === undefined || this.#layout.kind !== "long") {
      return this.#reject(hazardColumn, row, `part of a hazard, scenario and year (${quote(text)})`);
    }
    const sameGroup = this.#names[this.#nameIndexes.get(scoreKeyText(key)) ?? -1]?.group;
    const group = sameGroup ?? this.#collector.addGroup(key, this.#layout.columns);
    this.#lastName = this.#names.push({ hazard, scenario, year, group }) - 1;
    this.#nameIndexes.set(scoreKeyText(key), this.#lastName).set(text, this.#lastName);
    return group;
  }

  #cell(position: number, row: number): unknown {
    return position < 0 ? undefined : this.#batch.columns[position]?.[row];
  }

  /** Returns a number, or NaN if the cell is empty. */
  #number(position: number, row: number): number {
    const cell = this.#cell(position, row);
    if (cell === null || cell === undefined || cell === "") return NaN;
    const value = typeof cell === "string" ? parseNumber(cell) : typeof cell === "bigint" ? Number(cell) : cell;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    return this.#reject(position, row, "a number");
  }

  #bound(position: number, row: number): number {
    const cell = this.#cell(position, row);
    if (cell === null || cell === undefined || cell === "") return 0;
    const index = (SCORE_BOUNDS as readonly unknown[]).indexOf(cell);
    return index >= 0 ? index : this.#reject(position, row, `one of ${SCORE_BOUNDS.slice(1).join(", ")}`);
  }

  /** Returns a coordinate in degrees; NaN if the file has none. */
  #coordinate(position: number, row: number, kind: "latitude" | "longitude"): number {
    const cell = this.#cell(position, row);
    if (cell === null || cell === undefined || cell === "") return NaN;
    const degrees = numberIn(cell);
    if (isInLimits(kind, degrees)) return degrees;
    const limit = LIMITS[kind];
    const range = `between ${-limit} and ${limit} degrees`;
    return this.#reject(position, row, Number.isNaN(degrees) ? `a number ${range}` : range);
  }

  #reject(position: number, row: number, accepted: string): never {
    const column = this.columnNames[position] ?? "";
    const message = `Row ${this.#rowsBefore + row + 1}: ${column} must be ${accepted} (got ${quote(this.#cell(position, row))}).`;
    throw new Fault("invalid_request", message, { details: { row: this.#rowsBefore + row + 1, column } });
  }
}

function textOf(cell: unknown): string | null {
  if (cell === null || cell === undefined || cell === "") return null;
  if (typeof cell === "string") return cell;
  if (typeof cell === "number" || typeof cell === "bigint" || typeof cell === "boolean") return String(cell);
  return JSON.stringify(cell, (_, member: unknown) => (typeof member === "bigint" ? String(member) : member));
}
