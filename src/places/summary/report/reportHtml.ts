import { html, joinMarkup, type Markup } from "../../../text/markup.ts";

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

/** Returns a number with four significant digits. */
export function formatValue(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : "-";
}

/** Returns a number with its unit. */
export function formatWithUnit(value: number, unit: string): string {
  return unit === "1" ? formatValue(value) : `${formatValue(value)} ${unit}`;
}

export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** Returns a share as a percentage with one decimal. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`;
}

/** Returns the heading of a column of values. */
export function metricLabel(metric: string, unit: string): string {
  return unit === "1" ? metric : `${metric} [${unit}]`;
}

/** Returns content that scrolls, also with the keyboard, if the page is too narrow for it. */
export function scrollRegion(label: string, content: Markup): Markup {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${content}</div>`;
}

/** Style sheet of the report. Colors of the map are those of viridis, reversed on light backgrounds. */
export const REPORT_STYLE = `
:root {
  color-scheme: light dark;
  --page: #fff; --text: #1c2733; --muted: #5a6877; --rule: #d5dce3; --head: #f2f5f8; --link: #0b5cad; --warn: #b4490f;
  --sea: #eaf1f6; --land: #fbfaf5; --coast: #8b98a5; --series: #1f6fb5; --extreme: #b4490f;
  --zero: #7b8794; --none: #b9c2ca; --outline: #1c2733;
  --c0: #c9dc1f; --c1: #7ad151; --c2: #35b779; --c3: #21918c; --c4: #31688e; --c5: #443983; --c6: #3b0049;
  --s0: #1f6fb5; --s1: #c0392b; --s2: #117a5b; --s3: #8e5a00; --s4: #6f4a8e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12181e; --text: #dfe6ec; --muted: #9aa8b5; --rule: #33404c; --head: #1d262e; --link: #7db8f0; --warn: #f0a06a;
    --sea: #172029; --land: #27313a; --coast: #6d7b88; --series: #6db3f2; --extreme: #f0a06a;
    --zero: #7f8c98; --none: #55616c; --outline: #fff;
    --c0: #5a3a9c; --c1: #3f5fae; --c2: #2f84a6; --c3: #21a08c; --c4: #4fc46a; --c5: #a0da39; --c6: #fde725;
    --s0: #6db3f2; --s1: #f28b7d; --s2: #58c9a3; --s3: #e0ad4f; --s4: #c39be0;
  }
}
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: var(--text); background: var(--page) }
h1 { font-size: 1.6rem; line-height: 1.25 } h2 { font-size: 1.3rem; margin-top: 2.5rem; border-top: 1px solid var(--rule); padding-top: 1.25rem }
h3 { font-size: 1.05rem; margin: 1.5rem 0 0.25rem }
a { color: var(--link) } code { font-family: ui-monospace, monospace; font-size: 0.9em; overflow-wrap: anywhere }
.warning { border-left: 4px solid var(--warn); padding-left: 0.75rem; font-weight: 600 }
.note, figcaption { color: var(--muted); font-size: 0.9rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem } dt { color: var(--muted) } dd { margin: 0 }
.scroll { overflow-x: auto } .scroll > svg { min-width: 48rem }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; margin: 0.5rem 0 }
caption { text-align: left; color: var(--muted); padding-bottom: 0.25rem }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid var(--rule); text-align: right; vertical-align: top }
thead th { background: var(--head) } .text { text-align: left; overflow-wrap: break-word; max-width: 32rem }
figure { margin: 0.5rem 0 1rem } svg { display: block; width: 100%; height: auto } details { margin: 0.5rem 0 } summary { cursor: pointer }
svg text { fill: var(--text); font: 12px system-ui, sans-serif } svg .tick { fill: var(--muted); font-size: 11px }
svg .end { text-anchor: end } svg .middle, svg .panel { text-anchor: middle } svg .panel { font-weight: 600 }
svg .grid, svg .graticule { stroke: var(--rule); fill: none }
svg .band { fill: var(--series) } svg .outer { fill-opacity: 0.22 } svg .inner { fill-opacity: 0.42 }
svg .median { stroke: var(--series); stroke-width: 2; fill: none } svg .dot { fill: var(--series) }
svg .extreme { stroke: var(--extreme); stroke-width: 1.5; stroke-dasharray: 5 3; fill: none }
svg .line path { fill: none; stroke-width: 2 } svg .line .leader { stroke-width: 1; stroke-dasharray: 2 2 }
svg .s0 path { stroke: var(--s0) } svg .s0 circle { fill: var(--s0) }
svg .s1 path { stroke: var(--s1); stroke-dasharray: 8 3 } svg .s1 circle { fill: var(--s1) }
svg .s2 path { stroke: var(--s2); stroke-dasharray: 3 3 } svg .s2 circle { fill: var(--s2) }
svg .s3 path { stroke: var(--s3); stroke-dasharray: 10 3 2 3 } svg .s3 circle { fill: var(--s3) }
svg .s4 path { stroke: var(--s4); stroke-dasharray: 1 2 } svg .s4 circle { fill: var(--s4) }
.definitions { position: absolute; width: 0; height: 0 } .map .sea { fill: var(--sea) } .map .land { fill: var(--land); stroke: var(--coast); stroke-width: 0.6 }
.map .point { fill: none; stroke-linecap: round } .map .large { stroke-width: 8 } .map .medium { stroke-width: 5 } .map .small { stroke-width: 3 }
.map .zero { stroke: var(--zero) } .map .none { stroke: var(--none) } .map .top { fill: none; stroke: var(--outline); stroke-width: 1.5 }
.map .c0 { stroke: var(--c0) } .map .c1 { stroke: var(--c1) } .map .c2 { stroke: var(--c2) } .map .c3 { stroke: var(--c3) }
.map .c4 { stroke: var(--c4) } .map .c5 { stroke: var(--c5) } .map .c6 { stroke: var(--c6) }
@media print { body { max-width: none; margin: 0 } details > * { display: block } h2, figure { break-inside: avoid } }
`;
