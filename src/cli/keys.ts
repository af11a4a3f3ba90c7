import { Command, InvalidArgumentError } from "commander";
import { Fault } from "../errors.ts";
import { digestOf, isKeyShaped, isMistyped } from "../ledger/keys.ts";
import type { ApiKey, IssuedKey, KeyHolder } from "../ledger/ledger.ts";
import { ledgerCommand, type LedgerFlags, printJson, printTable, withLedger } from "./ledgerCommand.ts";

/** Enough time to distribute the new key. */
const OVERLAP_HOURS_DEFAULT = 24;
/** Upper bound on the length of a key, in characters. */
const INPUT_LENGTH_MAX = 4096;

/** `isotherm keys`: issues, imports, lists, rotates, revokes and checks API keys. */
export function keysCommand(): Command {
  return new Command("keys")
    .addCommand(
      ledgerCommand("create")
        .description("create a key for an account; the key is shown only once")
        .requiredOption("--account <account>", "account id")
        .option("--name <name>", "label, 1 to 200 characters")
        .option("--import", "import a key issued elsewhere, read from standard input")
        .addHelpText(
          "after",
          "\nExamples:\n  isotherm keys create --account 0d3c6a5e-5f0b-4a35-9d6f-0c5b4f1c2a77 --name nightly\n" +
            "  isotherm keys create --account 0d3c6a5e-5f0b-4a35-9d6f-0c5b4f1c2a77 --import < key.txt",
        )
        .action(runKeysCreate),
    )
    .addCommand(
      ledgerCommand("list")
        .description("list keys by id; the keys themselves are not stored")
        .option("--account <account>", "only the keys of this account")
        .addHelpText("after", "\nExample:\n  isotherm keys list")
        .action(runKeysList),
    )
    .addCommand(
      ledgerCommand("rotate")
        .description("create a replacement for a key; the old key stays valid during an overlap")
        .argument("<key>", "id of the old key")
        .option(
          "--overlap <hours>",
          "hours for which the old key stays valid, 0 to 8784",
          readHours,
          OVERLAP_HOURS_DEFAULT,
        )
        .addHelpText("after", "\nExample:\n  isotherm keys rotate 7c1b1f43-52d4-4d5b-8a55-19f6e2c0f7aa --overlap 72")
        .action(runKeysRotate),
    )
    .addCommand(
      ledgerCommand("revoke")
        .description(
          "revoke a key permanently: takes effect within 1 s on this machine and 5 s on others that share the database",
        )
        .argument("<key>", "key id")
        .addHelpText("after", "\nExample:\n  isotherm keys revoke 7c1b1f43-52d4-4d5b-8a55-19f6e2c0f7aa")
        .action(runKeysRevoke),
    )
    .addCommand(
      ledgerCommand("check")
        .description("check a key read from standard input: its account and whether it is valid")
        .addHelpText("after", "\nExits with 1 if the key is not valid.\n\nExample:\n  isotherm keys check < key.txt")
        .action(runKeysCheck),
    );
}

async function runKeysCreate(
  flags: LedgerFlags & { readonly account: string; readonly name?: string; readonly import?: boolean },
): Promise<void> {
  const { account: accountId, name } = flags;
  const secret =
    flags.import === true ? await readSecret("isotherm keys create --account ACCOUNT --import < key.txt") : undefined;
  const issued = await withLedger(flags, (ledger) =>
    ledger.createKey({
      accountId,
      ...(name === undefined ? {} : { name }),
      ...(secret === undefined ? {} : { secret }),
    }),
  );
  if (secret === undefined) printIssuedKey(issued, flags);
  else if (flags.json === true) printJson(keyJson(issued.key));
  else process.stdout.write(`Key ${issued.key.keyId} of account ${accountId} was imported.\n`);
}

async function runKeysList(flags: LedgerFlags & { readonly account?: string }): Promise<void> {
  const { account: accountId } = flags;
  const keys = await withLedger(flags, (ledger) => ledger.listKeys(accountId === undefined ? {} : { accountId }));
  if (flags.json === true) {
    printJson({ items: keys.map(keyJson) });
    return;
  }
  printTable(
    ["key", "account", "name", "created", "state"],
    keys.map((key) => [key.keyId, key.accountId, key.name ?? "", key.createdAt, keyState(key)]),
  );
}

async function runKeysRotate(keyId: string, flags: LedgerFlags & { readonly overlap: number }): Promise<void> {
  const overlapS = Math.round(flags.overlap * 3600);
  printIssuedKey(await withLedger(flags, (ledger) => ledger.rotateKey({ keyId, overlapS })), flags);
  if (flags.json === true) return;
  const validity = flags.overlap === 0 ? "is no longer valid" : `stays valid for ${flags.overlap} hours`;
  process.stdout.write(`The old key ${keyId} ${validity}.\n`);
}

async function runKeysRevoke(keyId: string, flags: LedgerFlags): Promise<void> {
  const key = await withLedger(flags, (ledger) => ledger.revokeKey(keyId));
  if (flags.json === true) printJson(keyJson(key));
  else process.stdout.write(`Key ${keyId} was revoked at ${key.revokedAt ?? ""}.\n`);
}

async function runKeysCheck(flags: LedgerFlags): Promise<void> {
  const secret = await readSecret("isotherm keys check < key.txt");
  const holder = isKeyShaped(secret)
    ? await withLedger(flags, (ledger) => ledger.findKey(digestOf(secret)))
    : undefined;
  const result = checkKey(secret, holder);
  if (result.status !== "valid") process.exitCode = 1;
  if (flags.json === true) {
    const key = holder === undefined ? null : keyJson(holder.key);
    const account = holder === undefined ? null : { account_id: holder.account.accountId, name: holder.account.name };
    printJson({ status: result.status, key, account });
    return;
  }
  const owner =
    holder === undefined
      ? ""
      : ` Key ${holder.key.keyId} of account ${holder.account.accountId}, ${holder.account.name}.`;
  process.stdout.write(`${result.text}${owner}\n`);
}

interface KeyCheck {
  readonly status: "valid" | "revoked" | "expired" | "account_suspended" | "unknown" | "mistyped" | "malformed";
  readonly text: string;
}

function checkKey(secret: string, holder: KeyHolder | undefined): KeyCheck {
  if (!isKeyShaped(secret)) {
    return { status: "malformed", text: "Not a key: a key consists of a prefix, _sk_ and 64 letters and digits." };
  }
  if (holder === undefined) {
    return isMistyped(secret)
      ? { status: "mistyped", text: "Unknown key with a wrong checksum; it was probably mistyped." }
      : { status: "unknown", text: "Well-formed, but not a key of this ledger." };
  }
  const { revokedAt, expiresAt } = holder.key;
  if (revokedAt !== undefined) return { status: "revoked", text: `The key was revoked at ${revokedAt}.` };
  if (expiresAt !== undefined && Date.parse(expiresAt) <= Date.now()) {
    return { status: "expired", text: `The key was replaced and expired at ${expiresAt}.` };
  }
  if (holder.account.suspendedAt !== undefined) {
    return { status: "account_suspended", text: `The account has been suspended since ${holder.account.suspendedAt}.` };
  }
  return { status: "valid", text: "The key is valid." };
}

/**
 * Reads a key from standard input. Keys are not accepted as arguments because other users of the machine could read them.
 * @param example a command line for the error message
 */
async function readSecret(example: string): Promise<string> {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    text += chunk as string;
    if (text.length > INPUT_LENGTH_MAX)
      throw new Fault(
        "invalid_request",
        `Standard input must contain only a key (at most ${INPUT_LENGTH_MAX} characters); it is longer.`,
      );
  }
  const key = text.trim();
  if (key === "") throw new Fault("invalid_request", `Standard input contains no key; usage: ${example}`);
  return key;
}

function printIssuedKey({ secret, key }: IssuedKey, { json }: LedgerFlags): void {
  if (json === true) {
    printJson({ ...keyJson(key), api_key: secret });
    return;
  }
  process.stdout.write(`Key ${key.keyId} of account ${key.accountId}:\n\n  ${secret}\n\n`);
  process.stdout.write("This key is not shown again. Store it as a secret.\n");
}

function keyState({ revokedAt, expiresAt, replacedBy }: ApiKey): string {
  if (revokedAt !== undefined) return `revoked ${revokedAt}`;
  if (expiresAt === undefined) return "valid";
  const replacement = replacedBy === undefined ? "" : `, replaced by ${replacedBy}`;
  return `${Date.parse(expiresAt) <= Date.now() ? "expired" : "valid until"} ${expiresAt}${replacement}`;
}

function keyJson(key: ApiKey): object {
  return {
    key_id: key.keyId,
    account_id: key.accountId,
    name: key.name ?? null,
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    revoked_at: key.revokedAt ?? null,
    replaced_by: key.replacedBy ?? null,
  };
}

function readHours(text: string): number {
  const hours = /^[0-9]+(\.[0-9]+)?$/.test(text) ? Number(text) : NaN;
  if (hours <= 8784) return hours;
  throw new InvalidArgumentError("It must be a number of hours from 0 to 8784.");
}
