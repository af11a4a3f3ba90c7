/** Assigns the maps of a series to years by their dates, and finds days that are absent. */
import type { YearOfDays } from "../computedMethod.ts";
import { type Raster, sourceFault } from "../raster.ts";
import { runsOf, type SeriesMap } from "./seriesFiles.ts";

/** The years of a series to use; undefined uses all. */
export type YearRange = readonly [first: number, last: number] | undefined;

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Returns the days of each year in ascending order.
 *
 * @param options `firstDay`: date of the first map, for files that state no dates; `isAbsentAllowed`: whether days may be absent
 * @throws Fault `source_invalid` for maps without dates, repeated days, absent years and absent days
 */
export function yearsOfDays(
  parts: readonly Raster[],
  maps: readonly SeriesMap[],
  {
    range,
    firstDay,
    isAbsentAllowed,
  }: { readonly range: YearRange; readonly firstDay: string | undefined; readonly isAbsentAllowed: boolean },
): readonly YearOfDays[] {
  const years = new Map<number, Map<string, SeriesMap>>();
  for (const [index, map] of maps.entries()) {
    const file = parts[map.part]?.file ?? "";
    if (firstDay !== undefined && map.date !== undefined)
      throw sourceFault(file, "states the dates of its maps; omit first_day.");
    const date = map.date ?? (firstDay === undefined ? undefined : dayAfter(firstDay, index));
    if (date === undefined) {
      throw sourceFault(
        file,
        `states no date for band ${map.band}. Daily maps need a dimension with times (days or hours since a date), or the date of the first map in first_day.`,
      );
    }
    const year = Number(date.slice(0, 4));
    const days = years.get(year) ?? new Map<string, SeriesMap>();
    years.set(year, days);
    const other = days.get(date);
    if (other !== undefined) {
      throw sourceFault(
        file,
        `has a second map for ${date} (the first is band ${other.band} of ${parts[other.part]?.file}). One map a day is expected.`,
      );
    }
    days.set(date, map);
  }
  const [first] = parts;
  const used = usedYears([...years.keys()], range, first?.file ?? "");
  return used.map((year) => {
    const days = years.get(year) ?? new Map<string, SeriesMap>();
    const absent = absentDays(year, days);
    if (absent.length > 0 && !isAbsentAllowed) {
      throw sourceFault(
        first?.file ?? "",
        `the series lacks ${absent.length} of the days of ${year}, first ${absent[0]}. Leave out the year with "years", or count absent and ` +
          'missing days as days without danger with "missing_days": "no_danger".',
      );
    }
    const inOrder = [...days].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, map]) => map);
    return { year, days: runsOf(inOrder) };
  });
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
        parts[map.part]?.file ?? file,
        `has a second map for ${year} (${map.date}). Annual indicators have one map a year; use daily for a daily series.`,
      );
    }
    years.set(year, map);
  }
  return usedYears([...years.keys()], range, file).map((year) => ({ ...(years.get(year) as SeriesMap), year }));
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

/**
 * Returns the days of a year that are absent. A year may follow the calendar of climate models: without leap days, with a leap day in
 * every year, or with twelve months of 30 days.
 */
function absentDays(year: number, days: ReadonlyMap<string, unknown>): readonly string[] {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const calendar = (februaryDays: number): readonly string[] =>
    daysOf(year, (month) => (month === 1 ? februaryDays : (MONTH_DAYS[month] ?? 0)));
  const calendars = [calendar(isLeap ? 29 : 28), calendar(28), calendar(29), daysOf(year, () => 30)];
  const absent = calendars.map((expected) => ({
    expected,
    absent: expected.filter((day) => !days.has(day)),
  }));
  const fitting = absent.filter(({ expected, absent: gaps }) => expected.length - gaps.length === days.size);
  return fitting.map(({ absent: gaps }) => gaps).toSorted((a, b) => a.length - b.length)[0] ?? absent[0]?.absent ?? [];
}

function daysOf(year: number, dayCount: (month: number) => number): readonly string[] {
  const two = (value: number): string => String(value).padStart(2, "0");
  const name = String(year).padStart(4, "0");
  return Array.from({ length: 12 }, (_, month) =>
    Array.from({ length: dayCount(month) }, (_, day) => `${name}-${two(month + 1)}-${two(day + 1)}`),
  ).flat();
}

function dayAfter(date: string, dayCount: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + dayCount * 86_400_000).toISOString().slice(0, 10);
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
