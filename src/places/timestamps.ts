/** Timestamps of kept columns: numbers of units since 1970, in UTC or without a time zone. */
import type { KeptColumn } from "./scores/placeBlock.ts";

type TimestampType = Extract<KeptColumn["type"], `timestamp${string}`>;
type TimeUnit = "MILLIS" | "MICROS" | "NANOS";

/** Names of the units in Parquet and in the types of columns, and digits of the fraction of a second. */
const UNITS = [
  { unit: "MILLIS", name: "ms", digits: 3 },
  { unit: "MICROS", name: "us", digits: 6 },
  { unit: "NANOS", name: "ns", digits: 9 },
] as const;

/** The last second that Date represents, on both sides of 1970. */
const DATE_SECONDS_MAX = 8_640_000_000_000n;

interface Timestamp {
  readonly unit: TimeUnit;
  readonly digits: number;
  readonly isUtc: boolean;
}

const TIMESTAMPS = new Map<KeptColumn["type"], Timestamp>(
  UNITS.flatMap(({ unit, name, digits }) => [
    [`timestamp[${name}]`, { unit, digits, isUtc: false }],
    [`timestamp[${name}, UTC]`, { unit, digits, isUtc: true }],
  ]),
);

export function timestampType(unit: TimeUnit, isUtc: boolean): TimestampType {
  for (const [type, timestamp] of TIMESTAMPS) {
    if (timestamp.unit === unit && timestamp.isUtc === isUtc) return type as TimestampType;
  }
  throw new Error(`The unit ${unit} is unknown.`);
}

/** Returns the unit and the time zone of a column; undefined if it has no timestamps. */
export function timestampOf(type: string): Timestamp | undefined {
  return TIMESTAMPS.get(type as KeptColumn["type"]);
}

/**
 * Returns a timestamp in the notation of ISO 8601, with all digits of its unit and with Z if it is in UTC. Times that are not
 * between the years -271821 and 275760 are written as the number, because they usually represent infinity.
 */
export function timestampText(value: bigint, { digits, isUtc }: Omit<Timestamp, "unit">): string {
  const perSecond = 10n ** BigInt(digits);
  const fraction = ((value % perSecond) + perSecond) % perSecond;
  const seconds = (value - fraction) / perSecond;
  if (seconds >= DATE_SECONDS_MAX || seconds < -DATE_SECONDS_MAX) return String(value);
  const text = new Date(Number(seconds) * 1000).toISOString().replace(/\.000Z$/, "");
  return `${text}.${String(fraction).padStart(digits, "0")}${isUtc ? "Z" : ""}`;
}
