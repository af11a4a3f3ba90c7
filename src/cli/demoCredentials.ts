import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Ledger } from "../ledger/ledger.ts";

/** What a first call needs, as it lies in `demo-credentials.json`. */
export interface DemoCredentials {
  readonly base_url: string;
  readonly api_key: string;
  readonly customer_id: string;
}

const FILE_NAME = "demo-credentials.json";
const INTERNAL_ID = "demo-customer";

/**
 * The demo's account, key and customer: made at the first start, and again where the ledger does not know them.
 * @returns the file that holds them, which only its owner may read
 */
export async function prepareDemo(
  ledger: Ledger,
  { data, baseUrl }: { readonly data: string; readonly baseUrl: string },
): Promise<{ readonly file: string; readonly credentials: DemoCredentials }> {
  const file = join(resolve(data), FILE_NAME);
  const kept = await keptCredentials(ledger, file);
  const credentials = { ...(kept ?? (await newCredentials(ledger))), base_url: baseUrl };
  await mkdir(data, { recursive: true, mode: 0o700 });
  // Written aside: whoever reads it finds the old or the new, whole.
  const aside = `${file}.writing`;
  const { base_url, api_key, customer_id } = credentials;
  await writeFile(aside, `${JSON.stringify({ base_url, api_key, customer_id }, undefined, 2)}\n`, { mode: 0o600 });
  await chmod(aside, 0o600);
  await rename(aside, file);
  return { file, credentials };
}

type Kept = Omit<DemoCredentials, "base_url">;

async function keptCredentials(ledger: Ledger, file: string): Promise<Kept | undefined> {
  const { api_key, customer_id } = await readCredentials(file);
  if (typeof api_key !== "string" || typeof customer_id !== "string") return undefined;
  const holder = await ledger.findKey(createHash("sha256").update(api_key).digest());
  if (holder === undefined || holder.account.suspendedAt !== undefined) return undefined;
  // One that was rotated works for a while yet, but not for as long as this service may.
  if (holder.key.revokedAt !== undefined || holder.key.expiresAt !== undefined) return undefined;
  const customer = await ledger.findCustomer({ accountId: holder.account.accountId, customerId: customer_id });
  return customer === undefined || customer.archivedAt !== undefined ? undefined : { api_key, customer_id };
}

async function readCredentials(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const kept: unknown = JSON.parse(await readFile(file, "utf8"));
    return typeof kept === "object" && kept !== null ? (kept as Readonly<Record<string, unknown>>) : {};
  } catch {
    // Not there, or not to be read as what it was: made anew.
    return {};
  }
}

async function newCredentials(ledger: Ledger): Promise<Kept> {
  const { accountId } = await ledger.createAccount({ name: "Demo" });
  const { secret } = await ledger.createKey({ accountId, name: "demo" });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: INTERNAL_ID, name: "Demo customer" });
  return { api_key: secret, customer_id: customer.customerId };
}
