import { type Static, type TSchema, Type } from "typebox";
import { alignTemperature } from "../../alignment/alignTemperature.ts";
import { ALIGNMENT_FLAGS, type AlignmentAnswer, roundTemperatures } from "../../alignment/answer.ts";
import { ALIGNMENT_BASES } from "../../alignment/options.ts";
import { NGFS_PHASE5, type Pathway } from "../../alignment/benchmark.ts";
import { countProjections, type Entity, EntitySchema, readEntities } from "../../alignment/entity.ts";
import { type FaultItem, isFault } from "../../errors.ts";
import { findSchemaErrors } from "../../schemaErrors.ts";
import { toParameterItem, decodeParameters } from "../../parameters.ts";
import { numberOrNull, textOrNull } from "../openapi/nullable.ts";
import { invalidRequest } from "./parameters.ts";
import { type Route, checkLimit } from "./route.ts";

const ParametersSchema = Type.Object(
  {
    detail: Type.Optional(
      Type.Boolean({ default: false, description: "Adds to each year how its temperature was computed." }),
    ),
    basis: Type.Optional(
      Type.Enum(ALIGNMENT_BASES, {
        default: "intensity",
        description:
          "Quantity compared with the pathways: emissions per revenue, emissions, or cumulative emissions since the baseline.",
      }),
    ),
  },
  { additionalProperties: false },
);
type Parameters = Static<typeof ParametersSchema>;

interface AlignmentRequest {
  readonly entities: readonly Entity[];
  readonly parameters: Parameters;
}

/** About twenty entities, which take about a millisecond. */
const INLINE_BODY_BYTES_MAX = 16 << 10;

const PATHWAYS = [
  "economy",
  "power",
  "energy_supply",
  "industry",
  "transport",
  "buildings",
] as const satisfies readonly Pathway[];

const byScope = <Schema extends TSchema>(schema: Schema) =>
  Type.Object({ scope1: Type.Optional(schema), scope2: Type.Optional(schema), scope3: Type.Optional(schema) });
const ChangeSchema = Type.Object({ baseline: numberOrNull(), projected: numberOrNull() });

/** Schema of the `detail` of a temperature. */
const DetailSchema = Type.Object(
  {
    benchmark: Type.String(),
    credit: Type.String(),
    basis: Type.Enum(ALIGNMENT_BASES),
    temperature_intensity: numberOrNull(),
    temperature_emissions: numberOrNull(),
    temperature_cumulative: numberOrNull(),
    pathway: Type.Enum(PATHWAYS),
    matched: Type.Object(
      {
        on: Type.Union([Type.Literal("industry"), Type.Literal("sector"), Type.Null()]),
        row: Type.Union([Type.Integer(), Type.Null()]),
        key: textOrNull(),
      },
      { description: "Which field selected the pathway, and the matching row and key of the sector table." },
    ),
    scope_pathways: byScope(Type.Enum(PATHWAYS)),
    emissions: ChangeSchema,
    emissions_ratio: numberOrNull(),
    growth_factor: numberOrNull(),
    emissions_ratio_q: numberOrNull(),
    evaluated_year: Type.Integer(),
    anchors: Type.Array(Type.Object({ scenario: Type.String(), temperature_2100_c: Type.Number() })),
    benchmark_ratio_at_anchors: Type.Union([Type.Array(Type.Number()), Type.Null()]),
    between: Type.Union([
      Type.Object({ below: textOrNull(), above: textOrNull(), weight: Type.Number() }),
      Type.Null(),
    ]),
    growth_region: Type.String(),
    revenue: ChangeSchema,
    intensity: ChangeSchema,
    convergence: Type.Union([Type.Object({ kappa: Type.Number(), gamma: Type.Number() }), Type.Null()]),
    temperature_by_scope: byScope(numberOrNull()),
    flags: Type.Array(Type.Enum(ALIGNMENT_FLAGS)),
  },
  { description: "With detail: how the temperature was computed, unrounded. null where a figure does not exist." },
);

/** Schema of the response that src/alignment/alignTemperature.ts computes. */
const AlignmentAnswerSchema = Type.Object({
  results: Type.Array(
    Type.Object({
      entity_info: Type.Object(
        {
          name: Type.String(),
          asset_type: Type.Enum(["equity"]),
          country: Type.Optional(Type.String()),
          industry_classification_system: Type.Optional(Type.String()),
          industry: Type.Optional(Type.String()),
          sector: Type.Optional(Type.String()),
        },
        { description: "As submitted, without the identifier." },
      ),
      data: Type.Array(
        Type.Object({
          year: Type.Integer(),
          temperature_alignment: numberOrNull({ description: "Implied warming in 2100, degrees C, two decimals." }),
          reason: Type.Optional(
            Type.Enum(["no_usable_scope", "zero_baseline"], {
              description: "Why there is no temperature; present exactly when it is null.",
            }),
          ),
          detail: Type.Optional(DetailSchema),
        }),
        { description: "One element per projected year, in the order submitted." },
      ),
    }),
    { description: "One element per entity, in the order submitted." },
  ),
});

const EXAMPLE: readonly Entity[] = [
  {
    entity_info: {
      identifier: "42",
      name: "Example Steel AG",
      asset_type: "equity",
      country: "Germany",
      industry_classification_system: "gics",
      industry: "Steel",
      sector: "Materials",
    },
    data: [
      {
        year: 2023,
        emissions: { scope1: 500_000, scope2: 300_000, scope3: 1_000_000 },
        financials: { revenue: 1_000_000_000, ebitda: 200_000_000 },
      },
    ],
    projected_emissions: [
      { year: 2030, emissions: { scope1: 400_000, scope2: 200_000, scope3: 900_000 } },
      { year: 2050, emissions: { scope1: 100_000, scope2: 50_000, scope3: 400_000 } },
    ],
  },
];

/** Counts the usage units of a response: one per temperature that is not null. */
function countTemperatures({ results }: AlignmentAnswer): number {
  let count = 0;
  for (const { data } of results) for (const year of data) if (year.temperature_alignment !== null) count++;
  return count;
}

/** POST /api/v1/temperature-alignment-projections: implied warming for every projected year of every entity. */
export const alignment: Route<AlignmentRequest, AlignmentAnswer> = {
  method: "POST",
  path: "/api/v1/temperature-alignment-projections",
  access: "customer",
  description: {
    operationId: "alignTemperature",
    tag: "Temperature alignment",
    summary: "Implied temperature rise of entities",
    description:
      "For every projected year of every entity: the global warming in 2100 that its emissions imply. " +
      "Each temperature that is not null is counted as one `alignment_values`.",
    query: ParametersSchema,
    body: { schema: Type.Array(EntitySchema, { minItems: 1 }), example: EXAMPLE },
    responses: {
      200: {
        description: "One result per entity, with one temperature per projected year.",
        schema: AlignmentAnswerSchema,
        headers: { "X-Benchmark": "Version of the benchmark pathways that emissions are compared with." },
      },
    },
    problems: ["invalid_request", "asset_type_unsupported", "too_many_values"],
  },
  metered: { meter: "alignment_values", units: countTemperatures },
  inlineBodyBytesMax: INLINE_BODY_BYTES_MAX,
  parse({ queryText, body, limits }) {
    const request = readRequest(queryText, body);
    const { entities, parameters } = request;
    checkLimit("entities", { requested: entities.length, limit: limits.entityCount });
    const requested = countProjections(entities);
    checkLimit("temperatures", { requested, limit: limits.alignmentValueCount });
    if (parameters.detail === true) {
      checkLimit("temperatures with detail", { requested, limit: limits.detailCount });
    }
    return request;
  },
  handle: async ({ entities, parameters }) => roundTemperatures(await alignTemperature(entities, parameters)),
  headers: () => ({ "X-Benchmark": NGFS_PHASE5.id }),
};

/** @throws Fault with all faults of the parameters and of the entities together */
function readRequest(queryText: string, body: unknown): AlignmentRequest {
  const { input, items, refused } = decodeParameters(queryText, ParametersSchema.properties);
  const schemaItems = findSchemaErrors(ParametersSchema, input, { name: "The query", skip: refused }).map(
    toParameterItem,
  );
  const parameterItems: readonly FaultItem[] = [...items, ...schemaItems];
  if (parameterItems.length === 0) return { entities: readEntities(body), parameters: input };

  throw invalidRequest([...parameterItems, ...entityFaults(body)]);
}

function entityFaults(body: unknown): readonly FaultItem[] {
  try {
    readEntities(body);
    return [];
  } catch (error) {
    if (isFault(error)) return error.items;
    throw error;
  }
}
