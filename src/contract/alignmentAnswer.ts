import { type TSchema, Type } from "typebox";
import { ALIGNMENT_FLAGS, ALIGNMENT_REASONS, PATHWAYS } from "./alignmentNames.ts";
import { AlignmentBasisSchema, EntityEchoSchema } from "./alignmentRequest.ts";
import { describe, numberOrNull, textOrNull } from "./schemaKinds.ts";

export const PathwaySchema = Type.Enum(PATHWAYS, { description: "Sector of the benchmark." });
export const AlignmentFlagSchema = Type.Enum(ALIGNMENT_FLAGS, { description: "Qualifies a temperature." });
export const AlignmentReasonSchema = Type.Enum(ALIGNMENT_REASONS, {
  description: "Why there is no temperature; present exactly when it is null.",
});

export const AnchorSchema = Type.Object(
  {
    scenario: Type.String(),
    temperature_2100_c: Type.Number({
      description: "Global mean surface temperature in 2100 above 1850-1900, median, degrees C.",
    }),
  },
  { description: "A scenario of the benchmark and its warming in 2100." },
);

export const MatchedSectorSchema = Type.Object(
  {
    on: Type.Union([Type.Literal("industry"), Type.Literal("sector"), Type.Null()], {
      description: "The field that matched; null if neither did.",
    }),
    row: Type.Union([Type.Integer(), Type.Null()], { description: "Row of the sector table, from 1." }),
    key: textOrNull({ description: "The first key of the row that matched." }),
  },
  { description: "Which field selected the pathway, and the matching row and key of the sector table." },
);

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
    benchmark: Type.String({ description: "Version of the benchmark." }),
    credit: Type.String({ description: "Source of the benchmark." }),
    basis: AlignmentBasisSchema,
    temperature_intensity: numberOrNull({ description: "Degrees C, with emissions per revenue as the basis." }),
    temperature_emissions: numberOrNull({ description: "Degrees C, with emissions as the basis." }),
    temperature_cumulative: numberOrNull({ description: "Degrees C, with cumulative emissions as the basis." }),
    pathway: describe(PathwaySchema, "The pathway that the entity is compared with."),
    matched: MatchedSectorSchema,
    scope_pathways: byScope(PathwaySchema, "The pathway that each usable scope is compared with."),
    emissions: change("Sums over the usable scopes, i.e. those given in both years; in the unit of the request."),
    emissions_ratio: numberOrNull({ description: "Projected emissions divided by those of the baseline." }),
    growth_factor: numberOrNull({
      description: "Growth of the benchmark economy divided by growth of the entity's regional economy.",
    }),
    emissions_ratio_q: numberOrNull({
      description: "The ratio that is compared with the anchors in the evaluated year.",
    }),
    evaluated_year: Type.Integer({ description: "The year in which the ratio is compared with the anchors." }),
    anchors: Type.Array(AnchorSchema, { description: "In ascending order of warming." }),
    benchmark_ratio_at_anchors: Type.Union([Type.Array(Type.Number()), Type.Null()], {
      description: "The benchmark's ratio for each anchor.",
    }),
    between: Type.Union(
      [
        Type.Object({
          below: textOrNull({ description: "Scenario of the cooler anchor." }),
          above: textOrNull({ description: "Scenario of the warmer anchor." }),
          weight: Type.Number({ description: "Relative distance of the ratio from the cooler to the warmer anchor." }),
        }),
        Type.Null(),
      ],
      { description: "The anchors on either side of the ratio." },
    ),
    growth_region: Type.String({ description: "Region whose economic growth is assumed." }),
    revenue: change("In the currency of the request; the projected one grows with the region."),
    intensity: change("Emissions divided by revenue."),
    convergence: Type.Union(
      [
        Type.Object({
          kappa: Type.Number({ description: "Ratio of the entity's intensity to that of its industry, bounded." }),
          gamma: Type.Number({ description: "Fraction of the gap to the industry's intensity that closes by 2050." }),
        }),
        Type.Null(),
      ],
      { description: "null without convergence to the intensity of the industry." },
    ),
    temperature_by_scope: byScope(
      numberOrNull({ description: "Degrees C." }),
      "Temperature of each usable scope alone: with the basis emissions if that was requested, else intensity. They do " +
        "not add up to the temperature of the entity.",
    ),
    flags: Type.Array(AlignmentFlagSchema),
  },
  { description: "With detail: how the temperature was computed, unrounded. A figure that does not exist is null." },
);

export const AlignedYearSchema = Type.Object({
  year: Type.Integer(),
  temperature_alignment: numberOrNull({
    description: "Implied warming in 2100, degrees C, 1.3 to 6; rounded to two decimals in responses.",
  }),
  reason: Type.Optional(AlignmentReasonSchema),
  detail: Type.Optional(AlignmentDetailSchema),
});

export const AlignmentResultSchema = Type.Object({
  entity_info: EntityEchoSchema,
  data: Type.Array(AlignedYearSchema, { description: "One element per projected year, in the order submitted." }),
});

/** The response that src/alignment/alignTemperature.ts computes. */
export const AlignmentAnswerSchema = Type.Object({
  results: Type.Array(AlignmentResultSchema, { description: "One element per entity, in the order submitted." }),
});
