/** Reads the size of an attack from `ISOTHERM_ATTACK_<name>`; the default is small. */
export function attackSize(name: string, defaultSize: number): number {
  const size = Number(process.env[`ISOTHERM_ATTACK_${name}`] ?? defaultSize);
  if (!Number.isInteger(size) || size < 1) {
    throw new Error(`ISOTHERM_ATTACK_${name} must be a whole number of at least 1`);
  }
  return size;
}
