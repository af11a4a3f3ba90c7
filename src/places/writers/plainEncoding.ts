/** Parquet's plain encoding of values. */

const utf8 = new TextEncoder();

export function plainDoubles(numbers: Iterable<number> & { readonly length: number }): Uint8Array {
  const bytes = new Uint8Array(numbers.length * 8);
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const number of numbers) {
    view.setFloat64(offset, number, true);
    offset += 8;
  }
  return bytes;
}

export function plainInt32s(numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(numbers.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [i, number] of numbers.entries()) view.setInt32(i * 4, number, true);
  return bytes;
}

export function plainInt64s(numbers: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(numbers.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [i, number] of numbers.entries()) view.setBigInt64(i * 8, number, true);
  return bytes;
}

export function plainTexts(texts: readonly string[]): Uint8Array {
  return plainByteArrays(texts.map((text) => utf8.encode(text)));
}

export function plainByteArrays(values: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(values.reduce((size, value) => size + 4 + value.length, 0));
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const value of values) {
    view.setUint32(offset, value.length, true);
    bytes.set(value, offset + 4);
    offset += 4 + value.length;
  }
  return bytes;
}

/** Packs booleans, the first in the least significant bit of the first byte. */
export function plainBooleans(values: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(values.length / 8));
  for (const [i, value] of values.entries()) if (value) bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7));
  return bytes;
}

/** Returns a point in well-known binary, little-endian. */
export function wellKnownPoint(longitude: number, latitude: number): Uint8Array {
  const bytes = new Uint8Array(21);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 1);
  view.setUint32(1, 1, true);
  view.setFloat64(5, longitude, true);
  view.setFloat64(13, latitude, true);
  return bytes;
}
