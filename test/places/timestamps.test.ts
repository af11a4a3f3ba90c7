import { describe, expect, test } from "vitest";
import { columnTypeOf } from "../../src/places/readers/parquetColumnTypes.ts";
import { timestampOf, timestampText, timestampType } from "../../src/places/timestamps.ts";

const text = (value: bigint, type: string): string => {
  const timestamp = timestampOf(type);
  if (timestamp === undefined) throw new Error(type);
  return timestampText(value, timestamp);
};

describe("the text of a timestamp", () => {
  test.each([
    [0n, "timestamp[ms, UTC]", "1970-01-01T00:00:00.000Z"],
    [-1n, "timestamp[ms]", "1969-12-31T23:59:59.999"],
    [-1n, "timestamp[us, UTC]", "1969-12-31T23:59:59.999999Z"],
    [-1n, "timestamp[ns]", "1969-12-31T23:59:59.999999999"],
    [1_700_000_000_123_456_789n, "timestamp[ns, UTC]", "2023-11-14T22:13:20.123456789Z"],
    [253_402_300_800_000n, "timestamp[ms]", "+010000-01-01T00:00:00.000"],
    [2n ** 63n - 1n, "timestamp[us]", "9223372036854775807"],
    [-(2n ** 63n), "timestamp[ms, UTC]", "-9223372036854775808"],
  ] as const)("of %i as %s is %s", (value, type, expected) => {
    expect(text(value, type)).toBe(expected);
  });

  test("of milliseconds is that of JavaScript", () => {
    for (let ms = -1e13; ms < 1e13; ms += 99_999_999_977) {
      expect(text(BigInt(ms), "timestamp[ms, UTC]")).toBe(new Date(ms).toISOString());
    }
  });
});

test("the type of a timestamp states its unit and whether it is in UTC", () => {
  for (const unit of ["MILLIS", "MICROS", "NANOS"] as const) {
    for (const isUtc of [false, true]) expect(timestampOf(timestampType(unit, isUtc))).toMatchObject({ unit, isUtc });
  }
  expect(timestampOf("integer")).toBeUndefined();
});

test("INT96 becomes text with nanoseconds, also in years that 64 bits cannot hold", () => {
  const { type, convert } = columnTypeOf({ name: "time", type: "INT96" }) ?? {};
  expect(type).toBe("text");
  expect(convert?.(253_402_214_400_000_000_001n)).toBe("9999-12-31T00:00:00.000000001");
});
