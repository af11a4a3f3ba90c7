import { type Static, type TSchema, Type } from "typebox";
import { describe, expect, expectTypeOf, test } from "vitest";
import { wireTypesText } from "../../scripts/wireTypes.mjs";
import type * as accounts from "../../src/contract/accounts.ts";
import type * as alignmentAnswer from "../../src/contract/alignmentAnswer.ts";
import type * as alignmentRequest from "../../src/contract/alignmentRequest.ts";
import type * as companyAnswer from "../../src/contract/companyAnswer.ts";
import type * as companyReference from "../../src/contract/companyReference.ts";
import type * as companyRequest from "../../src/contract/companyRequest.ts";
import type * as curve from "../../src/contract/curve.ts";
import type * as hazardCatalog from "../../src/contract/hazardCatalog.ts";
import type * as hazardQuery from "../../src/contract/hazardQuery.ts";
import type * as hazardResult from "../../src/contract/hazardResult.ts";
import type * as placeOptions from "../../src/contract/placeOptions.ts";
import type * as portfolioAnswer from "../../src/contract/portfolioAnswer.ts";
import type * as portfolioRequest from "../../src/contract/portfolioRequest.ts";
import type * as problem from "../../src/contract/problem.ts";
import type * as schemaKinds from "../../src/contract/schemaKinds.ts";
import type * as service from "../../src/contract/service.ts";
import { describe as withDescription, openEnum } from "../../src/contract/schemaKinds.ts";
import type { WireTypes } from "../../src/contract/wireTypes.ts";

type Modules = typeof accounts &
  typeof alignmentAnswer &
  typeof alignmentRequest &
  typeof companyAnswer &
  typeof companyReference &
  typeof companyRequest &
  typeof curve &
  typeof hazardCatalog &
  typeof hazardQuery &
  typeof hazardResult &
  typeof placeOptions &
  typeof portfolioAnswer &
  typeof portfolioRequest &
  typeof problem &
  typeof schemaKinds &
  typeof service;

type Frozen<Value> = Value extends object ? { readonly [Member in keyof Value]: Frozen<Value[Member]> } : Value;
type NameOf<Export> = Export extends `${infer Name}Schema` ? Name : never;
/** The static types of the schemas, as TypeBox derives them, by name. */
type StaticTypes = {
  readonly [Export in keyof Modules as NameOf<Export>]: Modules[Export] extends TSchema
    ? Static<Modules[Export]>
    : never;
};

describe("the generated types", () => {
  // Checked by tsc.
  test("equal the static types that TypeBox derives", () => {
    expectTypeOf<keyof WireTypes>().toEqualTypeOf<keyof StaticTypes>();
    expectTypeOf<Frozen<WireTypes>>().toEqualTypeOf<Frozen<StaticTypes>>();
  });

  test("refer to schemas by name, also in optional members and with another description", () => {
    const NameSchema = Type.Enum(["one", "two"], { description: "A name." });
    const ItemSchema = Type.Object({ name: NameSchema, other: Type.Optional(withDescription(NameSchema, "Another.")) });
    const ListSchema = Type.Array(Type.Union([ItemSchema, Type.Null()]), { description: "A list." });
    const text = wireTypesText([{ NameSchema, ItemSchema, ListSchema, other: 1 }]);
    expect(text).toContain(`export interface Item {
  /** A name. */
  readonly name: Name;
  /** Another. */
  readonly other?: Name;
}

/** A list. */
export type List = readonly (Item | null)[];

/** A name. */
export type Name = "one" | "two";
`);
  });

  test("state ranges and defaults", () => {
    const RangesSchema = Type.Object({
      share: Type.Number({ minimum: 0, maximum: 1, default: 0, description: "A share." }),
      count: Type.Integer({ minimum: 0, description: "A count." }),
      amount: Type.Number({ minimum: -1e15, maximum: 1e15 }),
      names: Type.Array(Type.String(), { minItems: 1, uniqueItems: true }),
      text: Type.String({ minLength: 1, maxLength: 20 }),
    });
    const text = wireTypesText([{ RangesSchema }]);
    expect(text).toContain(`export interface Ranges {
  /** A share. 0 to 1. Default: 0. */
  readonly share: number;
  /** A count. */
  readonly count: number;
  /** -1e15 to 1e15. */
  readonly amount: number;
  /** At least 1 item, without duplicates. */
  readonly names: readonly string[];
  /** 1 to 20 characters. */
  readonly text: string;
}
`);
  });

  test("keep a string open to values of later releases", () => {
    const OpenSchema = Type.Object({ code: openEnum(["known"]) });
    expect(wireTypesText([{ OpenSchema }])).toContain('readonly code: "known" | (string & {});');
    expect(JSON.stringify(OpenSchema.properties.code)).toBe('{"type":"string"}');
  });

  test("reject a schema that they cannot express, and two names for one schema", () => {
    const ItemSchema = Type.Object({ name: Type.String() });
    expect(() => wireTypesText([{ ItemSchema, OtherSchema: ItemSchema }])).toThrow("have the same members");
    expect(() => wireTypesText([{ PairSchema: { type: "tuple" } }])).toThrow('no type for the schema {"type":"tuple"}');
  });
});
