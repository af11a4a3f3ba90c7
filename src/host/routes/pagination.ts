import { Type } from "typebox";

export const PAGE_LIMIT_DEFAULT = 50;

/** Query parameters of paginated lists. */
export const PagingParameters = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 500,
      default: PAGE_LIMIT_DEFAULT,
      description: "Maximum number of items.",
    }),
  ),
  cursor: Type.Optional(Type.String({ description: "`next` of the previous page; omit it for the first page." })),
};

/** One page of a list. */
export interface WirePage<Item> {
  readonly items: readonly Item[];
  /** Absent on the last page. */
  readonly next?: string;
}

/** Schema of `next`. */
export const NextSchema = Type.Optional(
  Type.String({ description: "Cursor of the next page; absent on the last page." }),
);
