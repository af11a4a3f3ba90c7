/** Values of header fields that more than one module checks. The file has no imports, as ranges.ts. */

/** `Idempotency-Key`: 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY_PATTERN = "^[!-~]{1,255}$";
