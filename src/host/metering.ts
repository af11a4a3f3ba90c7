import { createHash } from "node:crypto";
import type { Ledger, RecordResult } from "../ledger/ledger.ts";
import type { Caller, Route } from "./routes/route.ts";

/** A repeated request is known by its key and by what it asks. */
export interface IdempotentRequest {
  readonly key: string;
  /** SHA-256, hexadecimal. */
  readonly fingerprint: string;
}

/** What tells one request of a customer at a route from another: every byte of what it asks. */
export function requestFingerprint(asked: {
  readonly target: { readonly route: { readonly path: string } };
  readonly path: Readonly<Record<string, string>>;
  readonly caller: Caller | undefined;
  readonly queryText: string;
  readonly bytes: Uint8Array | undefined;
}): string {
  const { target, path, caller, queryText, bytes } = asked;
  // A list of texts is written so that no two lists read alike.
  const head = JSON.stringify([target.route.path, caller?.customerId, Object.entries(path), queryText]);
  const hash = createHash("sha256").update(head);
  if (bytes !== undefined) hash.update("\n").update(bytes);
  return hash.digest("hex");
}

const NOTHING: RecordResult = { units: 0, isReplay: false };

/**
 * Writes down what an answer costs, before it is given.
 * @throws Fault `usage_not_recorded`, `idempotency_key_reused`
 */
export function recordUsage(
  ledger: Ledger,
  answer: {
    /** The request's own: recording it twice changes nothing. */
    readonly requestId: string;
    readonly route: Route<unknown, unknown>;
    readonly caller: Caller;
    readonly units: number;
    readonly atlasRelease: string;
    readonly repeatable: IdempotentRequest | undefined;
  },
): Promise<RecordResult> | RecordResult {
  const { route, caller, units, repeatable } = answer;
  const { metered } = route;
  if (metered === undefined || (units === 0 && repeatable === undefined)) return NOTHING;
  if (!(Number.isSafeInteger(units) && units >= 0)) throw new Error(`An answer counts ${units} units.`);
  if (caller.customerId === undefined) throw new Error("A metered route must ask for a customer.");
  return ledger.record({
    receipt: answer.requestId,
    accountId: caller.accountId,
    customerId: caller.customerId,
    keyId: caller.keyId,
    meter: metered.meter,
    units,
    route: route.path,
    ...(metered.meter === "hazard_values" ? { atlasRelease: answer.atlasRelease } : {}),
    ...(repeatable === undefined ? {} : { idempotency: repeatable }),
  });
}
