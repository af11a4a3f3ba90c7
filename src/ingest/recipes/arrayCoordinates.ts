/** Reads coordinates of files of arrays, which recipes need before they select maps. */
import { messageOf, sourceFault } from "../raster.ts";
import type { ArrayFile } from "../readers/arrays/arrayFile.ts";
import { coordinateOf, readNumbers } from "../readers/arrays/coordinates.ts";

/**
 * Returns the coordinates along a dimension of a variable, such as return periods.
 * @throws Fault `source_invalid` if the file has no such variable, dimension or coordinates
 */
export async function numbersAlong(
  arrays: ArrayFile,
  { variable: name, dimension: dimensionName }: { readonly variable: string; readonly dimension: string },
): Promise<readonly number[]> {
  const variable = arrays.variables.get(name);
  if (variable === undefined) {
    const names = [...arrays.variables.keys()].slice(0, 12).join(", ");
    throw sourceFault(arrays.file, `has no variable ${name}. Its variables are ${names}.`);
  }
  const index = variable.dimensions.findIndex((dimension) => dimension.name === dimensionName);
  const dimension = variable.dimensions[index];
  if (dimension === undefined) {
    const names = variable.dimensions.map((other) => other.name).join(", ");
    throw sourceFault(arrays.file, `variable ${name} has no dimension ${dimensionName}; its dimensions are ${names}.`);
  }
  const stored = dimension.values;
  const coordinate = coordinateOf(arrays, variable, index);
  const reject = (why: string): Error =>
    sourceFault(arrays.file, `variable ${name}, dimension ${dimensionName}: its coordinates ${why}.`);
  if (stored !== undefined) {
    const numbers = stored.filter((value) => typeof value === "number");
    if (numbers.length !== stored.length) throw reject("are not numbers");
    return numbers;
  }
  if (coordinate === undefined || coordinate.type === "text") throw reject("are missing, or are not numbers");
  try {
    return [...(await readNumbers(arrays, coordinate))];
  } catch (error) {
    throw reject(`cannot be read (${messageOf(error)})`);
  }
}
