import { type TSchema, Type } from "typebox";
import { METHOD_VERSION } from "../../company/methodConstants.ts";
import {
  referenceCountries,
  type ReferenceCountry,
  referenceIndustries,
  type ReferenceIndustry,
  type ReferenceScenario,
  referenceScenarios,
} from "../../company/referenceLists.ts";
import { textOrNull } from "../openapi/nullable.ts";
import { rejectParameters } from "./parameters.ts";
import type { Route } from "./route.ts";

interface Reference<Item> {
  readonly items: readonly Item[];
}

const codes = (system: string) => Type.Array(Type.String(), { description: `${system} codes.` });
const NAMED = {
  id: Type.String(),
  name: Type.String(),
  aliases: Type.Array(Type.String(), { description: "Case, accents and punctuation are ignored." }),
};

/** GET /api/v1/reference/industries: the industries of the company model. */
export const industries: Route<undefined, Reference<ReferenceIndustry>> = reference(referenceIndustries, {
  path: "/api/v1/reference/industries",
  operationId: "listIndustries",
  what: "industries",
  item: Type.Object({
    ...NAMED,
    sector: Type.String(),
    isic: codes("ISIC, revision 4"),
    nace: codes("NACE, revision 2"),
    naics: codes("NAICS, 2017"),
    factor_source: Type.String({ description: "Source of the emission factors." }),
  }),
});

/** GET /api/v1/reference/countries: the countries of the company model. */
export const countries: Route<undefined, Reference<ReferenceCountry>> = reference(referenceCountries, {
  path: "/api/v1/reference/countries",
  operationId: "listCountries",
  what: "countries",
  item: Type.Object({
    ...NAMED,
    iso2: Type.String(),
    tier: Type.Enum(["A", "B"], { description: "A: all figures come from data. B: some are substitutes." }),
    fallbacks: Type.Array(Type.String(), { description: "Figures that are substitutes." }),
  }),
});

/** GET /api/v1/reference/scenarios: the transition scenarios of the company model. */
export const scenarios: Route<undefined, Reference<ReferenceScenario>> = reference(referenceScenarios, {
  path: "/api/v1/reference/scenarios",
  operationId: "listScenarios",
  what: "transition scenarios",
  item: Type.Object({
    ...NAMED,
    family: Type.Enum(["NGFS", "IPCC"]),
    vintage: Type.Enum(["5", "AR6"]),
    narrative: Type.String(),
    category: Type.String({ description: "AR6 scenario category." }),
    ssp: textOrNull(),
    iams: Type.Array(Type.String(), { description: "Integrated assessment models that provide prices." }),
    world_price: Type.Boolean({ description: "Whether there is one global price instead of regional prices." }),
    price_substitute: textOrNull({ description: "Substitute for prices that have not been published." }),
  }),
});

/** Returns a route for a list that only changes with a release of the model. */
function reference<Item>(
  list: () => readonly Item[],
  about: { readonly path: string; readonly operationId: string; readonly what: string; readonly item: TSchema },
): Route<undefined, Reference<Item>> {
  let response: Reference<Item> | undefined;
  return {
    method: "GET",
    path: about.path,
    access: "key",
    description: {
      operationId: about.operationId,
      tag: "Company risk",
      summary: `List the ${about.what} of the company model`,
      responses: { 200: { description: "The complete list.", schema: Type.Object({ items: Type.Array(about.item) }) } },
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
