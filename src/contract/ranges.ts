/** Limits and formats shared by schemas and other modules. Has no imports, so that modules without schemas do not load TypeBox. */

/** Maximum radius of a hazard query. */
export const RADIUS_KM_MAX = 100;

/** Return periods that a curve query may request, in years. */
export const RETURN_PERIODS = { min: 1, countMax: 32 } as const;
/** Number of points of a damage curve. */
export const DAMAGE_POINTS = { countMin: 2, countMax: 64 } as const;

/** Baseline and projection years of the temperature alignment; must equal those in assembly/alignmentLayout.ts. */
export const ALIGNMENT_YEARS = { min: 1900, max: 2200 } as const;
/**
 * Maximum absolute value of emissions and revenue in the temperature alignment; must equal EMISSIONS_MAX in
 * assembly/alignmentLayout.ts.
 */
export const ALIGNMENT_AMOUNT_MAX = 1e15;
/** Maximum length of the label of a projection, in characters. */
export const LABEL_LENGTH_MAX = 64;
/**
 * Years covered by the US consumer price table of src/alignment/entityColumns.ts, i.e. `price_year` values from which
 * revenue can be converted.
 */
export const PRICE_YEARS = { min: 2015, max: 2024 } as const;

/** Years for which a company's losses can be computed. */
export const ASSESSMENT_YEARS = { min: 2025, max: 2100 } as const;

/** Items per page of a list. */
export const PAGE_ITEMS = { max: 500, default: 50 } as const;

/** Maximum length of the ids and names that an account gives to its customers, in characters (code points). */
const NAME_LENGTH_MAX = 200;

/** Maximum number of items in a Fault. */
export const FAULT_ITEM_COUNT_MAX = 100;

/** Header field `Idempotency-Key`: 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY_PATTERN = "^[!-~]{1,255}$";

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
