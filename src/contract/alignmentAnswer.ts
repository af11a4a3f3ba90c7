import { type TSchema, Type } from "typebox";
import { ALIGNMENT_FLAGS, ALIGNMENT_REASONS, GROWTH_SOURCES, PATHWAYS } from "./names.ts";
import { AlignmentBasisSchema, EntityEchoSchema } from "./alignmentRequest.ts";
import { describe, numberOrNull, textOrNull } from "./schemaKinds.ts";

export const PathwaySchema = Type.Enum(PATHWAYS, {
  description: "Pathway of the benchmark: the whole economy or one sector.",
});
export const AlignmentFlagSchema = Type.Enum(ALIGNMENT_FLAGS, { description: "Qualifies a temperature." });
export const AlignmentReasonSchema = Type.Enum(ALIGNMENT_REASONS, {
  description: "Why the temperature is null; absent otherwise.",
});

export const AnchorSchema = Type.Object(
  {
    scenario: Type.String(),
    temperature_2100_c: Type.Number({
      description: "Global mean surface temperature in 2100 above 1850-1900, median, degrees C.",
    }),
    temperature_2100_p10_c: Type.Number({ description: "10th percentile of the climate response, degrees C." }),
    temperature_2100_p90_c: Type.Number({ description: "90th percentile of the climate response, degrees C." }),
  },
  { description: "A scenario of the benchmark and its warming in 2100." },
);

export const MatchedSectorSchema = Type.Object(
  {
    on: Type.Union([Type.Literal("industry"), Type.Literal("sector"), Type.Null()], {
      description: "The field that matched; null if neither did.",
    }),
    row: Type.Union([Type.Integer(), Type.Null()], {
      description:
        "Row of the sector table, counted from 1; null if no row matched, as for names and codes in the list of industries.",
    }),
    key: textOrNull({
      description:
        "The first key of the row that matched, or the name of the industry in the list; null if nothing matched.",
    }),
  },
  { description: "Which field selected the pathway, and the matching row and key of the sector table." },
);

export const TemperatureRangeSchema = Type.Object(
  { low: Type.Number({ description: "Degrees C." }), high: Type.Number({ description: "Degrees C." }) },
  { description: "Bounds of a temperature; rounded to two decimals in responses." },
);

export const ScopeTemperaturesSchema = Type.Object(
  {
    s1s2: numberOrNull({ description: "Scopes 1 and 2, degrees C." }),
    s3: numberOrNull({ description: "Scope 3, degrees C." }),
  },
  {
    description:
      "Temperature of scopes 1 and 2 together, and of scope 3 alone; null if no such scope is usable, or if their " +
      "emissions are zero in the baseline but not later. The temperature of all scopes is not their mean.",
  },
);

export const EmissionsBudgetSchema = Type.Object(
  {
    scenario: Type.String({ description: "Scenario of the benchmark." }),
    allowed: Type.Number({
      description: "Emissions of the entity if it followed the scenario from its baseline year.",
    }),
    projected: Type.Number({ description: "Emissions of the entity as projected." }),
    overshoot: Type.Number({
      description: "`projected` minus `allowed`; negative if the entity stays below its budget.",
    }),
    overshoot_pct: numberOrNull({
      description:
        "Overshoot as a percentage of `allowed`, rounded to two decimals in responses; null unless `allowed` is above 0.",
    }),
  },
  {
    description:
      "Absolute emissions, summed over the years after the baseline year up to and including the projected year, in the " +
      "unit of the request.",
  },
);

const nullable = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const byScope = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Object(
    { scope1: Type.Optional(schema), scope2: Type.Optional(schema), scope3: Type.Optional(schema) },
    { description },
  );

const change = (description: string) =>
  Type.Object(
    {
      baseline: numberOrNull({ description: "In the baseline year." }),
      projected: numberOrNull({ description: "In the projected year." }),
    },
    { description },
  );

export const AlignmentDetailSchema = Type.Object(
  {
    method: Type.String({ description: "Version of the method." }),
    benchmark: Type.String({ description: "Version of the benchmark." }),
    credit: Type.String({ description: "Source of the benchmark." }),
    basis: AlignmentBasisSchema,
    temperature_intensity: numberOrNull({ description: "Temperature on the basis `intensity`, degrees C." }),
    temperature_emissions: numberOrNull({ description: "Temperature on the basis `emissions`, degrees C." }),
    temperature_cumulative: numberOrNull({ description: "Temperature on the basis `cumulative`, degrees C." }),
    pathway: describe(PathwaySchema, "The pathway that the entity is compared with."),
    matched: MatchedSectorSchema,
    scope_pathways: byScope(PathwaySchema, "The pathway that each usable scope is compared with."),
    emissions: change("Sums over the usable scopes, i.e. those given in both years, in the unit of the request."),
    emissions_ratio: numberOrNull({
      description: "Projected emissions, at least 0, divided by those of the baseline.",
    }),
    growth: Type.Object(
      {
        source: Type.Union([Type.Enum(GROWTH_SOURCES), Type.Null()], {
          description:
            "Source of the growth: revenue in the request (`supplied`), the economy of the country (`country`) or of its " +
            "region (`region`), or a default because none of these is known (`default`); null for other bases than `intensity`, " +
            "and without usable scopes or baseline emissions.",
        }),
        series: textOrNull({ description: "ISO 3166 alpha-3 code or region of the growth series, if one is used." }),
        factor: numberOrNull({
          description:
            "Growth of the benchmark economy divided by growth of the entity; 1 for other bases than `intensity`.",
        }),
      },
      { description: "Growth since the baseline year." },
    ),
    growth_factor: numberOrNull({ description: "Same as `growth.factor`." }),
    emissions_ratio_q: numberOrNull({
      description: "The entity's ratio that is compared with the anchors, in the evaluated year.",
    }),
    evaluated_year: Type.Integer({ description: "The year in which the ratio is compared with the anchors." }),
    anchors: Type.Array(AnchorSchema, { description: "In ascending order of warming." }),
    benchmark_ratio_at_anchors: Type.Union([Type.Array(Type.Number()), Type.Null()], {
      description:
        "The benchmark's ratio for each anchor, in ascending order; null without usable scopes or baseline emissions.",
    }),
    benchmark_ratio_raw: Type.Union([Type.Array(Type.Number()), Type.Null()], {
      description:
        "`benchmark_ratio_at_anchors` before ratios that were out of order or too close together were adjusted.",
    }),
    between: Type.Union(
      [
        Type.Object({
          below: textOrNull({
            description: "Scenario of the cooler anchor; null if the ratio is at or below all anchors.",
          }),
          above: textOrNull({ description: "Scenario of the warmer anchor; null if the ratio is above all anchors." }),
          weight: Type.Number({
            description:
              "Position of the ratio between the cooler (0) and the warmer (1) anchor. Below all anchors, the ratio divided by that " +
              "of the coolest; above all, the ratio divided by that of the warmest, minus 1.",
          }),
        }),
        Type.Null(),
      ],
      { description: "The anchors on either side of the ratio; null without usable scopes or baseline emissions." },
    ),
    growth_region: textOrNull({ description: "Same as `growth.series`." }),
    revenue: change(
      "Revenue in the currency of the request. If no projected revenue was given, revenue is assumed to grow with the " +
        "economy of the entity's country or region.",
    ),
    intensity: change("Emissions divided by revenue."),
    convergence: Type.Union(
      [
        Type.Object({
          kappa: Type.Number({
            description: "Intensity of the entity divided by that of its industry, within fixed limits.",
          }),
          gamma: Type.Number({ description: "Fraction of the gap to the industry's intensity that closes by 2050." }),
        }),
        Type.Null(),
      ],
      { description: "Convergence to the intensity of the industry; null if it was not applied." },
    ),
    temperature_by_scope: byScope(
      numberOrNull({ description: "Degrees C." }),
      "Temperature of each usable scope alone. The temperature of all scopes is not their mean.",
    ),
    range: nullable(TemperatureRangeSchema, "`range` of the year, unrounded."),
    climate_range: nullable(TemperatureRangeSchema, "`climate_range` of the year, unrounded."),
    by_scope: describe(ScopeTemperaturesSchema, "`by_scope` of the year, unrounded."),
    budget: Type.Union([Type.Array(EmissionsBudgetSchema), Type.Null()], {
      description: "Budgets for all four scenarios, unrounded.",
    }),
    coverage: numberOrNull({ description: "`coverage` of the year; null if no scope is left out." }),
    flags: Type.Array(AlignmentFlagSchema, { description: "The flags of the entity and of the year." }),
  },
  {
    description:
      "How the temperature was computed, unrounded; present if `detail` was requested. Figures that could not be computed are null.",
  },
);

export const AlignedYearSchema = Type.Object({
  year: Type.Integer(),
  temperature_alignment: numberOrNull({
    description: "Implied warming in 2100, degrees C, 1.3 to 6; rounded to two decimals in responses.",
  }),
  reason: Type.Optional(AlignmentReasonSchema),
  label: Type.Optional(Type.String({ description: "As submitted." })),
  range: Type.Optional(
    describe(
      TemperatureRangeSchema,
      "Temperatures for projected emissions 5 % lower and 5 % higher; absent if the temperature is null.",
    ),
  ),
  climate_range: Type.Optional(
    describe(
      TemperatureRangeSchema,
      "Temperatures at the 10th and 90th percentile of the climate response. Present if requested, unless the temperature is null.",
    ),
  ),
  by_scope: Type.Optional(
    describe(
      ScopeTemperaturesSchema,
      "Present if requested. Temperature of scopes 1 and 2 together, and of scope 3 alone; null if no such scope is usable, " +
        "or if their emissions are zero in the baseline but not later. The temperature of all scopes is not their mean.",
    ),
  ),
  budget: Type.Optional(
    describe(
      EmissionsBudgetSchema,
      "Absolute emissions, summed over the years after the baseline year up to and including the projected year, in the " +
        "unit of the request. Present if requested, unless no scope is usable or the baseline emissions are zero.",
    ),
  ),
  coverage: Type.Optional(
    Type.Number({
      description:
        "Fraction of the emissions that the temperature covers, 0 to 1; present if a scope is left out because it is given for " +
        "the baseline or the projection only.",
    }),
  ),
  flags: Type.Optional(Type.Array(AlignmentFlagSchema, { description: "Flags of the year; absent if it has none." })),
  detail: Type.Optional(AlignmentDetailSchema),
});

export const OverallTemperatureSchema = Type.Object(
  {
    temperature_alignment: Type.Number({ description: "Degrees C; rounded to two decimals in responses." }),
    range: describe(TemperatureRangeSchema, "Mean of the ranges of the projection records, with the same weights."),
    years: Type.Integer({ description: "Number of projection records that have a temperature." }),
  },
  {
    description:
      "Mean temperature of all projection records, weighted by the squared distance between the ratios of the coolest " +
      "and the warmest scenario in their year and by the probability of their label.",
  },
);

export const BlendedYearSchema = Type.Object(
  {
    year: Type.Integer(),
    temperature_alignment: Type.Number({ description: "Degrees C; rounded to two decimals in responses." }),
    range: describe(TemperatureRangeSchema, "The mean of the ranges of the labels, with the same weights."),
  },
  { description: "Mean temperature of a year over the labels, weighted by their probability." },
);

export const NameSuggestionsSchema = Type.Object(
  {
    country: Type.Optional(Type.String()),
    industry: Type.Optional(Type.String()),
    sector: Type.Optional(Type.String()),
  },
  {
    description:
      "The most similar known name for each text that matched nothing, if one is close enough. Temperatures are not computed " +
      "with it.",
  },
);

export const AlignmentResultSchema = Type.Object({
  entity_info: EntityEchoSchema,
  flags: Type.Optional(Type.Array(AlignmentFlagSchema, { description: "Flags of the entity; absent if it has none." })),
  did_you_mean: Type.Optional(NameSuggestionsSchema),
  data: Type.Array(AlignedYearSchema, { description: "One element per projection record, in the order submitted." }),
  overall: Type.Optional(
    nullable(
      OverallTemperatureSchema,
      "Present if requested; null if no projection record with a temperature has a weight above 0.",
    ),
  ),
  blended: Type.Optional(
    Type.Array(BlendedYearSchema, {
      description:
        "Years with a temperature under at least two labels, not all of probability 0, ascending; absent if there are none.",
    }),
  ),
});

/** The response that src/alignment/alignTemperature.ts computes. */
export const AlignmentAnswerSchema = Type.Object({
  method: Type.String({ description: "Version of the method. Results of different versions are not comparable." }),
  benchmark: Type.String({ description: "Version of the benchmark." }),
  results: Type.Array(AlignmentResultSchema, { description: "One element per entity, in the order submitted." }),
});
