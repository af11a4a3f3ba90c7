import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../errors.ts";
import { explain, quote, type Shape } from "../explain.ts";
import { ALIGNMENT_YEAR_MAX, ALIGNMENT_YEAR_MIN, EMISSIONS_MAX } from "../kernel/alignment.ts";

/** What one request may ask for unless whoever runs the service says otherwise. */
export const DEFAULT_ALIGNMENT_LIMITS = {
  /** entities in a request */
  entityCount: 5000,
  /** projected years over all of them */
  valueCount: 100_000,
} as const;

const ASSET_TYPES = ["equity"] as const;

const year = (description: string) =>
  Type.Integer({ minimum: ALIGNMENT_YEAR_MIN, maximum: ALIGNMENT_YEAR_MAX, description });
const amount = (description: string) =>
  Type.Optional(Type.Number({ minimum: -EMISSIONS_MAX, maximum: EMISSIONS_MAX, description }));

const EmissionsSchema = Type.Object(
  {
    scope1: amount("Direct emissions. Removals are negative."),
    scope2: amount("Emissions of bought electricity and heat."),
    scope3: amount("Emissions up and down the value chain."),
  },
  { description: "In any one unit, the same in all years; at least one scope." },
);

/** An entity: one definition for the type, the check and the published contract. */
export const EntitySchema = Type.Object(
  {
    entity_info: Type.Object({
      identifier: Type.Optional(Type.String({ description: "The caller's own; not echoed." })),
      name: Type.String(),
      asset_type: Type.Enum(ASSET_TYPES),
      country: Type.Optional(
        Type.String({ description: "ISO code or name; decides how fast revenue is taken to grow." }),
      ),
      industry_classification_system: Type.Optional(
        Type.String({
          description: "gics, nace, naics, isic, sics, trbc, icb, factset or custom; others are matched alike.",
        }),
      ),
      industry: Type.Optional(Type.String({ description: "Its name, not its code, in that system." })),
      sector: Type.Optional(Type.String({ description: "Its name; asked where the industry says nothing." })),
    }),
    data: Type.Array(
      Type.Object({
        year: year("The baseline year."),
        emissions: EmissionsSchema,
        financials: Type.Optional(
          Type.Object({
            revenue: amount("In any currency; its level cancels out."),
            ebitda: amount("Not used."),
          }),
        ),
      }),
      { minItems: 1, maxItems: 1, description: "Exactly one baseline year." },
    ),
    projected_emissions: Type.Array(
      Type.Object({ year: year("A year after the baseline year."), emissions: EmissionsSchema }),
      { minItems: 1, description: "The answer keeps their order." },
    ),
  },
  { additionalProperties: false },
);

type EntityMembers = Static<typeof EntitySchema>;

/** The same, all of it read-only. */
type DeepReadonly<Value> = Value extends object
  ? { readonly [Member in keyof Value]: DeepReadonly<Value[Member]> }
  : Value;

/**
 * An entity as the caller writes it, in the library as on the wire: what it is, its emissions in exactly one baseline
 * year, and in one or more later years.
 *
 * - emissions: any one unit, -1e15 to 1e15, at least one scope a year; a scope counts in a year where the baseline has
 *   it too
 * - years: whole numbers from 1900 to 2200
 * - revenue: any currency, -1e15 to 1e15
 */
export type Entity = DeepReadonly<EntityMembers>;

/** How many temperatures the entities ask for. */
export function countProjections(entities: readonly Entity[]): number {
  return entities.reduce((count, { projected_emissions }) => count + projected_emissions.length, 0);
}

/**
 * Checks entities. Members of `entity_info`, `data` and `projected_emissions` that are not described are ignored.
 *
 * @returns the input itself
 * @throws Fault `asset_type_unsupported` where nothing but the asset type is wrong, else `invalid_request`; either with
 *   everything that is wrong, up to 100 items, each with a JSON pointer
 */
export function readEntities(input: unknown): readonly Entity[] {
  if (areEntities(input)) return input;
  const items = explainEntities(input);
  // The compiled check and its explanation stand on one schema; should they ever disagree, that is ours to mend.
  if (items.length === 0) throw new Error("The check of entities refused what its explanation finds right.");
  const isOnlyAssetType = items.every(({ code }) => code === "asset_type_unsupported");
  throw new Fault(isOnlyAssetType ? "asset_type_unsupported" : "invalid_request", summarize(items), { items });
}

const SHAPE: Shape = EntitySchema;
const compiled = Compile(EntitySchema);

function areEntities(input: unknown): input is readonly Entity[] {
  if (!Array.isArray(input) || input.length === 0) return false;
  // Counted, since methods of arrays step over the holes of a sparse one, and so does the compiled check.
  for (let index = 0; index < input.length; index++) {
    const entity: unknown = input[index];
    if (!compiled.Check(entity) || !hasValidYearsAndScopes(entity)) return false;
  }
  return true;
}

function hasValidYearsAndScopes({ data: [baseline], projected_emissions }: Entity): boolean {
  if (baseline === undefined || !hasScope(baseline.emissions)) return false;
  for (let index = 0; index < projected_emissions.length; index++) {
    const projection = projected_emissions[index];
    if (projection === undefined || projection.year <= baseline.year || !hasScope(projection.emissions)) return false;
  }
  return true;
}

const SCOPES = ["scope1", "scope2", "scope3"] as const;

function hasScope(emissions: Entity["data"][number]["emissions"]): boolean {
  return emissions.scope1 !== undefined || emissions.scope2 !== undefined || emissions.scope3 !== undefined;
}

function explainEntities(input: unknown): readonly FaultItem[] {
  const expected = "a list of at least one entity";
  if (!Array.isArray(input)) {
    return [{ pointer: "", code: "wrong_type", detail: `The request must be ${expected}, not ${quote(input)}.` }];
  }
  if (input.length === 0)
    return [{ pointer: "", code: "empty", detail: `The request is an empty list; give ${expected}.` }];
  const items: FaultItem[] = [];
  for (let index = 0; index < input.length && items.length < FAULT_ITEM_COUNT_MAX; index++) {
    const entity: unknown = input[index];
    if (compiled.Check(entity) && hasValidYearsAndScopes(entity)) continue;
    const pointer = `/${index}`;
    for (const finding of explain(SHAPE, entity, { name: "An entity", pointer })) {
      items.push(finding.pointer === `${pointer}/entity_info/asset_type` ? recodeAssetType(finding) : finding);
    }
    items.push(...explainYearsAndScopes(entity, pointer));
  }
  return items.slice(0, FAULT_ITEM_COUNT_MAX);
}

/** A type that we do not know is no slip of the caller's, but something that we cannot do. */
function recodeAssetType(finding: FaultItem): FaultItem {
  return finding.code === "not_allowed" ? { ...finding, code: "asset_type_unsupported" } : finding;
}

/** What no schema says: that years follow the baseline, and that each names a scope. Shapes that are wrong are passed over. */
function explainYearsAndScopes(entity: unknown, pointer: string): readonly FaultItem[] {
  const items: FaultItem[] = [];
  const baselines = listIn(entity, "data");
  const baselineYear = baselines.length === 1 ? memberOf(baselines[0], "year") : undefined;
  for (const name of ["data", "projected_emissions"] as const) {
    for (const [index, record] of listIn(entity, name).entries()) {
      if (items.length >= FAULT_ITEM_COUNT_MAX) return items;
      const at = `${pointer}/${name}/${index}`;
      const year = memberOf(record, "year");
      if (name === "projected_emissions" && isYear(year) && isYear(baselineYear) && year <= baselineYear) {
        const detail = `year ${year} is not after the baseline year ${baselineYear}; give a later one.`;
        items.push({ pointer: `${at}/year`, code: "out_of_range", detail });
      }
      const emissions = memberOf(record, "emissions");
      const isObject = typeof emissions === "object" && emissions !== null && !Array.isArray(emissions);
      if (isObject && SCOPES.every((scope) => memberOf(emissions, scope) === undefined)) {
        const detail = `emissions names no scope; give at least one of ${SCOPES.join(", ")}.`;
        items.push({ pointer: `${at}/emissions`, code: "missing", detail });
      }
    }
  }
  return items;
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

function summarize(items: readonly FaultItem[]): string {
  const first = items[0]?.detail ?? "";
  if (items.length === 1) return first;
  const count = items.length === FAULT_ITEM_COUNT_MAX ? `At least ${items.length}` : String(items.length);
  return `${count} things are wrong with the entities. The first: ${first}`;
}
