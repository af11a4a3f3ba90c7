/**
 * Computes the CRC-32 of bytes in memory, with the polynomial of zip and PNG.
 *
 * In       bytes   u8[length]
 *          table   u32[8][256], zeroed by the caller before its first use; filled if its second entry is 0
 *          seed    0, or the CRC of the preceding bytes: crc(a + b) = crc(b, seed crc(a))
 * Formula  ISO 3309, reflected polynomial 0xEDB88320, eight bytes per iteration ("slicing by 8", Kounavis and Berry,
 *          Intel 2006)
 */
export function crc32(bytes: usize, length: i32, table: usize, seed: u32): u32 {
  if (load<u32>(table, 4) == 0) fillTable(table);
  let crc = ~seed;
  let position = bytes;
  const end = bytes + <usize>length;
  while (position + 8 <= end) {
    const low = load<u32>(position) ^ crc,
      high = load<u32>(position, 4);
    crc =
      load<u32>(table + ((<usize>(low & 255)) << 2), 7168) ^
      load<u32>(table + ((<usize>((low >>> 8) & 255)) << 2), 6144) ^
      load<u32>(table + ((<usize>((low >>> 16) & 255)) << 2), 5120) ^
      load<u32>(table + ((<usize>(low >>> 24)) << 2), 4096) ^
      load<u32>(table + ((<usize>(high & 255)) << 2), 3072) ^
      load<u32>(table + ((<usize>((high >>> 8) & 255)) << 2), 2048) ^
      load<u32>(table + ((<usize>((high >>> 16) & 255)) << 2), 1024) ^
      load<u32>(table + ((<usize>(high >>> 24)) << 2));
    position += 8;
  }
  while (position < end) {
    crc = load<u32>(table + ((<usize>((crc ^ (<u32>load<u8>(position))) & 255)) << 2)) ^ (crc >>> 8);
    position += 1;
  }
  return ~crc;
}

function fillTable(table: usize): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    store<u32>(table + ((<usize>byte) << 2), crc);
  }
  for (let byte: u32 = 0; byte < 256; byte++) {
    const entry = table + ((<usize>byte) << 2);
    let crc = load<u32>(entry);
    for (let slice: usize = 1; slice < 8; slice++) {
      crc = load<u32>(table + ((<usize>(crc & 255)) << 2)) ^ (crc >>> 8);
      store<u32>(entry + (slice << 10), crc);
    }
  }
}
