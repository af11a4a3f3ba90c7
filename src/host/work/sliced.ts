import { encodeJson } from "../http/json.ts";
import type { Route, RouteContext } from "../routes/route.ts";
import { alignment } from "../routes/alignment.ts";
import { slicedHazardRiskBatch } from "../routes/hazardRiskBatch.ts";

/** One element of an answer, written. */
export interface WrittenElement {
  readonly text: string;
  readonly units: number;
  /** It is an error in its place. */
  readonly isRefused: boolean;
}

/**
 * How workers share a request whose answer is `{ "results": [ … ] }`: its elements are answered apart, in any order, and
 * no element knows of another.
 */
export interface Sliced<Request, Element> {
  readonly route: Route<Request, unknown>;
  /** Each as JSON can carry it. */
  elementsOf(request: Request): readonly Element[];
  /** What the request says of all of them, as JSON can carry it. */
  restOf(request: Request): unknown;
  /** Each element is about a place, as a hazard query is, and goes to the worker that owns it. */
  readonly isPlaced: boolean;
  answer(element: Element, rest: unknown, context: RouteContext): Promise<WrittenElement>;
  /** Header fields of the answer, beyond those of the route. */
  headers?(refusedCount: number): Readonly<Record<string, string>>;
}

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
