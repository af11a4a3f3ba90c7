import { formatCount, metricUnit } from "../format.ts";
import { numberText } from "../place/placeQuery.ts";
import { type ListColumn, type ListOrder, PAGE_SIZE, pageCount, type RowScore, sortRows } from "./scoreList.ts";
import type { ListModel } from "./listModel.ts";
import type { ListRow } from "./placeList.ts";

interface PlaceTableProps {
  readonly model: ListModel;
  readonly columns: readonly ListColumn[];
  readonly onShow: (row: ListRow) => void;
}

/** The places with their values, sortable by column, in pages. */
export function PlaceTable({ model, columns, onShow }: PlaceTableProps) {
  const list = model.list.value;
  if (list === undefined) return null;
  const scores = model.scores.value;
  const order = model.order.value;
  const rows = sortRows(list.rows, order, scores);
  const pages = pageCount(rows.length);
  const page = Math.min(model.pageIndex.value, pages - 1);
  const sortBy = (by: ListOrder["by"]): void => {
    // The largest values are looked for first, and identifiers in their order.
    const isDescending = order.by === by ? !order.isDescending : by !== "id" && by !== "line";
    model.order.value = { by, isDescending };
    model.pageIndex.value = 0;
  };
  const header = (by: ListOrder["by"], title: string) => (
    <th key={by} scope="col" aria-sort={order.by !== by ? undefined : order.isDescending ? "descending" : "ascending"}>
      <button type="button" class="link" onClick={() => sortBy(by)}>
        {title}
        <span aria-hidden="true">{order.by !== by ? "" : order.isDescending ? " ↓" : " ↑"}</span>
      </button>
    </th>
  );
  return (
    <>
      <div class="table-frame" role="region" aria-label="Table of places" tabIndex={0}>
        <table class="values place-rows">
          <caption class="visually-hidden">Places and their values</caption>
          <thead>
            <tr>
              {header("line", "Line")}
              {header("id", list.used.id ?? "Place")}
              {columns.map(({ name, title, metric }) => {
                const unit = metricUnit(metric);
                return header(name, `${title}${unit === "" ? "" : ` (${unit})`}`);
              })}
            </tr>
          </thead>
          <tbody>
            {rows.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE).map((row) => (
              <tr key={row.line} aria-current={model.selectedLine.value === row.line ? "true" : undefined}>
                <td>{row.line}</td>
                <th scope="row">
                  {row.location === undefined ? (
                    row.id
                  ) : (
                    <button type="button" class="link" onClick={() => onShow(row)}>
                      {row.id}
                    </button>
                  )}
                </th>
                <RowValues row={row} score={scores.get(row.line)} columns={columns} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages === 1 ? null : (
        <nav class="pages" aria-label="Pages of the table">
          <button type="button" disabled={page === 0} onClick={() => (model.pageIndex.value = page - 1)}>
            Previous
          </button>
          <span>
            Rows {page * PAGE_SIZE + 1} to {Math.min(rows.length, (page + 1) * PAGE_SIZE)} of {formatCount(rows.length)}
          </span>
          <button type="button" disabled={page === pages - 1} onClick={() => (model.pageIndex.value = page + 1)}>
            Next
          </button>
        </nav>
      )}
    </>
  );
}

interface RowValuesProps {
  readonly row: ListRow;
  readonly score: RowScore | undefined;
  readonly columns: readonly ListColumn[];
}

function RowValues({ row, score, columns }: RowValuesProps) {
  // The errors themselves are above the table.
  const message = row.errors.length > 0 ? "faulty row" : score?.kind === "refused" ? score.message : undefined;
  if (message !== undefined) {
    return (
      <td colSpan={columns.length} class="row-error">
        {message}
      </td>
    );
  }
  if (score?.kind !== "scored") {
    return (
      <td colSpan={columns.length} class="no-value">
        not computed
      </td>
    );
  }
  const cells = columns.map(({ name, metric }) => {
    const value = score.values[name];
    return {
      name,
      hasValue: typeof value?.value === "number",
      text: value === undefined ? "no value" : numberText(metric, value),
    };
  });
  const [first, ...others] = cells;
  // One reason for all metrics is stated once.
  if (
    first !== undefined &&
    cells.every(({ hasValue }) => !hasValue) &&
    others.every(({ text }) => text === first.text)
  ) {
    return (
      <td colSpan={columns.length} class="no-value">
        {first.text}
      </td>
    );
  }
  return (
    <>
      {cells.map(({ name, hasValue, text }) => (
        <td key={name} class={hasValue ? undefined : "no-value"}>
          {text}
        </td>
      ))}
    </>
  );
}
