import { type TSchema, Type } from "typebox";
import { type CODE_SYSTEMS, COUNTRY_TIERS, SCENARIO_FAMILIES, SCENARIO_VINTAGES } from "./companyNames.ts";
import { CountryParametersSchema, IndustryParametersSchema } from "./companyParameters.ts";
import { textOrNull } from "./schemaKinds.ts";

const codes = (system: string) => Type.Array(Type.String(), { description: `${system} codes.` });
const NAMED = {
  id: Type.String(),
  name: Type.String(),
  aliases: Type.Array(Type.String(), {
    description: "Other accepted names. Case, accents and punctuation are ignored.",
  }),
};

export const ReferenceIndustrySchema = Type.Object({
  ...NAMED,
  sector: Type.String(),
  ...({
    isic: codes("ISIC, revision 4"),
    nace: codes("NACE, revision 2"),
    naics: codes("NAICS, 2017"),
  } satisfies Record<(typeof CODE_SYSTEMS)[number], TSchema>),
  factor_source: Type.String({ description: "Source of the emission factors." }),
  parameters: IndustryParametersSchema,
});

export const ReferenceCountrySchema = Type.Object({
  ...NAMED,
  iso2: Type.String({ description: "ISO 3166-1 alpha-2 code; the id is the alpha-3 code." }),
  tier: Type.Enum(COUNTRY_TIERS, { description: "A: all figures come from data. B: some are substitutes." }),
  fallbacks: Type.Array(Type.String(), { description: "Descriptions of the figures that are substitutes." }),
  parameters: CountryParametersSchema,
});

export const ReferenceScenarioSchema = Type.Object({
  ...NAMED,
  family: Type.Enum(SCENARIO_FAMILIES),
  vintage: Type.Enum(SCENARIO_VINTAGES, { description: "NGFS: the phase. IPCC: the assessment report." }),
  narrative: Type.String(),
  category: Type.String({ description: "AR6 scenario category." }),
  ssp: textOrNull({ description: "The closest shared socioeconomic pathway." }),
  iams: Type.Array(Type.String(), {
    description:
      "Integrated assessment models that `iam` can select for the scenario; empty for scenarios of the IPCC.",
  }),
  world_price: Type.Boolean({ description: "Whether there is one global price instead of regional prices." }),
  price_substitute: textOrNull({
    description: "Prices used instead, if the scenario's own prices have not been published.",
  }),
});

const listOf = <Schema extends TSchema>(item: Schema) => Type.Object({ items: Type.Array(item) });

/** The response of GET /api/v1/reference/industries. */
export const ReferenceIndustriesSchema = listOf(ReferenceIndustrySchema);
/** The response of GET /api/v1/reference/countries. */
export const ReferenceCountriesSchema = listOf(ReferenceCountrySchema);
/** The response of GET /api/v1/reference/scenarios. */
export const ReferenceScenariosSchema = listOf(ReferenceScenarioSchema);
