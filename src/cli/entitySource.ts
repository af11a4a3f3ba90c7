import { FAULT_ITEM_COUNT_MAX, Fault, type FaultCode } from "../errors.ts";
import { summarizeItems } from "../validation/schemaErrors.ts";

/** Entities of a file, read in chunks so that memory does not grow with the length of the file. */
export interface EntitySource {
  /** CSV only: the columns of the file, in order. */
  readonly columnNames?: readonly string[];
  readonly chunks: AsyncIterable<EntityChunk>;
}

export interface EntityChunk {
  /** Entities as read from the file, not yet validated. */
  readonly entities: readonly unknown[];
  /** CSV only: the rows of the file, one per projected year, in the order of `entities`. */
  readonly rows?: readonly (readonly string[])[];
  /** Errors found so far: those of the file format, and those of entities that the reader of the chunks adds. */
  readonly faults: FaultCollector;
  /** Converts a JSON pointer into `entities` to a location in the file. */
  locationOf(pointer: string): SourceLocation;
}

export interface SourceLocation {
  /** Counted from 1. */
  readonly line: number;
  /** CSV only: the name of the column. */
  readonly column?: string;
  /** JSON pointer, relative to the list (JSON) or to the line (NDJSON). */
  readonly pointer?: string;
}

/** Collects the errors of a file so that they can be reported together. */
export class FaultCollector {
  readonly #faults: { readonly location: SourceLocation; readonly detail: string }[] = [];

  get count(): number {
    return this.#faults.length;
  }

  add(location: SourceLocation, detail: string): void {
    if (this.#faults.length < FAULT_ITEM_COUNT_MAX) this.#faults.push({ location, detail });
  }

  /** @throws Fault with the errors added, at most 100, sorted by line */
  throwIfAny(code: FaultCode = "invalid_request"): void {
    if (this.#faults.length === 0) return;
    const items = this.#faults
      .toSorted((first, second) => first.location.line - second.location.line)
      .map(({ location: { line, column, pointer }, detail }) => {
        const locationInLine = column === undefined ? (pointer ?? "") : `column ${column}`;
        return {
          pointer: "",
          code: "malformed" as const,
          detail: `line ${line}${locationInLine === "" ? "" : `, ${locationInLine}`}: ${detail}`,
        };
      });
    throw new Fault(code, summarizeItems(items, "the file"), { items });
  }
}
