import { decodeParameters } from "../../parameters.ts";
import { TileParametersSchema } from "../../contract/tiles.ts";

/** Returns the token in a query string; undefined if there is none. Errors of the query string are reported later. */
export function readToken(queryText: string): string | undefined {
  if (queryText === "") return undefined;
  const { input } = decodeParameters(queryText, TileParametersSchema.properties);
  const { token } = input as { readonly token?: unknown };
  return typeof token === "string" && token !== "" ? token : undefined;
}
