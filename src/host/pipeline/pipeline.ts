import type { IncomingMessage } from "node:http";
import type { RecordResult } from "../../ledger/ledger.ts";
import type { Slot } from "../admission/resources.ts";
import type { RequestBody } from "../http/bodyBuffer.ts";
import { type Coding, compressBody } from "../http/contentCoding.ts";
import type { CorsPolicy } from "../http/cors.ts";
import { entityTag, matchingTag, revisionTag } from "../http/entityTag.ts";
import type { PipelineResponse, RequestContext, RequestProcessor } from "../http/exchange.ts";
import { checkHostHeader, checkTargetForm, requestTarget, splitTarget } from "../http/requestHead.ts";
import { Router } from "../http/router.ts";
import type { HttpError } from "../problems/problem.ts";
import type { Caller, Route } from "../route.ts";
import { Access, type AccessOptions, NO_CALLER } from "./access.ts";
import { Execution, type ExecutionOptions } from "./execution.ts";
import { type IdempotentRequest, NO_USAGE, recordUsage, requestFingerprint } from "./metering.ts";
import { Responses } from "./responses.ts";
import { bodySizeBytes, isStream, type RouteResponse, selectBodyCoding, toRouteResponse } from "./routeResponse.ts";
import { WorkDeadlines } from "./workDeadlines.ts";

export interface PipelineOptions extends AccessOptions, ExecutionOptions {
  readonly routes: readonly Route<unknown, unknown>[];
  readonly cors: CorsPolicy;
  /** Version of the program; part of every ETag, because another version may encode the same answer differently. */
  readonly version: string;
  /** For each step that may wait: authentication, the customer and the result of a short request. */
  readonly workTimeoutMs: number;
}

/** Shorter responses fit into the socket buffers of the system, whether or not the client reads them. */
const HELD_RESPONSE_BYTES_MIN = 16_384;

/**
 * Processes requests. Every request goes through the same steps in the same order: route, key, rate, headers, customer,
 * body size, JSON, schema, limits, availability, compute, usage, response. The body is not read before the JSON step.
 *
 * Steps that can usually answer from memory return either a value or a promise, and `handle` awaits only promises: for
 * small responses every further promise has a measurable cost.
 */
export class Pipeline implements RequestProcessor {
  readonly #options: PipelineOptions;
  readonly #router: Router;
  readonly #access: Access;
  readonly #execution: Execution;
  readonly #responses: Responses;
  readonly #deadlines: WorkDeadlines;

  constructor(options: PipelineOptions) {
    this.#options = options;
    const { routes, services, version, cors } = options;
    this.#router = new Router(routes, services, (revision) => revisionTag(`${version} ${revision}`));
    this.#access = new Access(options);
    this.#execution = new Execution(options);
    this.#deadlines = new WorkDeadlines({ timeoutMs: options.workTimeoutMs });
    this.#responses = new Responses({ cors, prefix: services.prefix });
  }

  async handle(context: RequestContext): Promise<PipelineResponse> {
    const { request } = context;
    const { method = "" } = request;
    const url = requestTarget(request);
    let slot: Slot | undefined;
    let body: RequestBody | undefined;
    try {
      checkHostHeader(request);
      const { path, queryText } = splitTarget(url);
      checkTargetForm(method, path);
      if (method === "OPTIONS") {
        this.#access.admitOptions(request);
        return this.#responses.options(context, this.#router.allowedAt(path).join(", "));
      }
      const match = this.#router.find(method, path);
      const { target } = match;
      const { route } = target;
      context.target = target;

      if (route.access === "open") this.#access.admitOpen(request, route);
      else {
        const authenticated = this.#access.authenticate(request, match, queryText);
        slot = this.#access.admit(
          context,
          authenticated instanceof Promise ? await this.#deadlines.limit(authenticated) : authenticated,
        );
      }

      const idempotencyKey = this.#access.checkHeaders(request, route);

      if (route.access === "customer") {
        const found = this.#access.findCustomer(context);
        this.#access.setCustomer(context, found instanceof Promise ? await this.#deadlines.limit(found) : found);
      }

      body = route.method === "POST" ? await this.#execution.receiveBody(context, slot, route) : undefined;
      const { caller = NO_CALLER } = context;
      const idempotent =
        idempotencyKey === undefined
          ? undefined
          : { key: idempotencyKey, fingerprint: requestFingerprint({ ...match, caller, queryText, body }) };

      const tag = target.tag === undefined ? undefined : entityTag(target.tag, url);
      let response: RouteResponse;
      if (this.#execution.isLargeBody(route, body)) {
        response = await this.#execution.runJob(context, slot, { match, queryText, body });
      } else {
        const query = this.#execution.parse(request, { match, queryText, body });
        this.#execution.checkAvailability(route, query);
        const clientTag = tag === undefined ? undefined : matchingRequestTag(request, tag);
        if (clientTag !== undefined) return this.#responses.notModified(context, clientTag);
        if (method === "HEAD" && route.metered !== undefined) return this.#responses.uncomputed(context, target, tag);
        if (this.#execution.isLong(route, query)) {
          response = await this.#execution.runJob(context, slot, { match, queryText, body, query });
        } else {
          const streamBytes = route.streamBytes?.(query);
          if (slot !== undefined && streamBytes !== undefined) this.#options.admission.holdStream(slot, streamBytes);
          const answer = this.#execution.compute(context, route, query);
          response = toRouteResponse(
            route,
            answer instanceof Promise ? ((await this.#deadlines.limit(answer)) as unknown) : answer,
          );
        }
      }

      const coding =
        response.isCompressed === true
          ? undefined
          : selectBodyCoding(request.headers["accept-encoding"], response.body);
      const content =
        coding === undefined || isStream(response.body)
          ? response.body
          : await this.#compress(slot, response.body, coding);
      const fields = this.#responses.contentFields(target, response, { tag, coding });

      // Before it is charged, because it may be rejected.
      const heldBy = this.#holdResponse(slot, method === "HEAD" ? "" : content);
      const recording = this.#recordUsage(context, { route, caller, units: response.units, idempotent });
      const { units, isReplay } = recording instanceof Promise ? await recording : recording;
      if (isReplay) fields.push("Idempotent-Replayed", "true");

      this.#responses.addCommonFields(context, fields, units);
      const result = { status: response.status, fields, body: content === "" ? undefined : content, units };
      return heldBy === undefined ? result : { ...result, slot: heldBy };
    } catch (error) {
      if (slot !== undefined) this.#options.admission.releaseResponse(slot);
      this.#access.countRejected(context, error);
      return this.#responses.problem(context, error);
    } finally {
      // A worker may still read the body of an abandoned request, or of the next one in its place: its result is discarded.
      body?.release();
      if (slot !== undefined) this.#options.admission.release(slot);
    }
  }

  reject(context: RequestContext, httpError: HttpError): PipelineResponse {
    return this.#responses.problem(context, httpError);
  }

  countWaitingBodies(addedBytes: number): HttpError | undefined {
    return this.#options.admission.countWaitingBodies(addedBytes);
  }

  releaseResponse({ slot }: PipelineResponse): void {
    if (slot !== undefined) this.#options.admission.releaseResponse(slot);
  }

  /** Step `usage`. Disconnected clients are not metered, and HEAD of a metered route ends before it computes. @throws Fault as `recordUsage` does */
  #recordUsage(
    context: RequestContext,
    entry: {
      readonly route: Route<unknown, unknown>;
      readonly caller: Caller;
      readonly units: number;
      readonly idempotent: IdempotentRequest | undefined;
    },
  ): RecordResult | Promise<RecordResult> {
    if (entry.route.metered === undefined || context.isDisconnected) return NO_USAGE;
    const { ledger, atlas } = this.#options.services;
    const { requestId } = context;
    const { route, caller, units, idempotent } = entry;
    return recordUsage(ledger, { requestId, route, caller, units, atlasRelease: atlas.release, idempotent });
  }

  /** Compresses a body; a large one and its compressed form are added to the held bytes meanwhile. */
  async #compress(
    slot: Slot | undefined,
    body: string | readonly Uint8Array[],
    coding: Coding,
  ): Promise<readonly Uint8Array[]> {
    // Text is copied to be compressed.
    const sizeBytes = bodySizeBytes(body) * (typeof body === "string" ? 2 : 1);
    if (slot === undefined || sizeBytes < HELD_RESPONSE_BYTES_MIN) return compressBody(body, coding);
    const { admission } = this.#options;
    admission.holdAnswer(slot, sizeBytes);
    return compressBody(body, coding, (addedBytes) => admission.growAnswer(slot, addedBytes));
  }

  /**
   * Adds a large response to the held bytes until `releaseResponse`. A stream has been added already.
   * @returns the slot if the response was added
   * @throws HttpError as `AdmissionControl.holdResponse` does
   */
  #holdResponse(slot: Slot | undefined, body: RouteResponse["body"]): Slot | undefined {
    if (slot?.isStream === true) return slot;
    if (slot === undefined || isStream(body)) return undefined;
    const sizeBytes = bodySizeBytes(body);
    if (sizeBytes < HELD_RESPONSE_BYTES_MIN) return undefined;
    this.#options.admission.holdResponse(slot, sizeBytes);
    return slot;
  }
}

/** Returns the client's ETag if it matches, which means that the client already has the current response. */
function matchingRequestTag(request: IncomingMessage, tag: string): string | undefined {
  const { "if-none-match": ifNoneMatch } = request.headers;
  return ifNoneMatch === undefined ? undefined : matchingTag(ifNoneMatch, tag);
}
