/** Elements that are answered, written one after the other with a comma between. */
export interface Piece {
  /** Of each, among all elements of the request. */
  readonly positions: Uint32Array;
  /** Bytes of each. */
  readonly lengths: Uint32Array;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const OPENING = '{"results":[';
const CLOSING = "]}";
const COMMA = 0x2c;
const encoder = new TextEncoder();

export function pieceOf(positions: Uint32Array, texts: readonly string[]): Piece {
  const encoded = texts.map((text) => encoder.encode(text));
  const lengths = Uint32Array.from(encoded, ({ length }) => length);
  return { positions, lengths, bytes: listed(encoded) };
}

/** Several pieces as one, in the order they are given. */
export function onePiece(pieces: readonly Piece[]): Piece {
  return {
    positions: concatenated(pieces.map(({ positions }) => positions)),
    lengths: concatenated(pieces.map(({ lengths }) => lengths)),
    bytes: listed(pieces.map(({ bytes }) => bytes)),
  };
}

/** Whether the elements of all pieces, one after the other, are in the order of their positions. */
export function areInOrder(pieces: readonly Piece[]): boolean {
  let next = 0;
  for (const { positions } of pieces) for (const position of positions) if (position !== next++) return false;
  return true;
}

/** The bytes of an answer around those of its elements, which are in order already. */
export function wrapped(pieces: readonly Piece[]): readonly Uint8Array[] {
  const comma = Uint8Array.of(COMMA);
  return [
    encoder.encode(OPENING),
    ...pieces.flatMap(({ bytes }, i) => (i === 0 ? [bytes] : [comma, bytes])),
    encoder.encode(CLOSING),
  ];
}

/** The whole answer, its elements in the order of their positions. */
export function joined(pieces: readonly Piece[]): Uint8Array<ArrayBuffer> {
  const count = pieces.reduce((sum, { positions }) => sum + positions.length, 0);
  const starts = new Float64Array(count + 1);
  for (const { positions, lengths } of pieces) {
    for (const [i, position] of positions.entries()) starts[position + 1] = (lengths[i] ?? 0) + 1;
  }
  starts[0] = OPENING.length;
  for (let i = 0; i < count; i++) starts[i + 1] = (starts[i + 1] ?? 0) + (starts[i] ?? 0);
  const end = (starts[count] ?? 0) - 1; // no comma follows the last
  const whole = new Uint8Array(end + CLOSING.length).fill(COMMA);
  encoder.encodeInto(OPENING, whole);
  encoder.encodeInto(CLOSING, whole.subarray(end));
  for (const { positions, lengths, bytes } of pieces) {
    let from = 0;
    for (const [i, position] of positions.entries()) {
      const length = lengths[i] ?? 0;
      whole.set(bytes.subarray(from, from + length), starts[position]);
      from += length + 1;
    }
  }
  return whole;
}

/** One after the other, with a comma between. */
function listed(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(Math.max(0, sum(parts) + parts.length - 1)).fill(COMMA);
  let from = 0;
  for (const part of parts) {
    whole.set(part, from);
    from += part.length + 1;
  }
  return whole;
}

function concatenated(lists: readonly Uint32Array[]): Uint32Array {
  const whole = new Uint32Array(sum(lists));
  let from = 0;
  for (const list of lists) {
    whole.set(list, from);
    from += list.length;
  }
  return whole;
}

function sum(parts: readonly { readonly length: number }[]): number {
  return parts.reduce((length, part) => length + part.length, 0);
}
