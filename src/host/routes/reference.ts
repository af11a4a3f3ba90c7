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
import { refuseParameters } from "./parameters.ts";
import type { Route } from "./route.ts";

interface Reference<Item> {
  readonly items: readonly Item[];
}

const codes = (system: string) => Type.Array(Type.String(), { description: `${system} codes.` });
const NAMED = {
  id: Type.String(),
  name: Type.String(),
  aliases: Type.Array(Type.String(), { description: "Case, accents and punctuation do not count." }),
};

/** GET /api/v1/reference/industries */
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
    factor_source: Type.String({ description: "Where its emission factors come from." }),
  }),
});

/** GET /api/v1/reference/countries */
export const countries: Route<undefined, Reference<ReferenceCountry>> = reference(referenceCountries, {
  path: "/api/v1/reference/countries",
  operationId: "listCountries",
  what: "countries",
  item: Type.Object({
    ...NAMED,
    iso2: Type.String(),
    tier: Type.Enum(["A", "B"], { description: "A: all figures come from data. B: some are stand-ins." }),
    fallbacks: Type.Array(Type.String(), { description: "What stands in." }),
  }),
});

/** GET /api/v1/reference/scenarios */
export const scenarios: Route<undefined, Reference<ReferenceScenario>> = reference(referenceScenarios, {
  path: "/api/v1/reference/scenarios",
  operationId: "listScenarios",
  what: "transition scenarios",
  item: Type.Object({
    ...NAMED,
    family: Type.Enum(["NGFS", "IPCC"]),
    vintage: Type.Enum(["5", "AR6"]),
    narrative: Type.String(),
    category: Type.String({ description: "The category of AR6 that it belongs to." }),
    ssp: textOrNull(),
    iams: Type.Array(Type.String(), { description: "Models with prices of it." }),
    world_price: Type.Boolean({ description: "One price for the whole world rather than one by region." }),
    price_substitute: textOrNull({ description: "What stands for prices that nobody has published." }),
  }),
});

/** A list that is the same for everybody until the next release. */
function reference<Item>(
  list: () => readonly Item[],
  about: { readonly path: string; readonly operationId: string; readonly what: string; readonly item: TSchema },
): Route<undefined, Reference<Item>> {
  let answer: Reference<Item> | undefined;
  return {
    method: "GET",
    path: about.path,
    access: "key",
    description: {
      operationId: about.operationId,
      tag: "Company risk",
      summary: `The ${about.what} that the company model knows`,
      answers: { 200: { description: "All of them.", schema: Type.Object({ items: Type.Array(about.item) }) } },
      problems: ["invalid_request"],
    },
    revision: () => METHOD_VERSION,
    parse({ queryText }) {
      refuseParameters(queryText);
      return undefined;
    },
    handle: () => (answer ??= { items: list() }),
  };
}
