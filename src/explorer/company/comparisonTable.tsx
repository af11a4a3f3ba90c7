/** A table with a column for each scenario. */
import type { ComponentChildren } from "preact";

export interface ComparisonRow {
  readonly name: ComponentChildren;
  /** Explanation below the name. */
  readonly hint?: string | undefined;
  /** One for each column. */
  readonly cells: readonly string[];
  readonly isTotal?: boolean;
}

/** Rows under a common heading. */
interface ComparisonGroup {
  readonly heading?: string;
  readonly rows: readonly ComparisonRow[];
}

interface TableProps {
  readonly caption: string;
  readonly firstColumn: string;
  readonly columns: readonly string[];
  readonly groups: readonly ComparisonGroup[];
  /** Whether cells are broken on a narrow screen, so that the table fits. */
  readonly isWrapping?: boolean;
}

export function ComparisonTable({ caption, firstColumn, columns, groups, isWrapping = false }: TableProps) {
  return (
    <div class="table-scroll" role="region" aria-label={caption} tabIndex={0}>
      <table class={isWrapping ? "wrapping-table" : undefined}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{firstColumn}</th>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {groups.map(({ heading, rows }, group) => (
          <tbody key={heading ?? group}>
            {heading === undefined ? null : (
              <tr class="group">
                <th scope="rowgroup" colSpan={columns.length + 1}>
                  {heading}
                </th>
              </tr>
            )}
            {rows.map(({ name, hint, cells, isTotal }, row) => (
              <tr key={row} class={isTotal === true ? "total" : undefined}>
                <th scope="row">
                  {name}
                  {hint === undefined ? null : <span class="hint"> {hint}</span>}
                </th>
                {cells.map((cell, column) => (
                  <td key={columns[column]} class={isSentence(cell) ? "text" : undefined}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

/** Whether a cell is words, which are aligned at the start, and not a figure. */
function isSentence(cell: string): boolean {
  return /^[a-z]/i.test(cell) && cell.length > 3;
}
