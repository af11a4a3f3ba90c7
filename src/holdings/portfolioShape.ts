/** Checks the shape of a portfolio against its schema. */
import { type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { HOLDING_COUNT_MAX } from "../contract/names.ts";
import { HoldingSchema, PortfolioOptionsSchema } from "../contract/portfolioRequest.ts";
import type { PortfolioRequest } from "../contract/wireTypes.ts";
import { findSchemaErrors, type SchemaError, type ValueSchema } from "../validation/schemaErrors.ts";

/** The request, with any object as an entity: an invalid entity makes the holding uncovered, not the request invalid. */
const RequestSchema = Type.Object(
  {
    holdings: Type.Array(
      Type.Object(
        { ...HoldingSchema.properties, entity: Type.Optional(Type.Union([Type.Object({}), Type.Null()])) },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: HOLDING_COUNT_MAX },
    ),
    options: Type.Optional(PortfolioOptionsSchema),
  },
  { additionalProperties: false },
);
const SHAPE = RequestSchema as unknown as ValueSchema;

/** Returns whether a value has the shape of a portfolio. */
export function isPortfolio(input: unknown): input is PortfolioRequest {
  return knownMembers.Check(input) && !hasHole((input as PortfolioRequest).holdings) && !hasUnknownMember(input);
}

/** Returns what is wrong with the shape of a portfolio: at most 100 errors. */
export function findShapeErrors(input: unknown): readonly SchemaError[] {
  return findSchemaErrors(SHAPE, input, { name: "The portfolio" });
}

/**
 * Checks the members that the schema knows. Unknown members are found by `hasUnknownMember`, because the compiled
 * validator would match every member name against a regular expression, which takes longer than everything else.
 */
const knownMembers = Compile(withUnknownMembers(RequestSchema) as TSchema);
const hasUnknownMember = unknownMemberFinder(SHAPE) ?? (() => false);

/** Returns a copy of a schema whose objects may have unknown members. */
function withUnknownMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknownMembers);
  if (typeof value !== "object" || value === null) return value;
  // Not a spread, because TypeBox stores kind and modifiers in properties that are not enumerable.
  const descriptors: PropertyDescriptorMap = {};
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (name === "additionalProperties" && descriptor.value === false) continue;
    descriptors[name] = { ...descriptor, value: withUnknownMembers(descriptor.value) };
  }
  return Object.defineProperties({}, descriptors);
}

/** Returns whether a value has a member that its schema rejects; values of a type other than the schema's have none. */
type MemberFinder = (value: unknown) => boolean;

/** Builds the finder of a schema; undefined if the schema accepts all members. */
function unknownMemberFinder({
  anyOf,
  items,
  properties,
  additionalProperties,
}: ValueSchema): MemberFinder | undefined {
  if (anyOf !== undefined) {
    const finders = anyOf.map(unknownMemberFinder).filter((find) => find !== undefined);
    return finders.length === 0 ? undefined : (value) => finders.some((find) => find(value));
  }
  if (items !== undefined) {
    const find = unknownMemberFinder(items);
    return find === undefined ? undefined : (value) => Array.isArray(value) && value.some(find);
  }
  if (properties === undefined) return undefined;
  const known = new Set(Object.keys(properties));
  const nested = Object.entries(properties).flatMap(([name, member]) => {
    const find = unknownMemberFinder(member);
    return find === undefined ? [] : [{ name, find }];
  });
  if (additionalProperties !== false && nested.length === 0) return undefined;
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const members = value as Readonly<Record<string, unknown>>;
    if (additionalProperties === false) {
      // A loop over the names, because Object.keys would allocate a list for each object.
      for (const name in members) if (!known.has(name) && Object.hasOwn(members, name)) return true;
    }
    return nested.some(({ name, find }) => find(members[name]));
  };
}

/** Returns whether a sparse array has a hole, which the compiled validator skips. */
function hasHole(holdings: readonly unknown[]): boolean {
  for (let index = 0; index < holdings.length; index++) if (holdings[index] === undefined) return true;
  return false;
}
