import type { HazardCatalog } from "../contract/wireTypes.ts";
import type { ExplorerData } from "./data/explorerData.ts";
import { ExplorerError } from "./data/explorerData.ts";
import { publishedData } from "./data/publishedData.ts";
import { serviceData } from "./data/serviceData.ts";
import type { Credentials } from "./session.ts";

export interface OpenedData {
  readonly data: ExplorerData;
  readonly catalog: HazardCatalog;
}

/** Problems that another key or customer can solve. */
const CREDENTIAL_CODES = new Set([
  "api_key_missing",
  "api_key_invalid",
  "api_key_revoked",
  "account_suspended",
  "customer_id_missing",
  "customer_id_malformed",
  "customer_not_accessible",
  "customer_not_found",
  "customer_archived",
]);

export function isCredentialProblem(error: unknown): error is ExplorerError {
  return error instanceof ExplorerError && CREDENTIAL_CODES.has(error.code);
}

/**
 * Returns the folder of the page, below which the service has its routes: the parent of the folder of the scripts. The page
 * may be open at an address without the slash at its end.
 */
export function pageFolder(): string {
  return new URL(/* @vite-ignore */ "..", import.meta.url).href;
}

/** What the page reads: a service, or the atlas that a published page is configured with. */
export type Source =
  | { readonly kind: "service"; readonly credentials: Credentials }
  | { readonly kind: "published"; readonly configuration: string };

/** Opens the data of a source. @throws ExplorerError, also if the key is not accepted; the signal's reason */
export async function openSource(source: Source, signal: AbortSignal): Promise<OpenedData> {
  if (source.kind === "service") return openService(source.credentials, signal);
  const data = await publishedData(source.configuration);
  return { data, catalog: await data.catalog(signal) };
}

/** Opens the service that sent the page. @throws ExplorerError, also if the key is not accepted; the signal's reason */
async function openService({ apiKey, customerId }: Credentials, signal: AbortSignal): Promise<OpenedData> {
  const data = serviceData({ baseUrl: pageFolder(), apiKey, customerId });
  // An unknown key is reported as such, not as an unknown customer.
  const catalog = await data.catalog(signal);
  await data.checkCustomer(signal);
  return { data, catalog };
}
