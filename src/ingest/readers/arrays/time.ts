/** Converts CF times, such as 18262 in `days since 1970-01-01`, to dates. */
import {
  ACCEPTED_CALENDARS,
  calendarNamed,
  dateText,
  fixedDateOf,
  fixedDayNumber,
  fixedMonthDays,
} from "../../calendar.ts";

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
export function isTimeUnit(unit: string): boolean {
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
