import { encodeJson } from "../http/json.ts";
import type { Route } from "../routes/route.ts";
import { alignment } from "../routes/alignment.ts";
import { slicedHazardRiskBatch } from "../routes/hazardRiskBatch.ts";
import type { Sliced } from "./slicedRoute.ts";

type RequestOf<R> = R extends Route<infer Request, unknown> ? Request : never;
type AlignmentRequest = RequestOf<typeof alignment>;

const slicedAlignment: Sliced<AlignmentRequest, AlignmentRequest["entities"][number]> = {
  route: alignment,
  elementsOf: ({ entities }) => entities,
  restOf: ({ parameters }) => parameters,
  isPlaced: false,
  async answer(entity, rest, context) {
    const parameters = rest as AlignmentRequest["parameters"];
    const answer = await alignment.handle({ entities: [entity], parameters }, context);
    const units = alignment.metered?.units(answer) ?? 0;
    return { text: encodeJson(answer.results[0]), units, isRefused: false };
  },
};

/** By the template of the route. */
export const SLICED: ReadonlyMap<string, Sliced<unknown, unknown>> = new Map(
  [slicedHazardRiskBatch, slicedAlignment].map((sliced) => [sliced.route.path, sliced as Sliced<unknown, unknown>]),
);
