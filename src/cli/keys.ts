import { Command, InvalidArgumentError } from "commander";
import { Fault } from "../errors.ts";
import { digestOf, isKeyShaped, isMistyped } from "../ledger/keys.ts";
import type { ApiKey, IssuedKey, KeyHolder } from "../ledger/ledger.ts";
import { ledgerCommand, type LedgerFlags, printJson, printTable, withLedger } from "./ledgerCommand.ts";

/** Long enough to give a new key to everybody who uses the old one. */
const OVERLAP_HOURS_DEFAULT = 24;
/** No key is longer; what is, is not one. */
const INPUT_LENGTH_MAX = 4096;

/** `isotherm keys`: issued, listed, rotated and revoked here, and nowhere else. */
export function keysCommand(): Command {
  return new Command("keys")
    .description("API keys: what X-API-Key says")
    .addCommand(
      ledgerCommand("create")
        .description("make a key of an account; it is shown this once")
        .requiredOption("--account <account>", "the account's id")
        .option("--name <name>", "what it is for, 1 to 200 characters")
        .option("--import", "take in a key issued elsewhere, from standard input")
        .addHelpText(
          "after",
          "\nExamples:\n  isotherm keys create --account 0d3c6a5e-5f0b-4a35-9d6f-0c5b4f1c2a77 --name nightly\n" +
            "  isotherm keys create --account 0d3c6a5e-5f0b-4a35-9d6f-0c5b4f1c2a77 --import < key.txt",
        )
        .action(create),
    )
    .addCommand(
      ledgerCommand("list")
        .description("all keys, by their ids; what they are nobody can tell any more")
        .option("--account <account>", "of this account alone")
        .addHelpText("after", "\nExample:\n  isotherm keys list")
        .action(list),
    )
    .addCommand(
      ledgerCommand("rotate")
        .description("make a key in the place of another, which goes on working for a while")
        .argument("<key>", "the id of the old key")
        .option(
          "--overlap <hours>",
          "how long the old one goes on working, 0 to 8784",
          readHours,
          OVERLAP_HOURS_DEFAULT,
        )
        .addHelpText("after", "\nExample:\n  isotherm keys rotate 7c1b1f43-52d4-4d5b-8a55-19f6e2c0f7aa --overlap 72")
        .action(rotate),
    )
    .addCommand(
      ledgerCommand("revoke")
        .description("refuse a key for good: within 1 s on this machine, 5 s on all that share a database")
        .argument("<key>", "the key's id")
        .addHelpText("after", "\nExample:\n  isotherm keys revoke 7c1b1f43-52d4-4d5b-8a55-19f6e2c0f7aa")
        .action(revoke),
    )
    .addCommand(
      ledgerCommand("check")
        .description("whose a key is and whether it works; the key comes from standard input")
        .addHelpText("after", "\nExits with 1 when it does not work.\n\nExample:\n  isotherm keys check < key.txt")
        .action(check),
    );
}

async function create(
  flags: LedgerFlags & { readonly account: string; readonly name?: string; readonly import?: boolean },
): Promise<void> {
  const { account: accountId, name } = flags;
  const secret =
    flags.import === true ? await readKey("isotherm keys create --account ACCOUNT --import < key.txt") : undefined;
  const issued = await withLedger(flags, (ledger) =>
    ledger.createKey({
      accountId,
      ...(name === undefined ? {} : { name }),
      ...(secret === undefined ? {} : { secret }),
    }),
  );
  if (secret === undefined) show(issued, flags);
  else if (flags.json === true) printJson(wireOf(issued.key));
  else process.stdout.write(`Key ${issued.key.keyId} of account ${accountId} is taken in.\n`);
}

async function list(flags: LedgerFlags & { readonly account?: string }): Promise<void> {
  const { account: accountId } = flags;
  const keys = await withLedger(flags, (ledger) => ledger.listKeys(accountId === undefined ? {} : { accountId }));
  if (flags.json === true) {
    printJson({ items: keys.map(wireOf) });
    return;
  }
  printTable(
    ["key", "account", "name", "created", "state"],
    keys.map((key) => [key.keyId, key.accountId, key.name ?? "", key.createdAt, stateOf(key)]),
  );
}

async function rotate(keyId: string, flags: LedgerFlags & { readonly overlap: number }): Promise<void> {
  const overlapS = Math.round(flags.overlap * 3600);
  show(await withLedger(flags, (ledger) => ledger.rotateKey({ keyId, overlapS })), flags);
  if (flags.json === true) return;
  const until = flags.overlap === 0 ? "does not work any more" : `works for ${flags.overlap} more hours`;
  process.stdout.write(`The old one, ${keyId}, ${until}.\n`);
}

async function revoke(keyId: string, flags: LedgerFlags): Promise<void> {
  const key = await withLedger(flags, (ledger) => ledger.revokeKey(keyId));
  if (flags.json === true) printJson(wireOf(key));
  else process.stdout.write(`Key ${keyId} is revoked since ${key.revokedAt ?? ""}.\n`);
}

async function check(flags: LedgerFlags): Promise<void> {
  const secret = await readKey("isotherm keys check < key.txt");
  const holder = isKeyShaped(secret)
    ? await withLedger(flags, (ledger) => ledger.findKey(digestOf(secret)))
    : undefined;
  const verdict = judge(secret, holder);
  if (verdict.status !== "valid") process.exitCode = 1;
  if (flags.json === true) {
    const key = holder === undefined ? null : wireOf(holder.key);
    const account = holder === undefined ? null : { account_id: holder.account.accountId, name: holder.account.name };
    printJson({ status: verdict.status, key, account });
    return;
  }
  const whose =
    holder === undefined
      ? ""
      : ` Key ${holder.key.keyId} of account ${holder.account.accountId}, ${holder.account.name}.`;
  process.stdout.write(`${verdict.text}${whose}\n`);
}

interface Verdict {
  readonly status: "valid" | "revoked" | "expired" | "account_suspended" | "unknown" | "mistyped" | "malformed";
  readonly text: string;
}

function judge(secret: string, holder: KeyHolder | undefined): Verdict {
  if (!isKeyShaped(secret)) {
    return { status: "malformed", text: "That is no key: a key is a prefix, _sk_ and 64 letters and digits." };
  }
  if (holder === undefined) {
    return isMistyped(secret)
      ? { status: "mistyped", text: "It is not known, and its check characters are wrong: most likely a slip." }
      : { status: "unknown", text: "It has the form of a key, but is not one of this ledger." };
  }
  const { revokedAt, expiresAt } = holder.key;
  if (revokedAt !== undefined) return { status: "revoked", text: `It is revoked since ${revokedAt}.` };
  if (expiresAt !== undefined && Date.parse(expiresAt) <= Date.now()) {
    return { status: "expired", text: `It was replaced, and does not work any more since ${expiresAt}.` };
  }
  if (holder.account.suspendedAt !== undefined) {
    return { status: "account_suspended", text: `Its account is suspended since ${holder.account.suspendedAt}.` };
  }
  return { status: "valid", text: "It works." };
}

/**
 * A key never stands on a command line, where every user of the machine could read it.
 * @param example how it is given, for whoever gave none
 */
async function readKey(example: string): Promise<string> {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (const piece of process.stdin) {
    text += piece as string;
    if (text.length > INPUT_LENGTH_MAX) throw new Fault("invalid_request", "Standard input is longer than any key.");
  }
  const key = text.trim();
  if (key === "") throw new Fault("invalid_request", `There is no key on standard input: ${example}`);
  return key;
}

function show({ secret, key }: IssuedKey, { json }: LedgerFlags): void {
  if (json === true) {
    printJson({ ...wireOf(key), api_key: secret });
    return;
  }
  process.stdout.write(`Key ${key.keyId} of account ${key.accountId}:\n\n  ${secret}\n\n`);
  process.stdout.write("It is shown this once; keep it where secrets are kept.\n");
}

function stateOf({ revokedAt, expiresAt, replacedBy }: ApiKey): string {
  if (revokedAt !== undefined) return `revoked ${revokedAt}`;
  if (expiresAt === undefined) return "works";
  const by = replacedBy === undefined ? "" : `, replaced by ${replacedBy}`;
  return `${Date.parse(expiresAt) <= Date.now() ? "ended" : "works until"} ${expiresAt}${by}`;
}

function wireOf(key: ApiKey): object {
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
  throw new InvalidArgumentError("It must be a number from 0 to 8784.");
}
