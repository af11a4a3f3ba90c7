import { type TSchema, Type } from "typebox";
import { PAGE_ITEMS } from "./ranges.ts";

/** Query parameters of lists that are returned in pages. */
export const PAGE_PARAMETERS = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_ITEMS.max,
      default: PAGE_ITEMS.default,
      description: "Maximum number of items.",
    }),
  ),
  cursor: Type.Optional(Type.String({ description: "`next` of the previous page; omit it for the first page." })),
};

export const PageParametersSchema = Type.Object(PAGE_PARAMETERS, { additionalProperties: false });

/** Returns the schema of one page of a list. */
export function pageOf<Schema extends TSchema>(item: Schema) {
  return Type.Object({
    items: Type.Array(item),
    next: Type.Optional(Type.String({ description: "Cursor of the next page; absent on the last page." })),
  });
}
