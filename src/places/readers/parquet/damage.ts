/** Why bytes of a Parquet file cannot be decoded. */
export class ParquetDamage extends Error {
  override readonly name = "ParquetDamage";
}

/** @throws ParquetDamage if the condition does not hold */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ParquetDamage(message);
}
