import { AlignmentAnswerSchema } from "../../contract/alignmentAnswer.ts";
import { DEFAULT_BENCHMARK } from "../../alignment/benchmarkNgfsPhase5.ts";
import { countProjections, readEntities } from "../../alignment/entity.ts";
import type { AlignTemperatureOptions } from "../../alignment/options.ts";
import { type FaultItem, isFault } from "../../errors.ts";
import { findSchemaErrors } from "../../validation/schemaErrors.ts";
import { toParameterItem, decodeParameters } from "../../validation/parameters.ts";
import { ANSWER_CLOSING, ANSWER_OPENING, encodeResults } from "./alignmentText.ts";
import { invalidRequest } from "./parameters.ts";
import { type Route, checkLimit } from "../route.ts";
import type { AlignmentParameters, Entity } from "../../contract/wireTypes.ts";
import { AlignmentParametersSchema, AlignmentRequestSchema } from "../../contract/alignmentRequest.ts";

export interface ParsedAlignmentRequest {
  readonly entities: readonly Entity[];
  readonly parameters: AlignmentParameters;
}

/** A response and its usage units. */
export interface EncodedAnswer {
  readonly text: string;
  readonly units: number;
}

/** Returns the options of the library for the parameters of a request. */
export function optionsOf({ parameters }: ParsedAlignmentRequest): AlignTemperatureOptions {
  const { basis, include, budget_scenario: budgetScenario, convergence, detail } = parameters;
  return { basis, include, budgetScenario, convergence, detail };
}

/** Size of about twenty entities, whose results take about a millisecond. */
const INLINE_BODY_BYTES_MAX = 16 << 10;

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

/** POST /api/v1/temperature-alignment-projections: implied warming for each projected year of each entity. */
export const alignment: Route<ParsedAlignmentRequest, EncodedAnswer> = {
  method: "POST",
  path: "/api/v1/temperature-alignment-projections",
  access: "customer",
  description: {
    operationId: "alignTemperature",
    tag: "Temperature alignment",
    summary: "Implied temperature rise of entities",
    description:
      "Returns, for each projected year of each entity, the global warming in 2100 that its emissions imply, with an interval " +
      "and flags. Each projected year that has a temperature counts as one unit of `alignment_values`.",
    query: AlignmentParametersSchema,
    body: { schema: AlignmentRequestSchema, example: EXAMPLE },
    responses: {
      200: {
        description: "One result per entity, with one temperature per projected year.",
        schema: AlignmentAnswerSchema,
        headers: { "X-Benchmark": "Version of the benchmark pathways with which emissions are compared." },
      },
    },
    problems: ["invalid_request", "asset_type_unsupported", "too_many_values"],
  },
  metered: { meter: "alignment_values", units: ({ units }) => units },
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
  handle: async (request) => {
    const { text, units } = await encodeResults(request.entities, optionsOf(request));
    return { text: `${ANSWER_OPENING}${text}${ANSWER_CLOSING}`, units };
  },
  reply: ({ text }) => ({ status: 200, contentType: "application/json", body: text }),
  headers: () => ({ "X-Benchmark": DEFAULT_BENCHMARK.id }),
};

/** Parses a request. @throws Fault with all errors of the parameters and of the entities together */
function readRequest(queryText: string, body: unknown): ParsedAlignmentRequest {
  const { input, items, refused } = decodeParameters(queryText, AlignmentParametersSchema.properties);
  const schemaItems = findSchemaErrors(AlignmentParametersSchema, input, { name: "The query", skip: refused }).map(
    toParameterItem,
  );
  const parameterItems: readonly FaultItem[] = [...items, ...schemaItems];
  if (parameterItems.length === 0) return { entities: readEntities(body), parameters: input };

  throw invalidRequest([...parameterItems, ...entityErrors(body)]);
}

/** Returns the errors of the entities. */
function entityErrors(body: unknown): readonly FaultItem[] {
  try {
    readEntities(body);
    return [];
  } catch (error) {
    if (isFault(error)) return error.items;
    throw error;
  }
}
