import { IsothermError } from "./problem.ts";

/** A part of a list that the service takes in one request. */
export interface Chunk {
  /** Index of its first item in the whole list. */
  readonly first: number;
  readonly count: number;
  /** JSON of its items. */
  readonly body: string;
}

/** What one request may hold. */
export interface ChunkLimits<Item> {
  readonly itemCount: number;
  readonly valueCount: number;
  readonly bodyBytes: number;
  /** Of these, with detail. */
  readonly detailCount: number;
  /** How many values an item asks for. */
  valuesOf(item: Item): number;
  /** Whether it asks for detail. */
  isDetailed(item: Item): boolean;
}

const BRACKETS_BYTES = 2;
const COMMA_BYTES = 1;

/**
 * Cuts a list into portions within the limits, as few and in order. An item that is too large by itself is a portion of
 * its own, which the service refuses with its reason.
 */
export function* splitIntoChunks<Item>(items: readonly Item[], limits: ChunkLimits<Item>): Generator<Chunk> {
  const encoder = new TextEncoder();
  let texts: string[] = [];
  let first = 0;
  let values = 0;
  let details = 0;
  let bytes = BRACKETS_BYTES;
  for (const [index, item] of items.entries()) {
    // What JSON has no word for is refused by the service, in its place.
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
      yield { first, count: texts.length, body: `[${texts.join(",")}]` };
      texts = [];
      first = index;
      values = 0;
      details = 0;
      bytes = BRACKETS_BYTES;
    }
    texts.push(text);
    values += itemValues;
    details += itemDetails;
    bytes += itemBytes;
  }
  // Of an empty list too: that it is refused is for the service to say.
  yield { first, count: texts.length, body: `[${texts.join(",")}]` };
}

/** A refusal of a portion, its pointers as they are in the whole list. */
export function rebasePointers(error: unknown, first: number): unknown {
  if (!(error instanceof IsothermError) || error.problem?.errors === undefined || first === 0) return error;
  const { problem, status } = error;
  const errors = problem.errors?.map((item) => {
    const [, index, rest = ""] = /^\/([0-9]+)(.*)$/s.exec(item.pointer ?? "") ?? [];
    return index === undefined ? item : { ...item, pointer: `/${first + Number(index)}${rest}` };
  });
  return new IsothermError(error.message, {
    status,
    problem: { ...problem, ...(errors === undefined ? {} : { errors }) },
  });
}
