/** Parts that the manifests of several recipes have. Their descriptions are published with the schemas. */
import { Type } from "typebox";
import { HAZARD_NAMES, SCENARIOS } from "../../hazard/hazards.ts";

export const CLOSED = { additionalProperties: false } as const;

export const HazardSchema = Type.Enum(HAZARD_NAMES, { description: "The hazard that the maps belong to." });

export function textSchema(description: string) {
  return Type.String({ minLength: 1, description });
}

export function positiveSchema(description: string) {
  return Type.Number({ exclusiveMinimum: 0, description });
}

/** Editors find the schema of a manifest by this member. */
export const SCHEMA_MEMBER = {
  $schema: Type.Optional(textSchema("Path or address of this schema, for editors. It is ignored.")),
} as const;

export const SourceSchema = Type.Object(
  {
    name: textSchema("Name of the product."),
    licence: textSchema("License of the product, such as CC BY 4.0."),
    version: Type.Optional(textSchema("Version of the product.")),
    url: Type.Optional(textSchema("Where the product is published.")),
    credit: Type.Optional(textSchema("Attribution that the license asks for, such as the citation.")),
  },
  { ...CLOSED, description: "The product that the maps are from. It is copied to the provenance." },
);

const RULES = {
  design_return_period_years: Type.Optional(
    Type.Number({ exclusiveMinimum: 1, description: "Return period of the hazard's own metric, in years." }),
  ),
  threshold: Type.Optional(
    positiveSchema("`probability` is the annual probability of this value, in the unit of the hazard."),
  ),
  intensity_reference: Type.Optional(
    positiveSchema("`intensity` is 1 at this value and above it, in the unit of the hazard."),
  ),
  danger_threshold: Type.Optional(positiveSchema("A day with a larger Fire Weather Index is a fire danger day.")),
};
const { design_return_period_years: _design, ...FIRE_RULES } = RULES;
const { danger_threshold: _danger, ...WIND_RULES } = RULES;
const RULES_OPTIONS = { ...CLOSED, description: "Numbers that replace the default rules of the hazard." };

export const RulesSchema = Type.Object(RULES, RULES_OPTIONS);
export const FireRulesSchema = Type.Object(FIRE_RULES, RULES_OPTIONS);
export const WindRulesSchema = Type.Object(WIND_RULES, RULES_OPTIONS);

export const AssumeWgs84Schema = Type.Boolean({
  description: "Reads files without a coordinate system as WGS84 degrees.",
});
export const KeepMeridianSchema = Type.Enum(["west", "east"], {
  description: "Column to use if the first and the last column of a world map are one meridian but differ.",
});

export const SeriesOptionsSchema = Type.Object(
  { assume_wgs84: Type.Optional(AssumeWgs84Schema), keep_meridian: Type.Optional(KeepMeridianSchema) },
  CLOSED,
);

export const ScenarioSchema = Type.Enum(SCENARIOS, { description: "Scenario of the layers." });
export const YearSchema = Type.Integer({
  description: "Analysis year of the layers. The baseline has the year 1980, and no other scenario has that year.",
});
export const ProxyOfSchema = textSchema(
  "Scenario that the maps were made for, if they are used as a substitute for this one. It is copied to the provenance.",
);

export const FilesSchema = Type.Union(
  [textSchema("A path or a pattern."), Type.Array(textSchema("A path or a pattern."), { minItems: 1 })],
  {
    description:
      "Paths relative to the manifest, absolute paths, paths into zip archives, or http(s) addresses. * and ? in the last part " +
      "of a path match any characters and one character; the files that match are in the order of their names.",
  },
);

export const SelectSchema = Type.Record(
  Type.String(),
  Type.Union([
    Type.Number({ description: "A coordinate." }),
    textSchema("A coordinate that is a text, or a date that may be shortened: 2050, 2050-07."),
    Type.Object(
      { index: Type.Integer({ minimum: 0, description: "Position, counted from 0." }) },
      { ...CLOSED, description: "A position." },
    ),
  ]),
  {
    description:
      "Positions in the dimensions of the variable other than latitude and longitude, by name of the dimension.",
  },
);

export const VariableSchema = textSchema("The variable, if the file has several maps.");
export const CrsSchema = textSchema(
  "Coordinate system of files that state none: an EPSG code, a PROJ string or well-known text.",
);
export const NodataSchema = Type.Number({ description: "A nodata value in addition to the declared one." });
export const UnitFactorSchema = positiveSchema(
  "Multiplies the values of the file to give the unit of the metric. Default 1; 0.01 for centimeters.",
);

/** The members of a series of maps: every band, or every position along one dimension, of each file is one map. */
export const SERIES_MEMBERS = {
  files: FilesSchema,
  variable: Type.Optional(VariableSchema),
  select: Type.Optional(SelectSchema),
  nodata: Type.Optional(NodataSchema),
  crs: Type.Optional(CrsSchema),
} as const;
