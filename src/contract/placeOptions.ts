import { Type } from "typebox";
import { HAZARD_NAMES } from "./names.ts";
import { HazardNameSchema, HazardQueryInputSchema, MetricNameSchema, ScenarioSchema } from "./hazardQuery.ts";
import { RADIUS_KM_MAX } from "./ranges.ts";
import { describe } from "./schemaKinds.ts";

const { aggregation_method, anthropogenic } = HazardQueryInputSchema.properties;
const CLOSED = { additionalProperties: false } as const;
const LIST = { minItems: 1, uniqueItems: true } as const;

const threshold = Type.Optional(
  Type.Number({ exclusiveMinimum: 0, description: "In the unit of the hazard's curves, such as meters." }),
);

const THRESHOLDS = Type.Object(
  Object.fromEntries(HAZARD_NAMES.map((hazard) => [hazard, threshold])) as Record<
    (typeof HAZARD_NAMES)[number],
    typeof threshold
  >,
  {
    ...CLOSED,
    description:
      "Value by hazard. Adds the annual probability of reaching it, from the return-period curves of the atlas.",
  },
);

const PLACE_OPTIONS = {
  hazards: Type.Optional(
    Type.Array(HazardNameSchema, { ...LIST, description: "Default: all hazards that the atlas holds." }),
  ),
  scenarios: Type.Optional(
    Type.Array(ScenarioSchema, { ...LIST, description: "Default: all scenarios that the atlas holds." }),
  ),
  analysis_years: Type.Optional(
    Type.Array(Type.Integer(), { ...LIST, description: "Default: all years that the atlas holds." }),
  ),
  radius: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: RADIUS_KM_MAX,
      default: 0,
      description:
        "Radius of all places that state no radius, in kilometers. 0 selects the cell that contains the place; otherwise " +
        "all cells whose centers are within this geodesic distance are aggregated.",
    }),
  ),
  aggregation_method: Type.Optional(describe(aggregation_method, "Aggregation over circles.")),
  metrics: Type.Optional(
    Type.Array(MetricNameSchema, {
      ...LIST,
      description: "Metrics of the hazards that have them. Default: all except `total_hazard`.",
    }),
  ),
  thresholds: Type.Optional(THRESHOLDS),
  total_hazard: Type.Optional(
    Type.Boolean({ default: false, description: "Adds the metric `total_hazard`, intensity times probability." }),
  ),
  anthropogenic,
};

export const PlaceOptionsSchema = Type.Object(PLACE_OPTIONS, {
  ...CLOSED,
  description:
    "What is computed for every place of a portfolio. Lists that are absent select everything that the atlas holds.",
});

const columnName = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

export const PlaceFileOptionsSchema = Type.Object(
  {
    $schema: columnName("Path or address of this schema, for editors. It is ignored."),
    ...PLACE_OPTIONS,
    radius_column: columnName(
      "Column with the radius of each place, in kilometers. An empty cell is `radius` if that is given, and else an invalid row.",
    ),
    columns: Type.Optional(
      Type.Object(
        {
          id: columnName("Column that identifies the places."),
          latitude: columnName("Column with the latitudes, degrees north, WGS84."),
          longitude: columnName("Column with the longitudes, degrees east, WGS84."),
        },
        { ...CLOSED, description: "Columns of the input. Default: found by usual names." },
      ),
    ),
    layout: Type.Optional(
      Type.Enum(["long", "wide"], {
        default: "long",
        description: "One row per place, hazard, scenario and year (`long`), or one row per place (`wide`).",
      }),
    ),
  },
  { ...CLOSED, description: "Options of `isotherm portfolio`, as a JSON file." },
);
