/** Values of source maps that are rejected. */

/** A rejected source value, with the indices of its map and cell. */
export interface BadValue {
  readonly map: number;
  readonly cell: number;
  readonly value: number;
  readonly why: "negative" | "missing-marker" | "below-tolerance" | "infinite" | "above-range";
}

/** Thrown for a rejected value, and caught within src/ingest by callers that know the file and the cell. */
export class BadValueError extends Error {
  override readonly name = "BadValueError";
  readonly bad: BadValue;
  constructor(bad: BadValue) {
    super(`A value of ${bad.value} is ${bad.why}.`);
    this.bad = bad;
  }
}
