import { randomUUID } from "node:crypto";
import type { Atlas } from "../../src/hazard/answer.ts";
import { encodeJson } from "../../src/text/json/json.ts";
import type { Caller, HostLimits, Reply, Route, Services } from "../../src/host/route.ts";
import { fakeAtlas } from "./testHost.ts";
import { MemoryLedger } from "./memoryLedger.ts";

export const LIMITS: HostLimits = {
  hazardValueCount: 100_000,
  batchCount: 10_000,
  entityCount: 5000,
  alignmentValueCount: 100_000,
  detailCount: 10_000,
  requestBodyBytesMax: 8 << 20,
  customerCount: 100_000,
  requestsPerS: 50,
  requestBurst: 100,
  tilesPerS: 100,
  tileBurst: 400,
};

export interface RouteResult {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Metered units; undefined for routes without a meter. */
  readonly units: number | undefined;
}

/** Calls routes as the pipeline does, without a server. */
export class RouteCaller {
  readonly ledger = new MemoryLedger();
  readonly services: Services;

  constructor({
    atlas = fakeAtlas(),
    limits = {},
  }: { readonly atlas?: Atlas; readonly limits?: Partial<HostLimits> } = {}) {
    this.services = { atlas, ledger: this.ledger, limits: { ...LIMITS, ...limits }, prefix: "" };
  }

  /** Creates a caller with a new account. */
  async caller(name = "Someone"): Promise<Caller> {
    const { accountId } = await this.ledger.createAccount({ name });
    const { key } = await this.ledger.createKey({ accountId });
    return { accountId, keyId: key.keyId };
  }

  async call<Request, Response>(
    route: Route<Request, Response>,
    asked: {
      readonly caller?: Caller;
      readonly queryText?: string;
      readonly path?: Readonly<Record<string, string>>;
      readonly body?: unknown;
      readonly accept?: string;
      /** Aborts when the client disconnects. */
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<RouteResult> {
    const { caller = { accountId: "", keyId: "" }, queryText = "", path = {}, body, accept } = asked;
    const request = route.parse({
      queryText,
      path,
      limits: this.services.limits,
      ...(body === undefined ? {} : { body }),
      ...(accept === undefined ? {} : { accept }),
    });
    const { signal = new AbortController().signal } = asked;
    const response = await route.handle(request, { services: this.services, caller, requestId: randomUUID(), signal });
    const units = route.metered?.units(response);
    const reply: Reply = route.reply?.(response) ?? {
      status: 200,
      contentType: "application/json",
      body: encodeJson(response),
    };
    return {
      status: reply.status,
      contentType: reply.contentType,
      headers: reply.headers ?? {},
      text: await textOf(reply.body),
      units,
    };
  }
}

async function textOf(body: Reply["body"]): Promise<string> {
  if (typeof body === "string") return body;
  if (Array.isArray(body)) return Buffer.concat(body as readonly Uint8Array[]).toString();
  let text = "";
  for await (const part of body as AsyncIterable<string>) text += part;
  return text;
}
