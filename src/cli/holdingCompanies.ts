/** Finds the companies that the rows of a file of holdings refer to. */
import type { Entity, Holding } from "../contract/wireTypes.ts";
import { FAULT_ITEM_COUNT_MAX } from "../errors.ts";
import { closestMatch } from "../validation/closestMatch.ts";
import { quote } from "../validation/schemaErrors.ts";
import { FaultCollector, type EntitySource } from "./entitySource.ts";
import { type HoldingSource, NO_SCORE } from "./holdingCsv.ts";

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
export class CompanyIndex {
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
