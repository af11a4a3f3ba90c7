import type { CorsPolicy } from "../http/cors.ts";
import { quotedTag } from "../http/entityTag.ts";
import type { PipelineResponse, RequestContext } from "../http/exchange.ts";
import { encodeJson } from "../../text/json/json.ts";
import type { Target } from "../http/router.ts";
import { PROBLEM_CONTENT_TYPE, problemHeaders, problemOf } from "../problems/problem.ts";
import { cacheControl, flatFields, JSON_CONTENT_TYPE, NO_FIELDS, type RouteResponse } from "./routeResponse.ts";

export interface ResponsesOptions {
  readonly cors: CorsPolicy;
  /** Path below which clients reach the service. */
  readonly prefix: string;
}

const NO_SNIFFING = ["X-Content-Type-Options", "nosniff"];

/** Creates the header fields of all responses, and the responses that no route produces. */
export class Responses {
  readonly #options: ResponsesOptions;
  readonly #vary: string;

  constructor(options: ResponsesOptions) {
    this.#options = options;
    this.#vary = options.cors.isEnabled ? "Accept-Encoding, Origin" : "Accept-Encoding";
  }

  /** Returns the header fields that describe the body, and those of the route. */
  contentFields(
    target: Target,
    response: RouteResponse,
    { tag, coding }: { readonly tag: string | undefined; readonly coding: string | undefined },
  ): string[] {
    const fields = [...target.fields, ...response.fields];
    if (response.body !== "") {
      fields.push("Content-Type", response.contentType, "Vary", this.#vary);
      if (coding !== undefined) fields.push("Content-Encoding", coding);
      if (tag !== undefined) fields.push("ETag", quotedTag(tag, coding));
    }
    if (!response.fields.includes("Cache-Control")) fields.push("Cache-Control", cacheControl(target.route));
    return fields;
  }

  /** Adds the header fields of every response except that to OPTIONS. */
  addCommonFields(context: RequestContext, fields: string[], units: number): void {
    const { request, requestId, rateLimit, rateLimitPolicy, target } = context;
    const { cors } = this.#options;
    if (target?.route.metered !== undefined) fields.push("X-Usage-Units", String(units));
    fields.push("X-Request-Id", requestId);
    if (rateLimit !== undefined) fields.push("RateLimit", rateLimit, "RateLimit-Policy", rateLimitPolicy ?? "");
    if (cors.isEnabled) fields.push(...cors.responseFields(request));
  }

  /** Returns the response to a client that already has the current response, with its ETag. */
  notModified(context: RequestContext, etag: string): PipelineResponse {
    const { target } = context;
    const fields = [...(target?.fields ?? NO_FIELDS), "ETag", etag, "Vary", this.#vary];
    if (target !== undefined) fields.push("Cache-Control", cacheControl(target.route));
    this.addCommonFields(context, fields, 0);
    return { status: 304, fields, body: undefined, units: 0 };
  }

  /**
   * Returns the response to HEAD of a metered route, after the request has been validated. The result, for which GET
   * charges, is not computed, so that no header field depends on it: there is no Content-Length and no Content-Encoding
   * (RFC 9110, 9.3.2).
   */
  uncomputed(
    context: RequestContext,
    { route, fields: targetFields }: Target,
    tag: string | undefined,
  ): PipelineResponse {
    const fields = [...targetFields, "Content-Type", JSON_CONTENT_TYPE, "Vary", this.#vary];
    if (tag !== undefined) fields.push("ETag", quotedTag(tag, undefined));
    fields.push("Cache-Control", cacheControl(route));
    this.addCommonFields(context, fields, 0);
    return { status: 200, fields, body: undefined, isLengthUnknown: true, units: 0 };
  }

  /** Returns the problem response to an error. */
  problem(context: RequestContext, error: unknown): PipelineResponse {
    const problem = problemOf(error, context.requestId, this.#options.prefix);
    const fields = [...(context.target?.fields ?? NO_SNIFFING), ...flatFields(problemHeaders(problem, error))];
    fields.push("Content-Type", PROBLEM_CONTENT_TYPE, "Cache-Control", "no-store");
    this.addCommonFields(context, fields, 0);
    return { status: problem.status, fields, body: encodeJson(problem), failure: { code: problem.code, error } };
  }

  /** Returns the response to OPTIONS, including CORS preflight. @param methods the methods of the path */
  options(context: RequestContext, methods: string): PipelineResponse {
    const { cors } = this.#options;
    const fields = ["Allow", methods, ...cors.preflightFields(context.request, methods)];
    if (cors.isEnabled) fields.push("Vary", "Origin");
    fields.push("X-Request-Id", context.requestId);
    return { status: 204, fields, body: undefined };
  }
}
