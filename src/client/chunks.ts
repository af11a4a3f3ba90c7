import { IsothermError } from "./problem.ts";

/** A part of a list that fits into one request. */
export interface Chunk {
  /** Index of the chunk's first item in the whole list. */
  readonly firstIndex: number;
  readonly count: number;
  /** JSON array of the items. */
  readonly body: string;
}

/** Limits of one request. */
export interface ChunkLimits<Item> {
  readonly itemCount: number;
  readonly valueCount: number;
  readonly bodyBytes: number;
  /** Maximum number of values with detail in one request. */
  readonly detailCount: number;
  /** Returns the number of values that an item requests. */
  valuesOf(item: Item): number;
  /** Whether an item requests detail. */
  isDetailed(item: Item): boolean;
}

const BRACKETS_BYTES = 2;
const COMMA_BYTES = 1;

/**
 * Splits a list, in order, into as few chunks as the limits allow. An item that exceeds the limits by itself becomes a
 * chunk of one item, and an empty list becomes one empty chunk; the service rejects both and reports why.
 */
export function* splitIntoChunks<Item>(items: readonly Item[], limits: ChunkLimits<Item>): Generator<Chunk> {
  const encoder = new TextEncoder();
  let texts: string[] = [];
  let firstIndex = 0;
  let values = 0;
  let details = 0;
  let bytes = BRACKETS_BYTES;
  for (const [index, item] of items.entries()) {
    // Values without a JSON form are sent as null, which the service rejects at this index.
    const text = JSON.stringify(item) ?? "null";
    const itemValues = limits.valuesOf(item);
    const itemDetails = limits.isDetailed(item) ? itemValues : 0;
    const itemBytes = encoder.encode(text).length + COMMA_BYTES;
    const isFull =
      texts.length >= limits.itemCount ||
      values + itemValues > limits.valueCount ||
      details + itemDetails > limits.detailCount ||
      bytes + itemBytes > limits.bodyBytes;
    if (isFull && texts.length > 0) {
      yield { firstIndex, count: texts.length, body: `[${texts.join(",")}]` };
      texts = [];
      firstIndex = index;
      values = 0;
      details = 0;
      bytes = BRACKETS_BYTES;
    }
    texts.push(text);
    values += itemValues;
    details += itemDetails;
    bytes += itemBytes;
  }
  yield { firstIndex, count: texts.length, body: `[${texts.join(",")}]` };
}

/** Converts the JSON pointers of an error, which refer to a chunk, to pointers into the whole list. */
export function rebasePointers(error: unknown, firstIndex: number): unknown {
  if (!(error instanceof IsothermError) || error.problem?.errors === undefined || firstIndex === 0) return error;
  const { problem, status, retryAfterMs } = error;
  const errors = problem.errors?.map((item) => {
    const [, index, rest = ""] = /^\/([0-9]+)(.*)$/s.exec(item.pointer ?? "") ?? [];
    return index === undefined ? item : { ...item, pointer: `/${firstIndex + Number(index)}${rest}` };
  });
  return new IsothermError(error.message, {
    status,
    retryAfterMs,
    problem: { ...problem, ...(errors === undefined ? {} : { errors }) },
  });
}
