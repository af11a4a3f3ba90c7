import { NAME_LENGTH_MAX } from "./ranges.ts";

/** Control characters, and unpaired surrogates, which have no UTF-8 encoding. */
const FORBIDDEN_CHARACTER = /[\p{Cc}\p{Cs}]/u;

/**
 * Schema of names and ids that users choose. JSON Schema patterns cannot exclude unpaired surrogates; `customerTextError`
 * applies the complete rule.
 */
export const CUSTOMER_TEXT = {
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
} as const;

/**
 * Returns why a text is not a valid name or id, or undefined if it is valid. A valid text has 1 to 200 characters (code
 * points), without control characters or unpaired surrogates. `detail` continues a sentence that begins with the name
 * of the field.
 */
export function customerTextError(
  text: string,
): { readonly code: "out_of_range" | "malformed"; readonly detail: string } | undefined {
  // Code points, as in JSON Schema, not UTF-16 code units.
  const { length } = Array.from(text);
  if (length < 1 || length > NAME_LENGTH_MAX) {
    return { code: "out_of_range", detail: `must be 1 to ${NAME_LENGTH_MAX} characters long (got ${length}).` };
  }
  if (!FORBIDDEN_CHARACTER.test(text)) return undefined;
  const detail = "must not contain control characters, such as line breaks, or unpaired surrogates.";
  return { code: "malformed", detail };
}
