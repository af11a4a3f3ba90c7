import type { TSchema } from "typebox";
import { METHOD_VERSION } from "../../company/methodConstants.ts";
import { referenceCountries, referenceIndustries, referenceScenarios } from "../../company/referenceLists.ts";
import { rejectParameters } from "./parameters.ts";
import type { Route } from "../route.ts";
import type { ReferenceCountries, ReferenceIndustries, ReferenceScenarios } from "../../contract/wireTypes.ts";
import {
  ReferenceCountriesSchema,
  ReferenceIndustriesSchema,
  ReferenceScenariosSchema,
} from "../../contract/companyReference.ts";

/** GET /api/v1/reference/industries: the industries of the company model. */
export const industries: Route<undefined, ReferenceIndustries> = reference(referenceIndustries, {
  path: "/api/v1/reference/industries",
  operationId: "listIndustries",
  listName: "industries",
  schema: ReferenceIndustriesSchema,
});

/** GET /api/v1/reference/countries: the countries of the company model. */
export const countries: Route<undefined, ReferenceCountries> = reference(referenceCountries, {
  path: "/api/v1/reference/countries",
  operationId: "listCountries",
  listName: "countries",
  schema: ReferenceCountriesSchema,
});

/** GET /api/v1/reference/scenarios: the transition scenarios of the company model. */
export const scenarios: Route<undefined, ReferenceScenarios> = reference(referenceScenarios, {
  path: "/api/v1/reference/scenarios",
  operationId: "listScenarios",
  listName: "transition scenarios",
  schema: ReferenceScenariosSchema,
});

/** Returns a route for a list that changes only with the version of the company model. */
function reference<Item>(
  list: () => readonly Item[],
  description: {
    readonly path: string;
    readonly operationId: string;
    readonly listName: string;
    readonly schema: TSchema;
  },
): Route<undefined, { readonly items: readonly Item[] }> {
  let response: { readonly items: readonly Item[] } | undefined;
  return {
    method: "GET",
    path: description.path,
    access: "key",
    description: {
      operationId: description.operationId,
      tag: "Company risk",
      summary: `List the ${description.listName} of the company model`,
      responses: { 200: { description: "The complete list.", schema: description.schema } },
      problems: ["invalid_request"],
    },
    revision: () => METHOD_VERSION,
    parse({ queryText }) {
      rejectParameters(queryText);
      return undefined;
    },
    handle: () => (response ??= { items: list() }),
  };
}
