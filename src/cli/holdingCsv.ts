/** Reads the rows of a file of holdings, and finds the companies that they refer to. */
import { closestMatch } from "../validation/closestMatch.ts";
import { quote } from "../validation/schemaErrors.ts";
import { parseNumber } from "../validation/parameters.ts";
import { PORTFOLIO_SCOPES } from "../contract/names.ts";
import { type CsvRow, parseCsvRows } from "../text/csv.ts";
import { type EntitySource, FaultCollector, type SourceLocation } from "./entitySource.ts";
import type { Entity, Holding } from "../contract/wireTypes.ts";
import { FAULT_ITEM_COUNT_MAX } from "../errors.ts";

/** A column of a file of holdings and the member that it maps to. */
interface Column {
  readonly name: string;
  /** JSON pointer into a holding. */
  readonly pointer: string;
  readonly isNumber?: true;
}

const NUMBERS = [
  "value",
  "scope1",
  "scope2",
  "scope3",
  "market_cap",
  "enterprise_value",
  "cash",
  "evic",
  "total_assets",
  "revenue",
  "equity",
  "debt",
];

/** Columns that a file may have; `id` and `value` are required. */
const HOLDING_CSV_COLUMNS: readonly Column[] = [
  { name: "id", pointer: "/id" },
  { name: "issuer", pointer: "/issuer" },
  { name: "company", pointer: "/entity" },
  { name: "currency", pointer: "/currency" },
  ...NUMBERS.map((name): Column => ({ name, pointer: `/${name}`, isNumber: true })),
  ...PORTFOLIO_SCOPES.flatMap((scope): Column[] => [
    { name: `temperature_${scope}`, pointer: `/temperature/${scope}/t`, isNumber: true },
    { name: `temperature_${scope}_low`, pointer: `/temperature/${scope}/low`, isNumber: true },
    { name: `temperature_${scope}_high`, pointer: `/temperature/${scope}/high`, isNumber: true },
  ]),
  { name: "data_quality_s1s2", pointer: "/data_quality/s1s2", isNumber: true },
  { name: "data_quality_s3", pointer: "/data_quality/s3", isNumber: true },
  { name: "budget_allowed", pointer: "/budget/allowed", isNumber: true },
  { name: "budget_projected", pointer: "/budget/projected", isNumber: true },
];
/** The columns of a file of holdings. */
const HOLDING_COLUMN_NAMES: readonly string[] = HOLDING_CSV_COLUMNS.map(({ name }) => name);
const REQUIRED_NAMES = ["id", "value"];
/** Text of a score cell for a holding that has no score and refers to no company. */
const NO_SCORE = "none";

/** Holdings of a file, not yet validated. */
export interface HoldingSource {
  /** Name of the company of each holding, if its column is not empty. */
  readonly companies: readonly (string | undefined)[];
  readonly holdings: readonly Readonly<Record<string, unknown>>[];
  /** Converts a JSON pointer such as `/holdings/0/value` to a location in the file. */
  locationOf(pointer: string): SourceLocation;
}

/**
 * Reads holdings from CSV (RFC 4180, commas, UTF-8, a header line): one row per line of the portfolio. An empty cell means
 * that the figure is not given.
 *
 * @param groupKeys columns that hold the groups of a holding
 * @throws Fault `invalid_request` with the location of every error of the file format
 */
export async function readHoldingCsv(
  chunks: AsyncIterable<string>,
  groupKeys: readonly string[],
): Promise<HoldingSource> {
  const rows: CsvRow[] = [];
  for await (const batch of parseCsvRows(chunks)) rows.push(...batch);
  const [head, ...lines] = rows;
  const names = (head?.cells ?? []).map((cell) => cell.trim());
  const faults = new FaultCollector();
  checkNames(names, groupKeys, faults);
  faults.throwIfAny();
  for (const row of lines) {
    if (row.cells.length === names.length) continue;
    const detail = `the row has ${row.cells.length} cells, but the header has ${names.length}.`;
    faults.add({ line: row.line }, detail);
  }
  faults.throwIfAny();
  const companyIndex = names.indexOf("company");
  return {
    companies: lines.map(({ cells }) => cells[companyIndex]?.trim() || undefined),
    holdings: lines.map(({ cells }) => holdingOf(names, cells, groupKeys)),
    locationOf: (pointer) => locationOf(lines, pointer),
  };
}

function checkNames(names: readonly string[], groupKeys: readonly string[], faults: FaultCollector): void {
  const reject = (column: string, detail: string): void => faults.add({ line: 1, column }, detail);
  for (const name of REQUIRED_NAMES) if (!names.includes(name)) reject(name, "the required column is missing.");
  for (const key of groupKeys) {
    if (names.includes(key)) continue;
    const suggestion = closestMatch(key, names);
    const hint = suggestion === undefined ? "." : `; did you mean ${quote(suggestion)}?`;
    reject(key, `the column to group by is missing${hint}`);
  }
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) < index) reject(name, "duplicate column.");
    else if (!HOLDING_COLUMN_NAMES.includes(name) && !groupKeys.includes(name)) {
      // Other columns are ignored, but a misspelled known column would silently leave out a figure.
      const suggestion = closestMatch(name, HOLDING_COLUMN_NAMES);
      if (suggestion === undefined || names.includes(suggestion)) continue;
      reject(name, `unknown column; did you mean ${suggestion}? Otherwise choose a less similar name.`);
    }
  }
}

/**
 * Builds a holding as in JSON, without spaces around its texts. Cells that are not numbers stay text, which validation
 * then rejects.
 */
function holdingOf(
  names: readonly string[],
  cells: readonly string[],
  groupKeys: readonly string[],
): Readonly<Record<string, unknown>> {
  const cellOf = (name: string): string => cells[names.indexOf(name)]?.trim() ?? "";
  const holding: Record<string, unknown> = {};
  for (const { name, pointer, isNumber } of HOLDING_CSV_COLUMNS) {
    const cell = cellOf(name);
    if (cell === "" || name === "company") continue;
    setAt(holding, pointer.slice(1).split("/"), isNumber === true ? parseNumber(cell) : cell);
  }
  const groups = groupKeys.flatMap((key) => {
    const group = cellOf(key);
    return group === "" ? [] : [[key, group] as const];
  });
  if (groups.length > 0) holding["groups"] = Object.fromEntries(groups);
  return withoutMissingScores(holding);
}

/** Replaces a score of `none` by null, as in JSON, unless it has an interval. */
function withoutMissingScores(holding: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { temperature } = holding as { readonly temperature?: Readonly<Record<string, { readonly t?: unknown }>> };
  if (temperature === undefined) return holding;
  const scores = Object.entries(temperature).map(([scope, score]) => {
    const isMissing = score.t === NO_SCORE && Object.keys(score).length === 1;
    return [scope, isMissing ? null : score] as const;
  });
  return { ...holding, temperature: Object.fromEntries(scores) };
}

function setAt(target: Record<string, unknown>, [first = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) target[first] = value;
  else setAt((target[first] ??= {}) as Record<string, unknown>, rest, value);
}

/** Converts a pointer to the line of its holding and the column of its member. */
function locationOf(lines: readonly CsvRow[], pointer: string): SourceLocation {
  const [, list = "", indexText = "", ...steps] = pointer.split("/");
  const row = list === "holdings" ? lines[Number(indexText)] : undefined;
  if (row === undefined) return { line: 1, pointer };
  const path = `/${steps.join("/")}`;
  const column =
    steps[0] === "groups"
      ? steps[1]
      : HOLDING_CSV_COLUMNS.find(({ pointer: known }) => known === path || known.startsWith(`${path}/`))?.name;
  const isKnown = steps.length > 0 && column !== undefined;
  return { line: row.line, ...(isKnown ? { column } : {}) };
}

/** Number of identifiers and names that are compared with one that is not found. */
const COMPARED_NAME_COUNT_MAX = 10_000;

/** Members of a row that is not yet validated. */
type Row = Readonly<Record<string, unknown>> & Partial<Pick<Holding, "id" | "issuer" | "temperature">>;

/**
 * Returns the company that each row refers to: its `company`, else, unless it has scores, its issuer or id. A further row
 * of an issuer refers to none, because only its value counts.
 */
export function companyReferences({ companies, holdings }: HoldingSource): readonly (string | undefined)[] {
  const issuers = new Set<string>();
  return (holdings as readonly Row[]).map(({ id, issuer, temperature }, index) => {
    const company = companies[index];
    const name = issuer ?? id;
    const isFurtherRow = name !== undefined && issuers.has(name);
    if (name !== undefined) issuers.add(name);
    if (company !== undefined) return company;
    return isFurtherRow || temperature !== undefined ? undefined : name;
  });
}

/**
 * Adds to each row the company that it refers to. A further row of an issuer that has neither a company nor scores gets
 * those of the first row.
 *
 * @param companies undefined if no file of companies was given
 * @throws Fault naming every row whose company is unknown or ambiguous
 */
export function resolveCompanies(
  source: HoldingSource,
  references: readonly (string | undefined)[],
  companies: { readonly index: CompanyIndex; readonly file: string } | undefined,
): readonly Holding[] {
  const faults = new FaultCollector();
  const firstRows = new Map<string, Row>();
  const lines = (source.holdings as readonly Row[]).map((row, index) => {
    const name = row.issuer ?? row.id;
    const first = name === undefined ? undefined : firstRows.get(name);
    const reference = references[index];
    const entity = reference === undefined ? undefined : companies?.index.find(reference);
    const isMissing = reference !== undefined && companies !== undefined && entity === undefined;
    if (isMissing && faults.count < FAULT_ITEM_COUNT_MAX) {
      const location = source.locationOf(`/holdings/${index}/entity`);
      faults.add(location, missingCompanyDetail(reference, companies.index, companies.file));
    }
    const line = entity === undefined ? withFirstRow(row, first) : { ...row, entity };
    if (name !== undefined && first === undefined) firstRows.set(name, line);
    return line;
  });
  faults.throwIfAny();
  return lines as unknown as readonly Holding[];
}

function withFirstRow(row: Row, first: Row | undefined): Row {
  if (first === undefined || row.temperature !== undefined) return row;
  const { entity, temperature } = first;
  return { ...row, ...(entity === undefined ? {} : { entity }), ...(temperature === undefined ? {} : { temperature }) };
}

/** Companies by identifier and by name, of those that rows refer to. */
class CompanyIndex {
  readonly #referred: ReadonlySet<string | undefined>;
  readonly #byIdentifier = new Map<string, Entity>();
  readonly #byName = new Map<string, Entity[]>();
  /** Identifiers and names of the file, for suggestions. */
  readonly #known: string[] = [];

  constructor(referred: ReadonlySet<string | undefined>) {
    this.#referred = referred;
  }

  /** @returns false if another company has the same identifier */
  add(entity: Entity): boolean {
    const { identifier, name } = namesOf(entity);
    for (const text of [identifier, name]) {
      if (text !== undefined && this.#known.length < COMPARED_NAME_COUNT_MAX) this.#known.push(text);
    }
    if (name !== undefined && this.#referred.has(name)) {
      const namesakes = this.#byName.get(name);
      if (namesakes === undefined) this.#byName.set(name, [entity]);
      else namesakes.push(entity);
    }
    if (identifier === undefined || !this.#referred.has(identifier)) return true;
    if (this.#byIdentifier.has(identifier)) return false;
    this.#byIdentifier.set(identifier, entity);
    return true;
  }

  /** Returns the company with an identifier or, if there is none, the only company with a name. */
  find(reference: string): Entity | undefined {
    const namesakes = this.#byName.get(reference) ?? [];
    return this.#byIdentifier.get(reference) ?? (namesakes.length === 1 ? namesakes[0] : undefined);
  }

  /** Returns the number of companies with a name. */
  countNamed(name: string): number {
    return this.#byName.get(name)?.length ?? 0;
  }

  /** Returns an identifier or name that is similar to an unknown one. */
  suggestionFor(reference: string): string | undefined {
    return closestMatch(reference, [...new Set(this.#known)]);
  }
}

/** Reads the companies that rows refer to. @throws Fault if an identifier occurs twice */
export async function readCompanies(
  source: EntitySource,
  referred: ReadonlySet<string | undefined>,
): Promise<CompanyIndex> {
  const companies = new CompanyIndex(referred);
  for await (const { entities, faults, locationOf } of source.chunks) {
    for (const [index, entity] of (entities as readonly Entity[]).entries()) {
      if (companies.add(entity)) continue;
      const { identifier } = namesOf(entity);
      faults.add(locationOf(`/${index}`), `there is another company with the identifier ${quote(identifier)}.`);
    }
    faults.throwIfAny();
  }
  return companies;
}

/** Returns the identifier and the name of an entity, which may be invalid, without spaces around them. */
function namesOf(entity: Partial<Entity> | null): {
  readonly identifier: string | undefined;
  readonly name: string | undefined;
} {
  const { identifier, name } = entity?.entity_info ?? {};
  const trimmed = (text: unknown): string | undefined =>
    typeof text === "string" && text.trim() !== "" ? text.trim() : undefined;
  return { identifier: trimmed(identifier), name: trimmed(name) };
}

/** Describes why no company is found for a row, and what is accepted. */
function missingCompanyDetail(reference: string, companies: CompanyIndex, file: string): string {
  const count = companies.countNamed(reference);
  if (count > 1) {
    return `${file} has ${count} companies with the name ${quote(reference)}; write the identifier of one in company.`;
  }
  const suggestion = companies.suggestionFor(reference);
  const hint = suggestion === undefined ? "." : `; did you mean ${quote(suggestion)}?`;
  return (
    `${file} has no company with the identifier or name ${quote(reference)}${hint} ` +
    `For a holding without a score, write ${NO_SCORE} in temperature_s1s2s3.`
  );
}
