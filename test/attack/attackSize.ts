/**
 * Reads the size of an attack from `ISOTHERM_ATTACK_<name>`. By default it is small, or with `ISOTHERM_ATTACK_FULL=1` full.
 */
export function attackSize(name: string, sizes: { readonly small: number; readonly full: number }): number {
  const isFull = process.env["ISOTHERM_ATTACK_FULL"] === "1";
  const size = Number(process.env[`ISOTHERM_ATTACK_${name}`] ?? (isFull ? sizes.full : sizes.small));
  if (!Number.isInteger(size) || size < 1) {
    throw new Error(`ISOTHERM_ATTACK_${name} must be a whole number of at least 1`);
  }
  return size;
}
