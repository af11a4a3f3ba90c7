/** Assigns the maps of a series to years by their dates, and finds days that are absent. */
import type { YearOfDays } from "../computedMethod.ts";
import { type Raster, sourceFault } from "../raster.ts";
import { type Calendar, dateOfText, datesFrom, datesOfYear } from "../calendar.ts";
import { runsOf, type SeriesMap } from "./seriesFiles.ts";

/** The years of a series to use; undefined uses all. */
export type YearRange = readonly [first: number, last: number] | undefined;

/** Dates of maps in files that state none: that of the first map, from which the others follow day by day. */
export interface DeclaredDates {
  readonly firstDay: string | undefined;
  readonly calendar: Calendar;
}

/** A year without a map for each of its days. */
export interface IncompleteYear {
  readonly year: number;
  /** The first and the last day that have a map. */
  readonly firstDay: string;
  readonly lastDay: string;
  readonly dayCount: number;
  readonly absentCount: number;
  readonly firstAbsentDay: string;
  /** The file with the last day. */
  readonly file: string;
}

/** The days of a series by year. */
export interface DatedSeries {
  readonly years: readonly YearOfDays[];
  readonly incompleteYears: readonly IncompleteYear[];
  readonly calendar: Calendar;
}

/**
 * Returns the days of each year in ascending order, and the years with absent days.
 * @throws Fault `source_invalid` for maps without dates, files with different calendars, repeated days and absent years
 */
export function yearsOfDays(
  parts: readonly Raster[],
  maps: readonly SeriesMap[],
  { range, declared }: { readonly range: YearRange; readonly declared: DeclaredDates },
): DatedSeries {
  const { calendar, dates } = datesOf(parts, maps, declared);
  const years = new Map<number, Map<string, SeriesMap>>();
  for (const [index, map] of maps.entries()) {
    const date = dates[index] ?? "";
    const year = Number(date.slice(0, 4));
    const days = years.get(year) ?? new Map<string, SeriesMap>();
    years.set(year, days);
    const other = days.get(date);
    if (other !== undefined) {
      throw sourceFault(
        fileOf(parts, map),
        `has a second map for ${date} (the first is band ${other.band} of ${fileOf(parts, other)}). One map a day is expected.`,
      );
    }
    days.set(date, map);
  }
  const used = usedYears([...years.keys()], range, parts[0]?.file ?? "").map((year) => {
    const inOrder = [...(years.get(year) ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return { year, inOrder };
  });
  return {
    calendar,
    years: used.map(({ year, inOrder }) => ({ year, days: runsOf(inOrder.map(([, map]) => map)) })),
    incompleteYears: used.flatMap(({ year, inOrder }) => {
      const [first, last] = [inOrder[0], inOrder.at(-1)];
      const expected = datesOfYear(calendar, year);
      const present = new Set(inOrder.map(([date]) => date));
      const absent = expected.filter((date) => !present.has(date));
      const [firstAbsentDay] = absent;
      if (first === undefined || last === undefined || firstAbsentDay === undefined) return [];
      const [firstDay, lastDay] = [first[0], last[0]];
      const counts = { dayCount: expected.length, absentCount: absent.length };
      return [{ year, firstDay, lastDay, ...counts, firstAbsentDay, file: fileOf(parts, last[1]) }];
    }),
  };
}

/** Describes a year with absent days, as part of a message. */
export function describeIncomplete({
  year,
  firstDay,
  lastDay,
  dayCount,
  absentCount,
  firstAbsentDay,
}: IncompleteYear): string {
  return (
    `the series has ${dayCount - absentCount} of the ${dayCount} days of ${year}, the first ${firstDay} and the last ${lastDay}; ` +
    `${firstAbsentDay} is the first absent day.`
  );
}

/** Returns the date of each map, and the calendar that all of them follow. */
function datesOf(
  parts: readonly Raster[],
  maps: readonly SeriesMap[],
  { firstDay, calendar: declaredCalendar }: DeclaredDates,
): { readonly calendar: Calendar; readonly dates: readonly string[] } {
  const dated = maps.find(({ date }) => date !== undefined);
  if (firstDay !== undefined) {
    if (dated !== undefined)
      throw sourceFault(fileOf(parts, dated), "states the dates of its maps; omit first_day and calendar.");
    const first = dateOfText(declaredCalendar, firstDay);
    if (first === undefined) throw new Error(`The calendar ${declaredCalendar} has no day ${firstDay}.`);
    return { calendar: declaredCalendar, dates: datesFrom(declaredCalendar, first, maps.length) };
  }
  const undated = maps.find(({ date }) => date === undefined);
  if (undated !== undefined) {
    throw sourceFault(
      fileOf(parts, undated),
      `states no date for band ${undated.band}. Daily maps need a dimension with times (days or hours since a date), or the date of the first map in first_day.`,
    );
  }
  const [first, ...others] = parts;
  const calendarOf = ({ bandCalendar = "standard" }: Raster): Calendar => bandCalendar;
  const calendar = first === undefined ? declaredCalendar : calendarOf(first);
  const other = others.find((part) => daysAreOther(calendarOf(part), calendar));
  if (other !== undefined) {
    throw sourceFault(
      other.file,
      `has the calendar ${calendarOf(other)}, but ${first?.file} has ${calendar}. The files of a series must have one calendar.`,
    );
  }
  return { calendar, dates: maps.map(({ date = "" }) => date) };
}

/** Returns whether two calendars have different days; the supported dates of the first two are the same. */
function daysAreOther(a: Calendar, b: Calendar): boolean {
  const nameOf = (calendar: Calendar): string => (calendar === "proleptic_gregorian" ? "standard" : calendar);
  return nameOf(a) !== nameOf(b);
}

/**
 * Returns one map for each year in ascending order; without dates, every map is a year, and `year` is undefined.
 * @throws Fault `source_invalid` for several maps of a year, and absent years
 */
export function mapsByYear(
  parts: readonly Raster[],
  maps: readonly SeriesMap[],
  range: YearRange,
): readonly (SeriesMap & { readonly year: number | undefined })[] {
  const file = parts[0]?.file ?? "";
  const dated = maps.filter(({ date }) => date !== undefined);
  if (dated.length === 0) {
    if (range === undefined) return maps.map((map) => ({ ...map, year: undefined }));
    throw sourceFault(file, "states no dates of its maps, so years cannot be selected. Omit years.");
  }
  if (dated.length < maps.length) throw sourceFault(file, "only some of the maps of the series have a date.");
  const years = new Map<number, SeriesMap>();
  for (const map of maps) {
    const year = Number(map.date?.slice(0, 4));
    if (years.has(year)) {
      throw sourceFault(
        fileOf(parts, map),
        `has a second map for ${year} (${map.date}). Annual indicators have one map a year; use daily for a daily series.`,
      );
    }
    years.set(year, map);
  }
  return usedYears([...years.keys()], range, file).map((year) => ({ ...(years.get(year) as SeriesMap), year }));
}

function fileOf(parts: readonly Raster[], { part }: SeriesMap): string {
  return parts[part]?.file ?? "";
}

function usedYears(years: readonly number[], range: YearRange, file: string): readonly number[] {
  const all = years.toSorted((a, b) => a - b);
  if (range === undefined) return all;
  const [first, last] = range;
  const absent = Array.from({ length: last - first + 1 }, (_, i) => first + i).filter((year) => !all.includes(year));
  if (absent.length > 0) {
    const available = all.length === 0 ? "none" : `${all[0]} to ${all.at(-1)}`;
    throw sourceFault(file, `the series lacks the years ${absent.join(", ")} of years; it has ${available}.`);
  }
  return all.filter((year) => year >= first && year <= last);
}

/** Describes years in the provenance: `1991-2020`, or `1991-1995, 1997`. */
export function describeYears(years: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const year of years) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === year - 1) last[1] = year;
    else runs.push([year, year]);
  }
  return runs.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(", ");
}
