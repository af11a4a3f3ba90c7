import { Type } from "typebox";

export const PAGE_LIMIT_DEFAULT = 50;

/** What a list that comes in pages is asked with. */
export const PagingParameters = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 500,
      default: PAGE_LIMIT_DEFAULT,
      description: "So many items at most.",
    }),
  ),
  cursor: Type.Optional(Type.String({ description: "`next` of the page before; the first page has none." })),
};

export interface WirePage<Item> {
  readonly items: readonly Item[];
  /** Absent on the last page. */
  readonly next?: string;
}

/** A page, as the published contract has it. */
export const NextSchema = Type.Optional(
  Type.String({ description: "The cursor of the next page; absent on the last page." }),
);
