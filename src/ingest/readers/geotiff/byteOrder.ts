/** Reverses the order of the bytes of each number. Bytes after the last whole number are unchanged. */
export function swapBytes(bytes: Uint8Array, size: number): void {
  for (let start = 0; start + size <= bytes.length; start += size) {
    for (let low = start, high = start + size - 1; low < high; low++, high--) {
      const byte = bytes[low] as number;
      bytes[low] = bytes[high] as number;
      bytes[high] = byte;
    }
  }
}
