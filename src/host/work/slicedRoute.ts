import type { Route, RouteContext } from "../routes/route.ts";

/** The encoded result of one element of a request. */
export interface WrittenElement {
  readonly text: string;
  readonly units: number;
  /** The element is an error that takes the place of its result. */
  readonly isRefused: boolean;
}

/** A route whose result is `{ "results": [ ... ] }` and whose elements are independent, so that workers can share them. */
export interface Sliced<Request, Element> {
  readonly route: Route<Request, unknown>;
  /** Returns the elements, each serializable as JSON. */
  elementsOf(request: Request): readonly Element[];
  /** Returns what applies to all elements, serializable as JSON. */
  restOf(request: Request): unknown;
  /** Each element is about a location, as a hazard query is, and is sent to the worker that owns it. */
  readonly isPlaced: boolean;
  answer(element: Element, rest: unknown, context: RouteContext): Promise<WrittenElement>;
  /** Returns response headers in addition to those of the route. */
  headers?(refusedCount: number): Readonly<Record<string, string>>;
}
