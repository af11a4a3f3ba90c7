import { Fault } from "../errors.ts";

/** Returns the fault `atlas_unavailable` for a damaged or missing file of an atlas: `<file>: <problem>.` */
export function damagedFile(
  name: string,
  problem: string,
  details: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): Fault {
  return new Fault("atlas_unavailable", `${name}: ${problem}.`, { details: { file: name, ...details }, cause });
}
