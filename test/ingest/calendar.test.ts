import { describe, expect, test } from "vitest";
import {
  type Calendar,
  calendarNamed,
  dateOfText,
  datesFrom,
  datesOfYear,
  dateText,
  fixedDateOf,
  fixedDayNumber,
  fixedMonthDays,
} from "../../src/ingest/calendar.ts";
import { timeFormatter } from "../../src/ingest/readers/arrays/selection.ts";

const DAYS_OF_YEARS: readonly (readonly [Calendar, number, number])[] = [
  ["standard", 1991, 365],
  ["standard", 1992, 366],
  ["standard", 1900, 365],
  ["standard", 2000, 366],
  ["proleptic_gregorian", 2100, 365],
  ["noleap", 1992, 365],
  ["all_leap", 1991, 366],
  ["360_day", 1992, 360],
];

describe("datesOfYear", () => {
  test.each(DAYS_OF_YEARS)("has the days of %s %i", (calendar, year, dayCount) => {
    const dates = datesOfYear(calendar, year);
    expect(dates).toHaveLength(dayCount);
    expect(new Set(dates).size).toBe(dayCount);
    expect(dates).toEqual(dates.toSorted());
    expect(dates.every((date) => dateOfText(calendar, date) !== undefined)).toBe(true);
  });
});

describe("datesFrom", () => {
  test.each(["standard", "proleptic_gregorian", "noleap", "all_leap", "360_day"] as const)(
    "gives the dates of consecutive years of %s, which the times of a file have, too",
    (calendar) => {
      const years = [1999, 2000, 2001, 2002, 2003, 2004];
      const expected = years.flatMap((year) => datesOfYear(calendar, year));
      expect(datesFrom(calendar, { year: 1999, month: 1, day: 1 }, expected.length)).toEqual(expected);
      const format = timeFormatter("days since 1999-01-01", calendar);
      expect(expected.map((_, day) => format(day).slice(0, 10))).toEqual(expected);
    },
  );

  test("begins in the middle of a month", () => {
    expect(datesFrom("360_day", { year: 1999, month: 12, day: 29 }, 3)).toEqual([
      "1999-12-29",
      "1999-12-30",
      "2000-01-01",
    ]);
    expect(datesFrom("noleap", { year: 2000, month: 2, day: 28 }, 2)).toEqual(["2000-02-28", "2000-03-01"]);
  });
});

describe("dateOfText", () => {
  test.each([
    ["standard", "1991-02-29"],
    ["noleap", "1992-02-29"],
    ["360_day", "1992-01-31"],
    ["all_leap", "1991-02-30"],
    ["standard", "1991-13-01"],
    ["standard", "1991-00-10"],
    ["standard", "1991-01-00"],
    ["standard", "1991-1-1"],
  ] as const)("returns undefined if %s has no day %s", (calendar, text) => {
    expect(dateOfText(calendar, text)).toBeUndefined();
  });

  test.each([
    ["standard", "1992-02-29"],
    ["all_leap", "1991-02-29"],
    ["360_day", "1991-02-30"],
  ] as const)("accepts %s %s", (calendar, text) => {
    const date = dateOfText(calendar, text);
    expect(date === undefined ? undefined : dateText(date)).toBe(text);
  });
});

test("day numbers of calendars with equal years are consecutive", () => {
  for (const calendar of ["noleap", "all_leap", "360_day"] as const) {
    const monthDays = fixedMonthDays(calendar) ?? [];
    const dates = [1999, 2000].flatMap((year) => datesOfYear(calendar, year));
    const first = fixedDayNumber({ year: 1999, month: 1, day: 1 }, monthDays);
    expect(dates.map((_, index) => dateText(fixedDateOf(first + index, monthDays)))).toEqual(dates);
  }
});

test("calendars have the names of the CF conventions", () => {
  expect([undefined, "Gregorian", "365_day", "366_day", "360_day", "julian"].map(calendarNamed)).toEqual([
    "standard",
    "standard",
    "noleap",
    "all_leap",
    "360_day",
    undefined,
  ]);
});
