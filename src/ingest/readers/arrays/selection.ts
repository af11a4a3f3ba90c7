/** Selects one map of a variable with more dimensions than latitude and longitude. */
import { isFault } from "../../../errors.ts";
import { type DimensionChoice, messageOf, type RasterOptions, sourceFault } from "../../raster.ts";
import { type ArrayFile, type ArrayVariable, textOf } from "./arrayFile.ts";
import {
  ACCEPTED_CALENDARS,
  type Calendar,
  calendarNamed,
  dateText,
  fixedDateOf,
  fixedDayNumber,
  fixedMonthDays,
} from "../../calendar.ts";
import { coordinateOf, type HorizontalDimensions, horizontalDimensions, readNumbers } from "./coordinates.ts";

/** The index selected in each dimension, undefined for latitude and longitude, and its coordinates. */
export interface Selection {
  readonly indexes: readonly (number | undefined)[];
  readonly coordinates: Readonly<Record<string, number | string>>;
  /** The dimension whose positions are the bands, and their coordinates; undefined if there is one band. */
  readonly bands?: {
    readonly index: number;
    readonly name: string;
    readonly coordinates: readonly (number | string)[];
    /** The calendar of the coordinates if they are dates. */
    readonly calendar: Calendar | undefined;
  };
}

/** Largest number of coordinates listed in a message. */
const LISTED_COUNT_MAX = 12;

/**
 * Returns the variable that was asked for, or the only one that is a map.
 * @throws Fault `source_invalid` listing the maps of the file
 */
export function chooseVariable(file: ArrayFile, name: string | undefined): ArrayVariable {
  const maps = [...file.variables.values()].filter((variable) => isMap(file, variable));
  const list =
    maps.length === 0
      ? "It has no variable with latitude and longitude."
      : `Its maps are ${listOf(maps.map((map) => map.name))}.`;
  if (name !== undefined) {
    const found = file.variables.get(name.replace(/^\//, ""));
    if (found === undefined) throw sourceFault(file.file, `has no variable ${JSON.stringify(name)}. ${list}`);
    return found;
  }
  const [first, ...others] = maps;
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined) {
    throw sourceFault(file.file, `has ${maps.length} maps; give the variable of the layer. ${list}`);
  }
  // A variable on an unsupported grid is rejected with the reason.
  const candidates = [...file.variables.values()].filter(({ shape }) => shape.length >= 2);
  for (const candidate of candidates) {
    try {
      horizontalDimensions(file, candidate);
    } catch (error) {
      throw sourceFault(file.file, `variable ${candidate.name} ${messageOf(error)}.`, { cause: error });
    }
  }
  throw sourceFault(
    file.file,
    `has no map: no variable has dimensions with the units degrees_north and degrees_east. Its variables are ${
      listOf(
        [...file.variables.values()].map((variable) => `${variable.name} (${variable.shape.join(" x ") || "scalar"})`),
      ) || "none"
    }.`,
  );
}

function isMap(file: ArrayFile, variable: ArrayVariable): boolean {
  if (variable.type === "text") return false;
  if (variable.attributes.has("transform_mat3x3")) return true;
  try {
    return horizontalDimensions(file, variable) !== undefined;
  } catch {
    return false;
  }
}

function listOf(names: readonly (string | number)[]): string {
  const listed = names.slice(0, LISTED_COUNT_MAX).join(", ");
  return names.length > LISTED_COUNT_MAX ? `${listed} and ${names.length - LISTED_COUNT_MAX} more` : listed;
}

/**
 * Returns the indexes of a map in the dimensions of its variable.
 * @param options `select`: the positions that were asked for; `dimensionAsBands`: whether one dimension remains
 * @throws Fault `source_invalid` naming a dimension that needs a selection, with its coordinates
 */
export async function selectMap(
  file: ArrayFile,
  variable: ArrayVariable,
  horizontal: HorizontalDimensions,
  { select = {}, dimensionAsBands = false }: Pick<RasterOptions, "select" | "dimensionAsBands">,
): Promise<Selection> {
  const indexes: (number | undefined)[] = [];
  const selected: Record<string, number | string> = {};
  const others = variable.dimensions.filter((_, index) => index !== horizontal.lat && index !== horizontal.lon);
  for (const name of Object.keys(select)) {
    if (others.some((dimension) => dimension.name === name)) continue;
    const names = others.map((dimension) => dimension.name);
    const why =
      names.length === 0
        ? "it has none other than latitude and longitude"
        : `its other dimensions are ${names.join(", ")}`;
    throw sourceFault(
      file.file,
      `variable ${variable.name} has no dimension ${JSON.stringify(name)} to select; ${why}.`,
    );
  }
  const bandIndex = dimensionAsBands ? bandDimensionOf(file, variable, horizontal, select) : undefined;
  let bands: Selection["bands"];
  for (const [index, { name }] of variable.dimensions.entries()) {
    if (index === horizontal.lat || index === horizontal.lon) {
      indexes.push(undefined);
      continue;
    }
    const coordinates = await readCoordinates(file, variable, index);
    const size = variable.shape[index] ?? 0;
    if (index === bandIndex) {
      indexes.push(undefined);
      const ofBand = (band: number): number | string =>
        coordinates?.texts[band] ?? coordinates?.values[band] ?? `index ${band}`;
      bands = {
        index,
        name,
        coordinates: Array.from({ length: size }, (_, band) => ofBand(band)),
        calendar: coordinates?.calendar,
      };
      continue;
    }
    const chosen = chooseIndex(file, { variable, name, size, coordinates }, select[name]);
    indexes.push(chosen);
    const coordinate = coordinates?.texts[chosen] ?? coordinates?.values[chosen];
    selected[name] = coordinate ?? `index ${chosen}`;
  }
  return { indexes, coordinates: selected, ...(bands === undefined ? {} : { bands }) };
}

/** Largest number of bands, as in GeoTIFF files. */
const BAND_COUNT_MAX = 65_535;

/**
 * Returns the dimension whose positions become bands: the only one that is neither horizontal nor selected. If there are
 * several, dimensions with one position are not considered, except that of the time if all others have one position.
 */
function bandDimensionOf(
  file: ArrayFile,
  variable: ArrayVariable,
  horizontal: HorizontalDimensions,
  select: NonNullable<RasterOptions["select"]>,
): number | undefined {
  const candidates = variable.dimensions.flatMap(({ name }, index) =>
    index === horizontal.lat || index === horizontal.lon || Object.hasOwn(select, name) ? [] : [index],
  );
  const isTime = (index: number): boolean => {
    const coordinate = coordinateOf(file, variable, index);
    return isTimeUnit(coordinate === undefined ? "" : (textOf(coordinate.attributes, "units") ?? ""));
  };
  const nameOf = (index: number): string => variable.dimensions[index]?.name ?? "";
  const large = candidates.filter((index) => variable.shape[index] !== 1);
  if (large.length > 1) {
    throw sourceFault(
      file.file,
      `variable ${variable.name} has the dimensions ${large.map(nameOf).join(" and ")}; select a position in all but one of them.`,
    );
  }
  const found = large[0] ?? candidates.find(isTime) ?? candidates[0];
  const size = found === undefined ? 1 : (variable.shape[found] ?? 0);
  if (found !== undefined && !(size >= 1 && size <= BAND_COUNT_MAX)) {
    const why = `dimension ${nameOf(found)} has ${size} positions; 1 to ${BAND_COUNT_MAX} are accepted.`;
    throw sourceFault(file.file, `variable ${variable.name}, ${why}`);
  }
  return found;
}

/** Coordinates along a dimension; `texts` are the dates if it is a time, and `calendar` is their calendar. */
interface Coordinates {
  readonly values: readonly (number | string)[];
  readonly texts: readonly string[];
  readonly calendar?: Calendar | undefined;
  readonly isFloat32: boolean;
}

async function readCoordinates(
  file: ArrayFile,
  variable: ArrayVariable,
  index: number,
): Promise<Coordinates | undefined> {
  const stored = variable.dimensions[index]?.values;
  if (stored !== undefined) return { values: stored, texts: [], isFloat32: false };
  const coordinate = coordinateOf(file, variable, index);
  if (coordinate === undefined) return undefined;
  try {
    if (coordinate.type === "text") return { values: await coordinate.readTexts(), texts: [], isFloat32: false };
    const values = [...(await readNumbers(file, coordinate))];
    const unit = textOf(coordinate.attributes, "units");
    const calendarName = textOf(coordinate.attributes, "calendar");
    const format = unit === undefined || !isTimeUnit(unit) ? undefined : timeFormatter(unit, calendarName);
    return {
      values,
      texts: format === undefined ? [] : values.map(format),
      calendar: format === undefined ? undefined : calendarNamed(calendarName),
      isFloat32: coordinate.type === "float32",
    };
  } catch (error) {
    if (isFault(error)) throw error;
    throw sourceFault(file.file, `coordinate variable ${coordinate.name} ${messageOf(error)}.`, { cause: error });
  }
}

function chooseIndex(
  file: ArrayFile,
  dimension: {
    readonly variable: ArrayVariable;
    readonly name: string;
    readonly size: number;
    readonly coordinates: Coordinates | undefined;
  },
  choice: DimensionChoice | undefined,
): number {
  const { variable, name, size, coordinates } = dimension;
  const texts = coordinates?.texts ?? [];
  const listed = texts.length > 0 ? texts : (coordinates?.values ?? []);
  const available =
    coordinates === undefined
      ? `It has ${size} positions without coordinates.`
      : `Its coordinates are ${listOf(listed)}.`;
  const reject = (why: string): Error =>
    sourceFault(file.file, `variable ${variable.name}, dimension ${name}: ${why} ${available}`);
  if (choice === undefined) {
    if (size === 1) return 0;
    const example = listed[0] ?? { index: 0 };
    throw reject(
      `it has ${size} positions; select one of them in the layer, for example "select": ${JSON.stringify({ [name]: example })}.`,
    );
  }
  if (typeof choice === "object") {
    if (Number.isInteger(choice.index) && choice.index >= 0 && choice.index < size) return choice.index;
    throw reject(`there is no index ${choice.index}; indexes are 0 to ${size - 1}.`);
  }
  if (coordinates === undefined) throw reject(`${JSON.stringify(choice)} cannot be found; select by {"index": 0}.`);
  const found = matchesOf(coordinates, choice);
  const [first] = found;
  if (first === undefined) throw reject(`there is no ${JSON.stringify(choice)}.`);
  if (found.length > 1)
    throw reject(`${JSON.stringify(choice)} matches ${found.length} positions; select one of them.`);
  return first;
}

/** Returns the positions of a coordinate. A date may be shortened: `2050` and `2050-07` match a time in that year or month. */
function matchesOf({ values, texts, isFloat32 }: Coordinates, choice: number | string): readonly number[] {
  const positions = (isMatch: (value: number | string, index: number) => boolean): readonly number[] =>
    values.flatMap((value, index) => (isMatch(value, index) ? [index] : []));
  if (typeof choice === "number") {
    return positions(
      (value) => typeof value === "number" && (value === choice || (isFloat32 && value === Math.fround(choice))),
    );
  }
  if (texts.length === 0) return positions((value) => value === choice);
  const wanted = choice.trim().replace(" ", "T").replace(/Z$/i, "");
  return positions((_, index) => {
    const text = texts[index] ?? "";
    return text === wanted || (text.startsWith(wanted) && /^[-T:.]/.test(text.slice(wanted.length)));
  });
}

const SECONDS: Readonly<Record<string, number>> = {
  day: 86_400,
  days: 86_400,
  d: 86_400,
  hour: 3600,
  hours: 3600,
  hr: 3600,
  hrs: 3600,
  h: 3600,
  minute: 60,
  minutes: 60,
  min: 60,
  mins: 60,
  second: 1,
  seconds: 1,
  sec: 1,
  secs: 1,
  s: 1,
};

/** First day of the Gregorian calendar; the standard calendar is Julian before it. */
const GREGORIAN_START_MS = Date.UTC(1582, 9, 15);

/** Returns whether a unit is that of a time: `days since 1970-01-01`. */
function isTimeUnit(unit: string): boolean {
  return /\bsince\b/i.test(unit);
}

/**
 * Returns the function that converts times to ISO 8601 dates in UTC, such as `2050-07-01T00:00:00`.
 * @throws Error naming the unit or calendar that is not supported
 */
export function timeFormatter(unit: string, calendarName: string | undefined): (time: number) => string {
  const match =
    /^\s*(\w+)\s+since\s+([-+]?\d{1,4})-(\d{1,2})-(\d{1,2})(?:[T\s]+(\d{1,2}):(\d{1,2})(?::(\d{1,2}(?:\.\d*)?))?)?\s*(Z|UTC|GMT|[-+]0{1,2}:?0{0,2})?\s*$/i.exec(
      unit,
    );
  const unitSeconds = SECONDS[match?.[1]?.toLowerCase() ?? ""];
  if (match === null || unitSeconds === undefined)
    throw new Error(
      `has the unit ${JSON.stringify(unit)}; days, hours, minutes or seconds since a date in UTC are accepted`,
    );
  const calendar = calendarNamed(calendarName);
  if (calendar === undefined) {
    throw new Error(`has the calendar ${JSON.stringify(calendarName)}; ${ACCEPTED_CALENDARS.join(", ")} are accepted`);
  }
  const [year = NaN, month = NaN, day = NaN, hour = 0, minute = 0, second = 0] = match
    .slice(2, 8)
    .map((text) => (text === undefined ? 0 : Number(text)));
  const startSeconds = hour * 3600 + minute * 60 + second;
  const monthDays = fixedMonthDays(calendar);
  if (monthDays !== undefined) {
    const dayOfStart = fixedDayNumber({ year, month, day }, monthDays);
    return (time) => formatFixed(dayOfStart, startSeconds + time * unitSeconds, monthDays);
  }
  const start = new Date(0);
  start.setUTCFullYear(year, month - 1, day);
  const startMs = start.getTime() + startSeconds * 1000;
  const checkCalendar = (ms: number): number => {
    if (calendar === "standard" && ms < GREGORIAN_START_MS)
      throw new Error("has dates before 1582-10-15 in the standard calendar, which are not supported");
    return ms;
  };
  checkCalendar(startMs);
  return (time) => {
    const ms = checkCalendar(Math.round(startMs + time * unitSeconds * 1000));
    if (!(Math.abs(ms) <= 8.64e15)) throw new Error(`has the time ${time}, which is out of range`);
    return new Date(ms).toISOString().replace(/\.000Z$|Z$/, "");
  };
}

function formatFixed(dayOfStart: number, seconds: number, monthDays: readonly number[]): string {
  const rounded = Math.round(seconds);
  const dayCount = Math.floor(rounded / 86_400);
  const ofDay = rounded - dayCount * 86_400;
  const two = (value: number): string => String(value).padStart(2, "0");
  const clock = `${two(Math.floor(ofDay / 3600))}:${two(Math.floor(ofDay / 60) % 60)}:${two(ofDay % 60)}`;
  return `${dateText(fixedDateOf(dayOfStart + dayCount, monthDays))}T${clock}`;
}
