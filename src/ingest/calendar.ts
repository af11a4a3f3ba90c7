/** The calendars of the CF conventions: names, days of a year, and dates written as YYYY-MM-DD. */

/** `standard` is Julian before 1582-10-15; such dates are not supported. In the last three, every year has the same days. */
export type Calendar = "standard" | "proleptic_gregorian" | "noleap" | "all_leap" | "360_day";

const CALENDAR_NAMES: Readonly<Record<string, Calendar>> = {
  standard: "standard",
  gregorian: "standard",
  proleptic_gregorian: "proleptic_gregorian",
  noleap: "noleap",
  "365_day": "noleap",
  all_leap: "all_leap",
  "366_day": "all_leap",
  "360_day": "360_day",
};

/** Names of calendars as files write them. */
export const ACCEPTED_CALENDARS: readonly string[] = Object.keys(CALENDAR_NAMES);

const NOLEAP_MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const LEAP_MONTH_DAYS = NOLEAP_MONTH_DAYS.map((days, month) => (month === 1 ? 29 : days));

/** Days of each month, for calendars in which every year is the same. */
const FIXED_MONTH_DAYS: Readonly<Partial<Record<Calendar, readonly number[]>>> = {
  noleap: NOLEAP_MONTH_DAYS,
  all_leap: LEAP_MONTH_DAYS,
  "360_day": Array.from({ length: 12 }, () => 30),
};

/** A day of a calendar; months and days count from 1. */
export interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Returns the calendar that a file names; undefined if it is not supported. */
export function calendarNamed(name: string | undefined): Calendar | undefined {
  return CALENDAR_NAMES[(name ?? "standard").toLowerCase()];
}

/** Returns the days of each month if they are the same in every year, undefined otherwise. */
export function fixedMonthDays(calendar: Calendar): readonly number[] | undefined {
  return FIXED_MONTH_DAYS[calendar];
}

/** Returns the days of each month of a year. */
function monthDaysOf(calendar: Calendar, year: number): readonly number[] {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return fixedMonthDays(calendar) ?? (isLeap ? LEAP_MONTH_DAYS : NOLEAP_MONTH_DAYS);
}

/** Returns a date as YYYY-MM-DD. */
export function dateText({ year, month, day }: CalendarDate): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
}

/** Parses YYYY-MM-DD; undefined if the calendar has no such day. */
export function dateOfText(calendar: Calendar, text: string): CalendarDate | undefined {
  const [year = NaN, month = NaN, day = NaN] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.slice(1).map(Number) ?? [];
  return day >= 1 && day <= (monthDaysOf(calendar, year)[month - 1] ?? 0) ? { year, month, day } : undefined;
}

/** Returns all dates of a year. */
export function datesOfYear(calendar: Calendar, year: number): readonly string[] {
  return monthDaysOf(calendar, year).flatMap((dayCount, month) =>
    Array.from({ length: dayCount }, (_, day) => dateText({ year, month: month + 1, day: day + 1 })),
  );
}

/** Returns consecutive dates. */
export function datesFrom(calendar: Calendar, first: CalendarDate, count: number): readonly string[] {
  const dates: string[] = [];
  let { year, month, day } = first;
  while (dates.length < count) {
    dates.push(dateText({ year, month, day }));
    day++;
    if (day <= (monthDaysOf(calendar, year)[month - 1] ?? 0)) continue;
    day = 1;
    month = (month % 12) + 1;
    if (month === 1) year++;
  }
  return dates;
}

/** Returns the number of a day in a calendar in which every year has the same months. */
export function fixedDayNumber({ year, month, day }: CalendarDate, monthDays: readonly number[]): number {
  return year * sum(monthDays) + sum(monthDays.slice(0, month - 1)) + day - 1;
}

/** Returns the date of a day number of `fixedDayNumber`. */
export function fixedDateOf(dayNumber: number, monthDays: readonly number[]): CalendarDate {
  const daysOfYear = sum(monthDays);
  const year = Math.floor(dayNumber / daysOfYear);
  let day = dayNumber - year * daysOfYear;
  let month = 0;
  while (day >= (monthDays[month] ?? Infinity)) day -= monthDays[month++] ?? 0;
  return { year, month: month + 1, day: day + 1 };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
