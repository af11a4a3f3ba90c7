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

/** Problems that other credentials can solve, with the one to correct. */
const FAULTY_CREDENTIALS: ReadonlyMap<string, keyof Credentials> = new Map([
  ["api_key_missing", "apiKey"],
  ["api_key_invalid", "apiKey"],
  ["api_key_revoked", "apiKey"],
  ["account_suspended", "apiKey"],
  ["customer_id_missing", "customerId"],
  ["customer_id_malformed", "customerId"],
  ["customer_not_accessible", "customerId"],
  ["customer_not_found", "customerId"],
  ["customer_archived", "customerId"],
]);

/** Returns which of the credentials an error rejects; undefined for other errors. */
export function faultyCredentialOf(error: unknown): keyof Credentials | undefined {
  return error instanceof ExplorerError ? FAULTY_CREDENTIALS.get(error.code) : undefined;
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
  return withCatalog(await publishedData(source.configuration, { signal }), signal);
}

/** Reads the catalog of data. Closes the data if it cannot be read. @throws ExplorerError; the signal's reason */
export async function withCatalog(data: ExplorerData, signal: AbortSignal): Promise<OpenedData> {
  try {
    return { data, catalog: await data.catalog(signal) };
  } catch (error) {
    data.close();
    throw error;
  }
}

/** Opens the service that sent the page. @throws ExplorerError, also if the key is not accepted; the signal's reason */
async function openService({ apiKey, customerId }: Credentials, signal: AbortSignal): Promise<OpenedData> {
  const data = serviceData({ baseUrl: pageFolder(), apiKey, customerId });
  // An unknown key is reported as such, not as an unknown customer.
  const opened = await withCatalog(data, signal);
  await data.checkCustomer(signal);
  return opened;
}
