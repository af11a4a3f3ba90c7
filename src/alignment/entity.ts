/** Rules of the labels and probabilities of an entity's projection records, which a schema cannot express. */
import { compileOnUse } from "../validation/compiledSchema.ts";
import { Fault, FAULT_ITEM_COUNT_MAX, type FaultItem } from "../errors.ts";
import { findSchemaErrors, quote, summarizeItems, type ValueSchema } from "../validation/schemaErrors.ts";
import { EntitySchema } from "../contract/alignmentRequest.ts";
import type { Entity } from "../contract/wireTypes.ts";
import { SCOPES } from "../kernel/alignmentColumns.ts";

/** Default limits of a request; configurable by the operator of the service. */
export const DEFAULT_ALIGNMENT_LIMITS = {
  /** Entities per request. */
  entityCount: 5000,
  /** Projected years per request, over all entities. */
  valueCount: 100_000,
} as const;

/** Returns the number of projected years, i.e. of temperatures to compute. */
export function countProjections(entities: readonly Entity[]): number {
  return entities.reduce((count, { projected_emissions }) => count + projected_emissions.length, 0);
}

/**
 * Validates entities. Unknown members of `entity_info`, `data` and `projected_emissions` are ignored.
 *
 * @returns the input itself
 * @throws Fault `asset_type_unsupported` if the asset type is the only error, else `invalid_request`; lists up to 100
 *   errors, each with a JSON pointer
 */
export function readEntities(input: unknown): readonly Entity[] {
  if (areEntities(input)) return input;
  const items = explainEntities(input);
  // The compiled validator and the explanation use the same schema; disagreement between them is an internal error.
  if (items.length === 0) throw new Error("The compiled validator rejected entities in which no error was found.");
  const isOnlyAssetType = items.every(({ code }) => code === "asset_type_unsupported");
  throw new Fault(
    isOnlyAssetType ? "asset_type_unsupported" : "invalid_request",
    summarizeItems(items, "the entities"),
    { items },
  );
}

const SHAPE: ValueSchema = EntitySchema;
const compiled = compileOnUse(() => EntitySchema);

function areEntities(input: unknown): input is readonly Entity[] {
  if (!Array.isArray(input) || input.length === 0) return false;
  // An index loop, because array methods and the compiled validator skip the holes of a sparse array.
  const validator = compiled();
  for (let index = 0; index < input.length; index++) {
    const entity: unknown = input[index];
    if (!validator.Check(entity) || !isConsistent(entity)) return false;
  }
  return true;
}

/** Checks what the schema cannot express. */
function isConsistent({ data: [baseline], projected_emissions }: Entity): boolean {
  if (baseline === undefined || !hasScope(baseline.emissions)) return false;
  for (let index = 0; index < projected_emissions.length; index++) {
    const projection = projected_emissions[index];
    if (projection === undefined || projection.year <= baseline.year || !hasScope(projection.emissions)) return false;
  }
  return hasValidLabels(projected_emissions);
}

function hasScope(emissions: Entity["data"][number]["emissions"]): boolean {
  return emissions.scope1 !== undefined || emissions.scope2 !== undefined || emissions.scope3 !== undefined;
}

function explainEntities(input: unknown): readonly FaultItem[] {
  const expected = "an array of at least one entity";
  if (!Array.isArray(input)) {
    return [{ pointer: "", code: "wrong_type", detail: `The request must be ${expected} (got ${quote(input)}).` }];
  }
  if (input.length === 0)
    return [{ pointer: "", code: "empty", detail: `The request is an empty array; send ${expected}.` }];
  const items: FaultItem[] = [];
  for (let index = 0; index < input.length && items.length < FAULT_ITEM_COUNT_MAX; index++) {
    const entity: unknown = input[index];
    if (compiled().Check(entity) && isConsistent(entity)) continue;
    const pointer = `/${index}`;
    const findings = findSchemaErrors(SHAPE, entity, { name: "An entity", pointer });
    for (const finding of findings) {
      items.push(finding.pointer === `${pointer}/entity_info/asset_type` ? recodeAssetType(finding) : finding);
    }
    items.push(...explainInconsistencies(entity, pointer, new Set(findings.map((finding) => finding.pointer))));
  }
  return items.slice(0, FAULT_ITEM_COUNT_MAX);
}

/** Unknown asset types have their own code: they are valid elsewhere, but not supported here. */
function recodeAssetType(finding: FaultItem): FaultItem {
  return finding.code === "not_allowed" ? { ...finding, code: "asset_type_unsupported" } : finding;
}

/**
 * Returns the errors that the schema cannot express: years that are not after the baseline year, records without a scope,
 * and inconsistent labels. Invalid values are skipped, since the schema check reports them.
 *
 * @param invalidPointers locations of the errors of the schema check
 */
function explainInconsistencies(
  entity: unknown,
  pointer: string,
  invalidPointers: ReadonlySet<string>,
): readonly FaultItem[] {
  const items: FaultItem[] = [];
  const baselines = listIn(entity, "data");
  const baselineYear = baselines.length === 1 ? memberOf(baselines[0], "year") : undefined;
  for (const name of ["data", "projected_emissions"] as const) {
    for (const [index, record] of listIn(entity, name).entries()) {
      if (items.length >= FAULT_ITEM_COUNT_MAX) return items;
      const at = `${pointer}/${name}/${index}`;
      const year = memberOf(record, "year");
      if (name === "projected_emissions" && isYear(year) && isYear(baselineYear) && year <= baselineYear) {
        const detail = `year must be after the baseline year ${baselineYear} (got ${year}).`;
        items.push({ pointer: `${at}/year`, code: "out_of_range", detail });
      }
      const emissions = memberOf(record, "emissions");
      const isObject = typeof emissions === "object" && emissions !== null && !Array.isArray(emissions);
      if (isObject && SCOPES.every((scope) => memberOf(emissions, scope) === undefined)) {
        const detail = `emissions must have at least one of ${SCOPES.join(", ")}.`;
        items.push({ pointer: `${at}/emissions`, code: "missing", detail });
      }
    }
  }
  const recordsPointer = `${pointer}/projected_emissions`;
  // Not map, which skips the holes of a sparse array.
  const records = Array.from(listIn(entity, "projected_emissions"), (record, index) => {
    const isInvalid = ["", "/label", "/probability"].some((member) =>
      invalidPointers.has(`${recordsPointer}/${index}${member}`),
    );
    return isInvalid ? undefined : labelMembersOf(record);
  });
  items.push(...explainLabels(records, recordsPointer));
  return items;
}

/** Returns the label and probability of a record, which the schema accepts. */
function labelMembersOf(record: unknown): Pick<Entity["projected_emissions"][number], "label" | "probability"> {
  const label = memberOf(record, "label") as string | undefined;
  const probability = memberOf(record, "probability") as number | undefined;
  return {
    ...(label === undefined ? {} : { label }),
    ...(probability === undefined ? {} : { probability }),
  };
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = memberOf(value, name);
  return Array.isArray(list) ? list : [];
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function isYear(value: unknown): value is number {
  return Number.isInteger(value);
}

/** Number of labels that a column of 16-bit integers can distinguish. */
const LABEL_COUNT_MAX = 65_536;

/** Emissions of an entity in a projected year. */
export type ProjectionRecord = Entity["projected_emissions"][number];
type LabelMembers = Pick<ProjectionRecord, "label" | "probability">;

/** Returns whether the labels and probabilities of records are complete and consistent. */
function hasValidLabels(records: readonly LabelMembers[]): boolean {
  for (const { label, probability } of records) {
    if (label !== undefined || probability !== undefined) return explainLabels(records, "").length === 0;
  }
  return true;
}

/**
 * Returns the errors of labels and probabilities:
 * - either all records of an entity have a label or none, and labels are not blank
 * - a probability needs a label, and all records of a label have the same probability or none
 * - all labels have a probability or none, and the probabilities are not all 0
 *
 * @param records values of the right types; `undefined` for records with an invalid label or probability, which are not
 *   compared with others
 * @param pointer location of the records
 */
function explainLabels(records: readonly (LabelMembers | undefined)[], pointer: string): readonly FaultItem[] {
  const items: FaultItem[] = [];
  const add = (index: number, member: keyof LabelMembers, code: FaultItem["code"], detail: string): void => {
    if (items.length < FAULT_ITEM_COUNT_MAX) items.push({ pointer: `${pointer}/${index}/${member}`, code, detail });
  };
  const isLabeled = records.some((record) => record?.label !== undefined);
  /** The first record of each label. */
  const firstOfLabel = new Map<string, { readonly index: number; readonly probability: number | undefined }>();
  for (const [index, record] of records.entries()) {
    if (record === undefined) continue;
    const { label, probability } = record;
    if (label === undefined) {
      if (isLabeled) add(index, "label", "missing", "label must be given in all records of an entity or in none.");
      if (probability !== undefined) {
        add(index, "probability", "not_expected", "probability must not be given without a label.");
      }
      continue;
    }
    if (label.trim() === "") {
      add(index, "label", "empty", "label must not be blank.");
      continue;
    }
    const first = firstOfLabel.get(label);
    if (first === undefined) {
      firstOfLabel.set(label, { index, probability });
      if (firstOfLabel.size === LABEL_COUNT_MAX + 1) {
        add(index, "label", "too_many", `an entity must not have more than ${LABEL_COUNT_MAX} different labels.`);
      }
    } else if (first.probability !== probability) {
      const [code, accepted] =
        first.probability === undefined
          ? (["not_expected", "absent"] as const)
          : ([probability === undefined ? "missing" : "not_allowed", String(first.probability)] as const);
      const got = probability === undefined ? "" : ` (got ${probability})`;
      const detail = `probability must be ${accepted}, as in the first record with the label ${quote(label)}${got}.`;
      add(index, "probability", code, detail);
    }
  }
  const firsts = [...firstOfLabel.values()];
  const given = firsts.filter(({ probability }) => probability !== undefined);
  if (given.length === 0) return items;
  for (const { index, probability } of firsts) {
    if (probability !== undefined) continue;
    add(index, "probability", "missing", "probability must be given for all labels of an entity or for none.");
  }
  const [first] = given;
  const isComplete = !records.includes(undefined);
  if (isComplete && first !== undefined && given.every(({ probability }) => probability === 0)) {
    add(first.index, "probability", "out_of_range", "probability must be above 0 for at least one label.");
  }
  return items;
}
