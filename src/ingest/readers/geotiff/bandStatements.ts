/** What a file and its `.aux.xml` state about bands: units, scales, offsets, color interpretations and NODATA_VALUES. */
import { isSameUnit } from "../../units.ts";
import { sourceFault } from "../../raster.ts";

/** Statements by band, from 1. */
export interface BandStatements {
  readonly units: Map<number, string>;
  readonly scales: Map<number, number>;
  readonly offsets: Map<number, number>;
  /** Color interpretations in lower case. */
  readonly colors: Map<number, string>;
  /** NODATA_VALUES of GDAL, a number for each band: a cell is missing if every band has its number. */
  nodataValues: readonly number[] | undefined;
}

export function noStatements(): BandStatements {
  return { units: new Map(), scales: new Map(), offsets: new Map(), colors: new Map(), nodataValues: undefined };
}

/** Value = stored number x scale + offset. */
export interface Packing {
  readonly scale: number;
  readonly offset: number;
}

/** One statement about a band. */
export interface BandItem {
  readonly band: number;
  /** In any case: UnitType, Scale, Offset, ColorInterp; other names are ignored. */
  readonly name: string;
  readonly text: string;
  /** The start of error messages, such as "band 1 declares". */
  readonly messagePrefix: string;
}

/**
 * Adds a statement about a band.
 * @throws Fault `source_invalid` for palettes, scales that are 0, numbers that cannot be read, and contradictions
 */
export function addBandItem(file: string, statements: BandStatements, item: BandItem): void {
  const { band, messagePrefix } = item;
  const text = item.text.trim();
  const add = <T>(map: Map<number, T>, value: T): void => {
    const known = map.get(band);
    if (known !== undefined && known !== value) {
      throw sourceFault(
        file,
        `${messagePrefix} ${item.name} twice, as ${JSON.stringify(known)} and ${JSON.stringify(value)}. Remove one of them.`,
      );
    }
    map.set(band, value);
  };
  switch (item.name.toLowerCase()) {
    case "unittype":
      if (text !== "") add(statements.units, text);
      return;
    case "scale":
      add(statements.scales, packingNumber(file, item, text));
      return;
    case "offset":
      add(statements.offsets, packingNumber(file, item, text));
      return;
    case "colorinterp":
      if (text.toLowerCase() === "palette") throw classFault(file, messagePrefix);
      add(statements.colors, text.toLowerCase());
  }
}

function packingNumber(file: string, { name, messagePrefix }: BandItem, text: string): number {
  const number = text === "" ? NaN : Number(text);
  const isScale = name.toLowerCase() === "scale";
  if (Number.isFinite(number) && !(isScale && number === 0)) return number;
  throw sourceFault(
    file,
    `${messagePrefix} ${isScale ? "a scale" : "an offset"} of ${JSON.stringify(text)}; a finite number${isScale ? " other than 0" : ""} is expected. Correct it with gdal_edit.py -${isScale ? "scale" : "offset"}.`,
  );
}

/** Returns the error for a map of class codes. */
export function classFault(file: string, messagePrefix: string): Error {
  return sourceFault(
    file,
    `${messagePrefix} classes or a palette: the values of the band are class codes, not quantities.`,
  );
}

/**
 * Combines the statements of a file with those of its `.aux.xml`.
 * @throws Fault `source_invalid` if the two contradict each other
 */
export function combineStatements(file: string, inFile: BandStatements, inAuxXml: BandStatements): BandStatements {
  const combine = <T>(
    name: string,
    select: (statements: BandStatements) => ReadonlyMap<number, T>,
    isSame: (a: T, b: T) => boolean,
  ): Map<number, T> => {
    const combined = new Map(select(inFile));
    for (const [band, value] of select(inAuxXml)) {
      const known = combined.get(band);
      if (known !== undefined && !isSame(known, value)) {
        throw sourceFault(
          file,
          `band ${band} has the ${name} ${JSON.stringify(known)}, but its .aux.xml states ${JSON.stringify(value)}. Correct the file or its .aux.xml.`,
        );
      }
      combined.set(band, known ?? value);
    }
    return combined;
  };
  const isEqual = <T>(a: T, b: T): boolean => a === b;
  const [first, second] = [inFile.nodataValues, inAuxXml.nodataValues];
  if (first !== undefined && second !== undefined && first.join() !== second.join()) {
    throw sourceFault(
      file,
      `has the NODATA_VALUES ${first.join(" ")}, but its .aux.xml states ${second.join(" ")}. Correct the file or its .aux.xml.`,
    );
  }
  return {
    units: combine("unit", ({ units }) => units, isSameUnit),
    scales: combine("scale", ({ scales }) => scales, isEqual),
    offsets: combine("offset", ({ offsets }) => offsets, isEqual),
    colors: combine("color interpretation", ({ colors }) => colors, isEqual),
    nodataValues: first ?? second,
  };
}

/** Returns scale and offset of a band. */
export function packingOf({ scales, offsets }: BandStatements, band: number): Packing {
  return { scale: scales.get(band) ?? 1, offset: offsets.get(band) ?? 0 };
}
