import { Fault } from "../../errors.ts";
import type { KeptColumn, KeptValue } from "../scores/placeBlock.ts";
import { memberTexts } from "./jsonRecords.ts";

export type Members = Readonly<Record<string, unknown>>;

/** `long` are integers beyond 2^53, within 64 bits. */
type MemberType = Exclude<KeptColumn["type"], `timestamp${string}`> | "long";

const COLUMN_COUNT_MAX = 5000;
const INT64_MAX = 2n ** 63n - 1n;

/** Finds integers that a number may not represent, also in texts. */
const LONG_INTEGER = /[:,[\s-]\d{16}/;

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns the members of a JSON object without loss: integers beyond 2^53 become bigint, and objects and lists become
 * their text if it may contain such integers.
 *
 * @param text the text of the object
 */
export function exactMembers(text: string, members: Members): Members {
  if (!mayLoseDigits(members) || !LONG_INTEGER.test(text)) return members;
  const exact = Object.create(null) as Record<string, unknown>;
  for (const [name, memberText] of memberTexts(text)) {
    const value = members[name];
    if (typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(memberText)) {
      exact[name] = BigInt(memberText);
    } else exact[name] = typeof value === "object" && value !== null ? memberText : value;
  }
  return exact;
}

/** Returns whether the value of a member may differ from its text: a large integer, or a list or object with one. */
export function mayLoseDigits(members: Members): boolean {
  for (const name of Object.keys(members)) {
    const value = members[name];
    if (typeof value === "number" ? !Number.isSafeInteger(value) && Number.isInteger(value) : isComposite(value)) {
      return true;
    }
  }
  return false;
}

function isComposite(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** The union of the members of the places of a file, with a type for all values of each. */
export class MemberColumns {
  readonly #types = new Map<string, MemberType | undefined>();

  /** @throws Fault `invalid_request` if there are too many different names */
  add(members: Members): void {
    for (const name of Object.keys(members)) {
      const type = typeOf(members[name]);
      const known = this.#types.get(name);
      if (known === undefined) {
        this.#types.set(name, type);
        if (this.#types.size <= COLUMN_COUNT_MAX) continue;
        const message = `The places have more than ${COLUMN_COUNT_MAX} different members; each becomes a column.`;
        throw new Fault("invalid_request", message);
      }
      if (type !== undefined && type !== known) this.#types.set(name, commonType(known, type));
    }
  }

  /** Columns in the order in which the members first occur. Members that are always null are text. */
  get columns(): readonly KeptColumn[] {
    return [...this.#types].map(([name, type]) => ({ name, type: type === "long" ? "integer" : (type ?? "text") }));
  }
}

function typeOf(value: unknown): MemberType | undefined {
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
      return Number.isSafeInteger(value) ? "integer" : "number";
    case "bigint":
      return value <= INT64_MAX && value >= -INT64_MAX - 1n ? "long" : "text";
    default:
      return value === null ? undefined : "text";
  }
}

function commonType(one: MemberType, other: MemberType): MemberType {
  const types = [one, other];
  if (!types.includes("integer")) return "text";
  return types.find((type) => type === "long" || type === "number") ?? "text";
}

/** Converts a member to the type of its column. Values without a simpler type become JSON text. */
export function keptValueOf(value: unknown, type: KeptColumn["type"]): KeptValue {
  if (value === null || value === undefined) return null;
  if (type !== "text" || typeof value === "string") return value as KeptValue;
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}
