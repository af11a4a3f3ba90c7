import { createHash } from "node:crypto";
import type { Ledger, RecordResult } from "../../ledger/ledger.ts";
import type { RequestBody } from "../http/bodyBuffer.ts";
import type { Caller, Route } from "../route.ts";

/** Identifies retries of a request, which have the same key and the same content. */
export interface IdempotentRequest {
  readonly key: string;
  /** SHA-256, hexadecimal. */
  readonly fingerprint: string;
}

/** Hashes everything that distinguishes a customer's requests to a route, down to the bytes of the body. */
export function requestFingerprint(request: {
  readonly target: { readonly route: { readonly path: string } };
  readonly path: Readonly<Record<string, string>>;
  readonly caller: Caller | undefined;
  readonly queryText: string;
  readonly body: Pick<RequestBody, "parts"> | undefined;
}): string {
  const { target, path: pathParameters, caller, queryText, body } = request;
  // Encoded as JSON, so that different lists always have different encodings.
  const head = JSON.stringify([target.route.path, caller?.customerId, Object.entries(pathParameters), queryText]);
  const hash = createHash("sha256").update(head);
  if (body !== undefined) {
    hash.update("\n");
    for (const part of body.parts) hash.update(part);
  }
  return hash.digest("hex");
}

export const NO_USAGE: RecordResult = { units: 0, isReplay: false };

/**
 * Records the usage of a response, before the response is sent.
 * @throws Fault `usage_not_recorded`, `clock_unreliable`, `idempotency_key_reused`
 */
export function recordUsage(
  ledger: Ledger,
  usage: {
    /** Becomes the receipt of the usage record: recording the same request again changes nothing. */
    readonly requestId: string;
    readonly route: Route<unknown, unknown>;
    readonly caller: Caller;
    readonly units: number;
    readonly atlasRelease: string;
    readonly idempotent: IdempotentRequest | undefined;
  },
): Promise<RecordResult> | RecordResult {
  const { route, caller, units, idempotent } = usage;
  const { metered } = route;
  if (metered === undefined || (units === 0 && idempotent === undefined)) return NO_USAGE;
  if (!(Number.isSafeInteger(units) && units >= 0)) {
    throw new Error(`units must be an integer of at least 0 (got ${units})`);
  }
  if (caller.customerId === undefined) throw new Error(`metered route ${route.path} must require a customer id`);
  return ledger.record({
    receipt: usage.requestId,
    accountId: caller.accountId,
    customerId: caller.customerId,
    keyId: caller.keyId,
    meter: metered.meter,
    units,
    route: route.path,
    ...(metered.meter === "hazard_values" ? { atlasRelease: usage.atlasRelease } : {}),
    ...(idempotent === undefined ? {} : { idempotency: idempotent }),
  });
}
