/** Formats of header fields that several modules check. Has no imports, for the reason given in ranges.ts. */

/** `Idempotency-Key`: 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY_PATTERN = "^[!-~]{1,255}$";
