import { signal as createSignal } from "@preact/signals";
import { IsothermClient } from "../../client/client.ts";
import { IsothermError } from "../../client/problem.ts";
import { type AnswerNotes, Transport } from "../../client/transport.ts";
import type { CurveQueryInput, CurveResult, Problem } from "../../contract/wireTypes.ts";
import { decodeValueTile, type ValueTile } from "../../tiles/valueTile.ts";
import { ExplorerError, type ExplorerData, type TileAddress } from "./explorerData.ts";
import { TileLoader } from "./tileLoader.ts";

export interface ServiceDataOptions {
  /** Address of the service, with or without a slash at its end. The page passes its folder. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly customerId?: string | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Maximum number of attempts per request, including the first. Default 4. */
  readonly attemptCountMax?: number;
}

/** The data of a service, and the check of its customer, which only data requests make otherwise. */
export interface ServiceData extends ExplorerData {
  /** @throws ExplorerError if the account has no such customer, or if the customer is archived */
  checkCustomer(signal?: AbortSignal): Promise<void>;
}

/** Longer delays are left to the user, who sees how long to wait. */
const DELAY_MS_MAX = 10_000;

/**
 * Returns the data of the service at `baseUrl`. Requests that fail for a short time, such as those above the rate limit, are
 * repeated after the delay that the service asks for.
 */
export function serviceData({
  baseUrl,
  apiKey,
  customerId,
  fetch = (...request) => globalThis.fetch(...request),
  attemptCountMax = 4,
}: ServiceDataOptions): ServiceData {
  const retry = { attempts: attemptCountMax, delayMsMax: DELAY_MS_MAX };
  /** Release of the first answers, which include the catalog. */
  let firstRelease: string | undefined;
  const newRelease = createSignal<string | undefined>(undefined);
  const onAnswer = ({ atlasRelease }: AnswerNotes): void => {
    firstRelease ??= atlasRelease;
    if (atlasRelease === undefined || atlasRelease === (newRelease.peek() ?? firstRelease)) return;
    newRelease.value = atlasRelease;
    tiles.clear();
  };
  const client = new IsothermClient({
    baseUrl,
    fetch,
    retry,
    onAnswer,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(customerId === undefined ? {} : { customerId }),
  });
  // A tile in the cache of the browser may be of another atlas, because its address has no release: the service is asked each time.
  const revalidated: typeof fetch = (url, init) => fetch(url, { ...init, cache: "no-cache" });
  const transport = new Transport({ baseUrl, apiKey, fetch: revalidated, retry, onAnswer });
  const tiles = new TileLoader(async (address, signal) => {
    const { bytes } = await answer(transport.bytes({ method: "GET", path: tilePath(address), signal }), signal);
    return decoded(bytes);
  });
  return {
    kind: "service",
    newRelease,
    async checkCustomer(signal) {
      const { archived_at } = await answer(client.customer(customerId ?? "", cancelledBy(signal)), signal);
      if (archived_at !== null)
        throw new ExplorerError("customer_archived", "The customer is archived. Use another one.");
    },
    catalog: (signal) => answer(client.hazards(cancelledBy(signal)), signal),
    valueTile: (address, signal) => tiles.tile(address, signal),
    hazardRisk: (query, signal) => answer(client.hazardRisk(query, cancelledBy(signal)), signal),
    async hazardRiskBatch(queries, signal) {
      return (await answer(client.hazardRiskBatch(queries, cancelledBy(signal)), signal)).results;
    },
    curve: (query, signal) => answer(curveOf(client, query, signal), signal),
    async curveBatch(queries, signal) {
      return (await answer(client.curveBatch(queries, cancelledBy(signal)), signal)).results;
    },
    alignTemperature(request, { budget_scenario, ...parameters }, signal) {
      const scenario = budget_scenario === undefined ? {} : { budgetScenario: budget_scenario };
      return answer(client.alignTemperature(request, { ...parameters, ...scenario, ...cancelledBy(signal) }), signal);
    },
    totalClimateRisk: (request, signal) => answer(client.totalClimateRisk(request, cancelledBy(signal)), signal),
    industries: async (signal) => ({ items: await answer(client.industries(cancelledBy(signal)), signal) }),
    countries: async (signal) => ({ items: await answer(client.countries(cancelledBy(signal)), signal) }),
    scenarios: async (signal) => ({ items: await answer(client.scenarios(cancelledBy(signal)), signal) }),
    close: () => undefined,
  };
}

function cancelledBy(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function tilePath({ hazard, scenario, analysisYear, metric, z, x, y }: TileAddress): string {
  return `/api/v1/tiles/${[hazard, scenario, analysisYear, metric, z, x, y].map(encodeURIComponent).join("/")}.bin`;
}

function decoded(bytes: Uint8Array): ValueTile {
  try {
    return decodeValueTile(bytes);
  } catch (error) {
    throw new ExplorerError(
      "unexpected_response",
      `The service sent a map tile that cannot be read: ${String(error)}.`,
    );
  }
}

/** Requests a curve. Only a batch can contain a damage curve. */
async function curveOf(
  client: IsothermClient,
  query: CurveQueryInput,
  signal: AbortSignal | undefined,
): Promise<CurveResult> {
  const { damage_curve, ...parameters } = query;
  if (damage_curve === undefined) return client.curve(parameters, cancelledBy(signal));
  const { results } = await client.curveBatch([query], cancelledBy(signal));
  const [result] = results;
  if (result === undefined) throw new ExplorerError("network", "The service returned no result.");
  if ("error" in result) throw explorerErrorOf(result.error);
  return result;
}

/** Returns the answer of a call. @throws ExplorerError; the signal's reason */
async function answer<Answer>(call: Promise<Answer>, signal: AbortSignal | undefined): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ExplorerError) throw error;
    if (!(error instanceof IsothermError)) {
      throw new ExplorerError("network", "The service cannot be reached. Check the connection, then try again.");
    }
    const { problem, status, retryAfterMs } = error;
    if (problem !== undefined) throw explorerErrorOf(problem, retryAfterMs);
    throw new ExplorerError(
      "unexpected_response",
      `The address answered with status ${status}, and not as an Isotherm service does. A proxy may be in between.`,
    );
  }
}

function explorerErrorOf({ code, detail, errors = [] }: Problem, retryAfterMs?: number): ExplorerError {
  const retryAfterS = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000);
  return new ExplorerError(code, detail, errors, retryAfterS);
}
