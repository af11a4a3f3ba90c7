import { html, joinMarkup, type Markup } from "../../../text/markup.ts";
import { scrollRegion } from "./scrollRegion.ts";

/**
 * Returns a table that scrolls if it is too wide.
 *
 * @param content.textColumns number of first columns with text, which are aligned left; the first cell of a row is its header
 */
export function table(content: {
  readonly caption: string;
  readonly head: readonly string[];
  readonly textColumns: number;
  readonly rows: readonly (readonly string[])[];
}): Markup {
  const { caption, head, textColumns, rows } = content;
  const style = (column: number): string => (column < textColumns ? "text" : "number");
  const cell = (text: string, column: number): Markup =>
    column === 0
      ? html`<th scope="row" class="${style(column)}">${text}</th>`
      : html`<td class="${style(column)}">${text}</td>`;
  return scrollRegion(
    caption,
    html`<table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${joinMarkup(head.map((name, column) => html`<th scope="col" class="${style(column)}">${name}</th>`))}
        </tr>
      </thead>
      <tbody>
        ${joinMarkup(
          rows.map(
            (row) =>
              html`<tr>
                ${joinMarkup(row.map(cell))}
              </tr>`,
          ),
        )}
      </tbody>
    </table>`,
  );
}
