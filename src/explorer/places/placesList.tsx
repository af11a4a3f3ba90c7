import "../place/place.css";
import "./places.css";
import { batch, useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { colorOf, colorScaleOf } from "../../tiles/colorScales.ts";
import { useExplorer } from "../context.ts";
import { formatCount } from "../format.ts";
import { returnPeriodOf } from "../map/layerChoice.ts";
import { placesBeyondMapText } from "../map/mapOverlay.ts";
import { placePosition } from "../state.ts";
import { FailureNotice } from "../failureNotice.tsx";
import { valueText } from "../place/placeQuery.ts";
import { useRadiusInput } from "../useNumberInput.ts";
import { formulaCount, listCsv } from "./listCsv.ts";
import {
  type ListColumn,
  listColumns,
  type ListQuery,
  type ListScores,
  PAGE_SIZE,
  type RowScore,
  sortRows,
} from "./scoreList.ts";
import { ListInput } from "./listInput.tsx";
import { downloadOffer, type ListModel, mapPosition, progressText, queryText } from "./listModel.ts";
import type { ListRow, PlaceList } from "./placeList.ts";
import { PlaceTable } from "./placeTable.tsx";

/** Map color of the value 0, which is transparent in tiles. */
const ZERO_POINT_COLOR = "#fcfcfa";

interface ModelProps {
  readonly model: ListModel;
}

interface ListProps extends ModelProps {
  readonly list: PlaceList;
}

/** The list of places that the user has pasted or uploaded: values of the layer on the map, in a table and as points. */
export function PlacesList({ model }: ModelProps) {
  const list = model.list.value;
  return (
    <article class="places-list">
      <h2>List of places</h2>
      {list === undefined ? <ListInput model={model} /> : <Places model={model} list={list} />}
    </article>
  );
}

function Places({ model, list }: ListProps) {
  const { data, map, overlay, state } = useExplorer();
  const shown: ListQuery = {
    hazard: state.hazard.value,
    scenario: state.scenario.value,
    year: state.scenario.value === "baseline" ? 1980 : state.year.value,
    radiusKm: state.radiusKm.value,
    method: state.method.value,
    returnPeriodYears: returnPeriodOf(state.metric.value),
  };
  const query = model.query.value;
  const scoring = model.scoring.value;
  const scores = model.scores.value;
  const shownMetric = map.scaleMetric.value;
  const columns = listColumns(map.hazard.value, query ?? shown, shownMetric);
  const located = list.rows.filter(({ location }) => location !== undefined);
  const beyondMap = placesBeyondMapText(located.flatMap(({ location }) => (location === undefined ? [] : [location])));
  const faulty = list.rows.filter(({ location }) => location === undefined);
  const progress = { kind: scoring.kind, doneCount: scores.size, count: located.length };
  const isCurrent = query !== undefined && sameQuery(query, shown);

  useEffect(() => {
    // Values of another hazard or metric would have the wrong colors.
    const isSameHazard = query === undefined || query.hazard === shown.hazard;
    const column = isSameHazard ? columns.find(({ metric }) => metric === shownMetric) : undefined;
    overlay.showPlaces({
      places: located.map((row) => ({
        id: String(row.line),
        latitude: row.location?.latitude ?? 0,
        longitude: row.location?.longitude ?? 0,
        label: `${row.id}: ${labelOf(scores.get(row.line), column)}`,
        color: colorOfRow(scores.get(row.line), column),
      })),
      onSelect: (id) => {
        const row = list.rows.find(({ line }) => String(line) === id);
        if (row !== undefined) select(row);
      },
    });
  }, [list, scores, shownMetric, query, shown.hazard]);
  useEffect(() => () => overlay.showPlaces(undefined), [overlay]);
  useEffect(() => {
    const position = mapPosition(located.flatMap(({ location }) => (location === undefined ? [] : [location])));
    if (position !== undefined) state.map.value = position;
  }, [list.columns]); // the columns of a list stay the same object

  const select = (row: ListRow): void => {
    const index = sortRows(list.rows, model.order.value, model.scores.value).indexOf(row);
    batch(() => {
      model.selectedLine.value = row.line;
      model.pageIndex.value = Math.floor(index / PAGE_SIZE);
    });
  };
  const show = (row: ListRow): void => {
    const { location } = row;
    if (location === undefined) return;
    batch(() => {
      model.selectedLine.value = row.line;
      state.place.value = { ...location, name: row.id };
      state.map.value = placePosition(location, state.radiusKm.value, state.map.value.zoom);
      state.view.value = "hazards";
    });
  };

  return (
    <>
      <p>
        {formatCount(located.length)} {located.length === 1 ? "place" : "places"}
        {faulty.length === 0 ? "" : `, ${formatCount(faulty.length)} faulty ${faulty.length === 1 ? "row" : "rows"}`},
        located by the columns {list.used.latitude} and {list.used.longitude}.
      </p>
      {beyondMap === undefined ? null : <p class="note">{beyondMap}</p>}
      <IdColumn model={model} list={list} />
      {faulty.length === 0 ? null : <FaultyRows rows={faulty} />}
      <RadiusFields />
      <div class="list-actions">
        <button
          type="submit"
          disabled={scoring.kind === "running" || located.length === 0}
          onClick={() => void model.compute(data, shown)}
        >
          {query === undefined
            ? `Compute ${formatCount(located.length)} ${located.length === 1 ? "value" : "values"}`
            : "Compute again"}
        </button>
        {scoring.kind === "running" ? (
          <button type="button" onClick={() => model.cancel()}>
            Cancel
          </button>
        ) : null}
        <button type="button" onClick={() => model.clear()}>
          Remove the list
        </button>
      </div>
      {scoring.kind === "running" ? (
        <progress aria-label="Places computed" max={located.length} value={scores.size} />
      ) : null}
      <p role="status">{progressText(progress)}</p>
      {scoring.kind === "failed" ? (
        <FailureNotice error={scoring.error} onRetry={() => void model.compute(data, shown)} />
      ) : null}
      {query === undefined ? (
        <p class="note">The values will be those of the layer on the map: {queryText(shown)}.</p>
      ) : (
        <>
          <h3>{queryText(query)}</h3>
          {isCurrent ? null : (
            <p class="caveat">The map shows {queryText(shown)}. Compute again for values of that layer.</p>
          )}
        </>
      )}
      {map.isDifference.value ? (
        <p class="caveat">The map shows differences. The list and the points have the values of the layer itself.</p>
      ) : null}
      {query !== undefined && query.hazard !== shown.hazard ? null : (
        <PlaceTable model={model} columns={columns} onShow={show} />
      )}
      {query === undefined || query.hazard !== shown.hazard ? null : (
        <Download list={list} query={query} columns={columns} scores={scores} offer={downloadOffer(progress)} />
      )}
    </>
  );
}

/** Chooses the column that names the places. Values are kept, because the places stay the same. */
function IdColumn({ model, list }: ListProps) {
  const id = useId();
  return (
    <div class="list-columns">
      <label for={id}>Name of a place</label>
      <select
        id={id}
        value={list.used.id ?? ""}
        onChange={({ currentTarget }) => model.nameBy(currentTarget.value === "" ? undefined : currentTarget.value)}
      >
        <option value="">Line of the list</option>
        {list.columns.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function FaultyRows({ rows }: { readonly rows: readonly ListRow[] }) {
  return (
    <details class="faulty-rows" open>
      <summary>Faulty rows, which have no values</summary>
      <ul>
        {rows.slice(0, PAGE_SIZE).map(({ line, errors }) => (
          <li key={line}>
            Line {line}: {errors.join("; ")}
          </li>
        ))}
      </ul>
      {rows.length > PAGE_SIZE ? <p>And {formatCount(rows.length - PAGE_SIZE)} others.</p> : null}
    </details>
  );
}

/** Radius and aggregation, which the panel of a place uses too. */
function RadiusFields() {
  const { state } = useExplorer();
  const id = useId();
  const { input, error } = useRadiusInput();
  return (
    <div class="list-radius">
      <label for={`${id}-radius`}>Radius (km)</label>
      <input {...input} id={`${id}-radius`} aria-describedby={error === undefined ? undefined : `${id}-error`} />
      <label for={`${id}-method`}>Value</label>
      <select
        id={`${id}-method`}
        disabled={state.radiusKm.value === 0}
        value={state.method.value}
        onChange={({ currentTarget }) => (state.method.value = currentTarget.value === "mean" ? "mean" : "max")}
      >
        <option value="max">max</option>
        <option value="mean">mean</option>
      </select>
      {error === undefined ? null : (
        <p id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

interface DownloadProps {
  readonly list: PlaceList;
  readonly query: ListQuery;
  readonly columns: readonly ListColumn[];
  readonly scores: ListScores;
  readonly offer: ReturnType<typeof downloadOffer>;
}

function Download({ list, query, columns, scores, offer }: DownloadProps) {
  const id = useId();
  const escapesFormulas = useSignal(true);
  const formulas = formulaCount(list);
  const download = (): void => {
    const text = listCsv(list, { query, values: columns, scores, escapesFormulas: escapesFormulas.value });
    // Spreadsheets recognize UTF-8 by the byte order mark.
    const url = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `places-${query.hazard}-${query.scenario}-${query.year}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 0);
  };
  return (
    <div class="list-download">
      {formulas === 0 ? null : (
        <label class="check">
          <input
            type="checkbox"
            checked={escapesFormulas.value}
            onChange={({ currentTarget }) => (escapesFormulas.value = currentTarget.checked)}
          />
          Write an apostrophe before the {formatCount(formulas)} {formulas === 1 ? "cell" : "cells"} that spreadsheets
          would run as a formula
        </label>
      )}
      <button type="button" disabled={!offer.isReady} aria-describedby={`${id}-note`} onClick={download}>
        Download as CSV
      </button>
      <p class="note" id={`${id}-note`}>
        {offer.note}
      </p>
    </div>
  );
}

function sameQuery(a: ListQuery, b: ListQuery): boolean {
  const isSameArea = a.radiusKm === b.radiusKm && (a.radiusKm === 0 || a.method === b.method);
  const isSameLayer = a.hazard === b.hazard && a.scenario === b.scenario && a.year === b.year;
  return isSameArea && isSameLayer && a.returnPeriodYears === b.returnPeriodYears;
}

function labelOf(score: RowScore | undefined, column: ListColumn | undefined): string {
  if (score?.kind === "refused") return score.message;
  const value = column === undefined ? undefined : score?.values[column.name];
  return column === undefined || value === undefined ? "not computed" : valueText(column.metric, value);
}

function colorOfRow(score: RowScore | undefined, column: ListColumn | undefined): string | undefined {
  if (score?.kind !== "scored" || column === undefined) return undefined;
  const value = score.values[column.name]?.value;
  if (value === undefined || value === null) return undefined;
  if (value === 0) return ZERO_POINT_COLOR;
  const [red, green, blue] = colorOf(colorScaleOf(column.metric), value);
  return `rgb(${red} ${green} ${blue})`;
}
