/** Error for a request that the method rejects. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly code: RefusalCode,
    readonly status: 400 | 422,
    message: string,
    readonly suggestions: readonly string[] = [],
  ) {
    super(message);
  }
}

/** Codes defined in the text of the method company/2, and `invalid` for values out of range or of the wrong form. */
export type RefusalCode =
  "country_unknown" | "industry_unknown" | "scenario_unknown" | "combination_unavailable" | "invalid";
