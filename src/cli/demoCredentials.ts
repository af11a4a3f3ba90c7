import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Ledger } from "../ledger/ledger.ts";
import { indentedJson } from "./terminal.ts";

/** Content of `demo-credentials.json`: everything that a first request needs. */
export interface DemoCredentials {
  readonly base_url: string;
  readonly api_key: string;
  readonly customer_id: string;
}

const FILE_NAME = "demo-credentials.json";
const INTERNAL_ID = "demo-customer";

/**
 * Creates the account, key and customer of the demo, unless stored credentials exist that are still valid.
 * @returns the credentials and the path of the file (mode 0600) that holds them
 */
export async function ensureDemoCredentials(
  ledger: Ledger,
  { dataDirectory, baseUrl }: { readonly dataDirectory: string; readonly baseUrl: string },
): Promise<{ readonly file: string; readonly credentials: DemoCredentials }> {
  const file = join(resolve(dataDirectory), FILE_NAME);
  const stored = await storedCredentials(ledger, file);
  const credentials = { ...(stored ?? (await createCredentials(ledger))), base_url: baseUrl };
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  // Renamed when complete, so that readers never see a partial file.
  const temporaryPath = `${file}.writing`;
  const { base_url, api_key, customer_id } = credentials;
  await writeFile(temporaryPath, indentedJson({ base_url, api_key, customer_id }), {
    mode: 0o600,
  });
  await chmod(temporaryPath, 0o600);
  await rename(temporaryPath, file);
  return { file, credentials };
}

type StoredCredentials = Omit<DemoCredentials, "base_url">;

async function storedCredentials(ledger: Ledger, file: string): Promise<StoredCredentials | undefined> {
  const { api_key, customer_id } = await readCredentials(file);
  if (typeof api_key !== "string" || typeof customer_id !== "string") return undefined;
  const holder = await ledger.findKey(createHash("sha256").update(api_key).digest());
  if (holder === undefined || holder.account.suspendedAt !== undefined) return undefined;
  // A rotated key still works, but may expire while this service runs.
  if (holder.key.revokedAt !== undefined || holder.key.expiresAt !== undefined) return undefined;
  const customer = await ledger.findCustomer({ accountId: holder.account.accountId, customerId: customer_id });
  return customer === undefined || customer.archivedAt !== undefined ? undefined : { api_key, customer_id };
}

async function readCredentials(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const content: unknown = JSON.parse(await readFile(file, "utf8"));
    return typeof content === "object" && content !== null ? (content as Readonly<Record<string, unknown>>) : {};
  } catch {
    // Missing, unreadable or malformed: the caller creates new credentials.
    return {};
  }
}

async function createCredentials(ledger: Ledger): Promise<StoredCredentials> {
  const { accountId } = await ledger.createAccount({ name: "Demo" });
  const { secret } = await ledger.createKey({ accountId, name: "demo" });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: INTERNAL_ID, name: "Demo customer" });
  return { api_key: secret, customer_id: customer.customerId };
}
