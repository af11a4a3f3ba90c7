/** HTML and SVG of the pages of the service and of reports. */

/** Finished markup, which `html` does not escape. */
export interface Markup {
  readonly html: string;
}

/** Builds markup from a template literal, and escapes every value except `Markup`. */
export function html(pieces: TemplateStringsArray, ...values: readonly (string | number | Markup)[]): Markup {
  const parts = pieces.map((piece, index) => {
    const value = values[index];
    if (value === undefined) return piece;
    return piece + (typeof value === "object" ? value.html : escapeHtml(String(value)));
  });
  return { html: parts.join("") };
}

/** Joins markup with line breaks. */
export function joinMarkup(parts: readonly Markup[]): Markup {
  return { html: parts.map((part) => part.html).join("\n") };
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
