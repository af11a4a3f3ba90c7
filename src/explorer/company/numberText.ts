/** Numbers that people type. */

const NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** Reads a number without separators, such as `1250000`, `-3.5` or `1.25e6`. Returns undefined for any other text. */
export function parseNumberText(text: string): number | undefined {
  const trimmed = text.trim();
  if (!NUMBER.test(trimmed)) return undefined;
  const value = Number(trimmed);
  // Adding 0 converts -0 to 0.
  return Number.isFinite(value) ? value + 0 : undefined;
}

/** Describes the accepted text, to follow the name of the value. */
export const NUMBER_TEXT_EXPECTED = "must be a number without separators, such as 1250000 or 1.25e6";

/** Returns text for a message, shortened and in quotation marks. */
export function quoteText(text: string): string {
  return `"${text.length > 40 ? `${text.slice(0, 40)}…` : text}"`;
}
