/** Maps codes of classifications that are not part of the project to industries, with a table of the caller. */
import { Fault, FAULT_ITEM_COUNT_MAX } from "../errors.ts";
import type { ListedIndustry } from "./industries.ts";
import { matchIndustry } from "./industryNames.ts";
import { refuseIndustry } from "./industrySuggestions.ts";

/** A row of a CSV file. */
export interface IndustryMapRow {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface IndustryMap {
  /**
   * Returns the industry of a code, or undefined if no row has it for this system. Without a system, the rows of all
   * systems are used if they agree.
   */
  readonly find: (code: string, system?: string) => ListedIndustry | undefined;
  /**
   * Returns the industries that the rows of several systems give to a code, with the systems; empty if the rows agree or
   * one of them is valid for all systems.
   */
  readonly contradictions: (code: string) => readonly string[];
  /** Number of codes. */
  readonly codeCount: number;
}

interface MappedCode {
  readonly code: string;
  /** Empty for a row that is valid for all systems. */
  readonly system: string;
  readonly industry: ListedIndustry;
  readonly line: number;
}

const REQUIRED_COLUMNS = ["code", "industry"] as const;
const COLUMNS = [...REQUIRED_COLUMNS, "system"] as const;
type Column = (typeof COLUMNS)[number];

/**
 * Reads a map from the rows of a CSV file with the columns `code`, `industry` and, optionally, `system`. Codes and
 * systems are compared ignoring case and surrounding spaces. A row without a system is valid for all systems that have no
 * row of their own for the code.
 *
 * @throws Fault `invalid_request` with every error: columns, empty cells, duplicate codes, unknown industries
 */
export function readIndustryMap([header, ...rows]: readonly IndustryMapRow[]): IndustryMap {
  const errors = new MapErrors();
  const indices = readHeader(header, errors);
  const industries = new Map<string, MappedCode>();
  for (const { line, cells } of rows) {
    if (header !== undefined && cells.length !== header.cells.length) {
      errors.add(line, undefined, `the row has ${cells.length} cells, but the header has ${header.cells.length}`);
      continue;
    }
    const cell = (column: Column): string => cells[indices[column]]?.trim() ?? "";
    const key = keyOf(cell("code"), cell("system"));
    if (cell("code") === "") errors.add(line, "code", "the code is empty");
    const known = industries.get(key);
    if (known !== undefined) {
      errors.add(line, "code", `${quoted(cell("code"))} is already in line ${known.line}; give each code one industry`);
    }
    const industry = readIndustry(cell("industry"), line, errors);
    if (industry !== undefined && known === undefined)
      industries.set(key, { code: foldCode(cell("code")), system: cell("system"), industry, line });
  }
  if (rows.length === 0) errors.add(header?.line ?? 1, undefined, "the file has no rows after the header");
  errors.throwIfAny();
  const rowsByCode = new Map<string, readonly MappedCode[]>();
  for (const mapped of industries.values()) {
    rowsByCode.set(mapped.code, [...(rowsByCode.get(mapped.code) ?? []), mapped]);
  }
  const contradicting = (code: string): readonly MappedCode[] => {
    const found = rowsByCode.get(foldCode(code)) ?? [];
    const isDecided =
      found.some(({ system }) => system === "") || new Set(found.map(({ industry }) => industry)).size < 2;
    return isDecided ? [] : found;
  };
  return {
    codeCount: industries.size,
    find: (code, system = "") =>
      (industries.get(keyOf(code, system)) ?? industries.get(keyOf(code, "")))?.industry ??
      (system === "" && contradicting(code).length === 0 ? rowsByCode.get(foldCode(code))?.[0]?.industry : undefined),
    contradictions: (code) => contradicting(code).map(({ industry, system }) => `${industry.name} (${system})`),
  };
}

/** Returns the name of the industry of a code, or the text itself if the map does not have it. */
export function mapIndustryText(map: IndustryMap, industry: string, system?: string): string {
  return map.find(industry, system)?.name ?? industry;
}

function keyOf(code: string, system: string): string {
  return JSON.stringify([foldCode(code), foldCode(system)]);
}

function foldCode(text: string): string {
  return text.trim().toLowerCase();
}

function readHeader(header: IndustryMapRow | undefined, errors: MapErrors): Readonly<Record<Column, number>> {
  const names = (header?.cells ?? []).map((name) => name.trim().toLowerCase());
  const line = header?.line ?? 1;
  for (const [index, name] of names.entries()) {
    if (!COLUMNS.some((known) => known === name)) {
      errors.add(line, undefined, `the column ${quoted(name)} is unknown; accepted columns: ${COLUMNS.join(", ")}`);
    } else if (names.indexOf(name) < index) errors.add(line, name, "duplicate column");
  }
  for (const name of REQUIRED_COLUMNS) if (!names.includes(name)) errors.add(line, name, "the column is missing");
  errors.throwIfAny();
  return { code: names.indexOf("code"), industry: names.indexOf("industry"), system: names.indexOf("system") };
}

function readIndustry(text: string, line: number, errors: MapErrors): ListedIndustry | undefined {
  if (text === "") {
    errors.add(line, "industry", "the industry is empty");
    return undefined;
  }
  const match = matchIndustry(text);
  if (match.kind === "found") return match.industry;
  errors.add(line, "industry", `${quoted(text)} ${refuseIndustry(text, match).problem}`);
  return undefined;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

class MapErrors {
  readonly #details: string[] = [];

  add(line: number, column: string | undefined, detail: string): void {
    if (this.#details.length >= FAULT_ITEM_COUNT_MAX) return;
    this.#details.push(`line ${line}${column === undefined ? "" : `, column ${column}`}: ${detail}.`);
  }

  throwIfAny(): void {
    if (this.#details.length === 0) return;
    const items = this.#details.map((detail) => ({ pointer: "", code: "malformed" as const, detail }));
    throw new Fault("invalid_request", items.length === 1 ? "1 error." : `${items.length} errors.`, { items });
  }
}
