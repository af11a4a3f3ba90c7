import { type Static, Type } from "typebox";
import { ALIGNMENT_BASES, type AlignmentAnswer, alignTemperature, roundTemperatures } from "../../alignment/align.ts";
import { NGFS_PHASE5 } from "../../alignment/benchmark.ts";
import { countProjections, type Entity, readEntities } from "../../alignment/entity.ts";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem, isFault } from "../../errors.ts";
import { explain } from "../../explain.ts";
import { asParameter, decodeParameters } from "../../parameters.ts";
import { type Route, withinLimit } from "../route.ts";

const ParametersSchema = Type.Object(
  {
    detail: Type.Optional(
      Type.Boolean({ default: false, description: "Adds to each year how its number came about." }),
    ),
    basis: Type.Optional(
      Type.Enum(ALIGNMENT_BASES, {
        default: "intensity",
        description: "What is compared with the pathways: emissions per revenue, emissions, or all since the baseline.",
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

/** POST /api/v1/temperature-alignment-projections: every projected year of every entity. */
export const alignment: Route<AlignmentRequest, AlignmentAnswer> = {
  method: "POST",
  path: "/api/v1/temperature-alignment-projections",
  parse({ queryText, body, limits }) {
    const request = readRequest(queryText, body);
    const { entities } = request;
    withinLimit("entities", { requested: entities.length, limit: limits.entityCount });
    withinLimit("temperatures", { requested: countProjections(entities), limit: limits.alignmentValueCount });
    return request;
  },
  handle: async ({ entities, parameters }) => roundTemperatures(await alignTemperature(entities, parameters)),
  headers: () => ({ "X-Benchmark": NGFS_PHASE5.id }),
};

/** @throws Fault with what is wrong with the parameters and with the entities, all of it at once */
function readRequest(queryText: string, body: unknown): AlignmentRequest {
  const { input, items, refused } = decodeParameters(queryText, ParametersSchema.properties);
  const misread = explain(ParametersSchema, input, { name: "The query", skip: refused }).map(asParameter);
  const parameterItems: readonly FaultItem[] = [...items, ...misread];
  if (parameterItems.length === 0) return { entities: readEntities(body), parameters: input };

  const all = [...parameterItems, ...faultsOf(body)].slice(0, FAULT_ITEM_COUNT_MAX);
  const first = all[0]?.detail ?? "";
  const count = all.length === FAULT_ITEM_COUNT_MAX ? `At least ${all.length}` : String(all.length);
  const message = all.length === 1 ? first : `${count} things are wrong with the request. The first: ${first}`;
  throw new Fault("invalid_request", message, { items: all });
}

function faultsOf(body: unknown): readonly FaultItem[] {
  try {
    readEntities(body);
    return [];
  } catch (error) {
    if (isFault(error)) return error.items;
    throw error;
  }
}
