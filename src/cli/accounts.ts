import { Command } from "commander";
import type { Account } from "../ledger/ledger.ts";
import { ledgerCommand, type LedgerFlags, printJson, printTable, withLedger } from "./ledgerCommand.ts";

/** `isotherm accounts`: the organisations that hold keys. */
export function accountsCommand(): Command {
  return new Command("accounts")
    .description("the organisations that hold keys")
    .addCommand(
      ledgerCommand("create")
        .description("make an account, and the ledger where there is none yet")
        .requiredOption("--name <name>", "whose it is, 1 to 200 characters")
        .addHelpText("after", '\nExample:\n  isotherm accounts create --name "Bank of Somewhere"')
        .action(create),
    )
    .addCommand(
      ledgerCommand("list")
        .description("all accounts, in the order they were made")
        .addHelpText("after", "\nExample:\n  isotherm accounts list --json")
        .action(list),
    )
    .addCommand(
      ledgerCommand("suspend")
        .description("refuse all keys of an account, until it is lifted")
        .argument("<account>", "the account's id")
        .option("--lift", "let it ask again")
        .addHelpText("after", "\nExample:\n  isotherm accounts suspend 0d3c6a5e-5f0b-4a35-9d6f-0c5b4f1c2a77")
        .action(suspend),
    );
}

async function create(flags: LedgerFlags & { readonly name: string }): Promise<void> {
  const { name } = flags;
  const account = await withLedger(flags, (ledger) => ledger.createAccount({ name }), { mustExist: false });
  if (flags.json === true) printJson(wireOf(account));
  else process.stdout.write(`Account ${account.accountId}: ${account.name}\n`);
}

async function list(flags: LedgerFlags): Promise<void> {
  const accounts = await withLedger(flags, (ledger) => ledger.listAccounts());
  if (flags.json === true) {
    printJson({ items: accounts.map(wireOf) });
    return;
  }
  printTable(
    ["account", "name", "created", "suspended"],
    accounts.map(({ accountId, name, createdAt, suspendedAt }) => [accountId, name, createdAt, suspendedAt ?? ""]),
  );
}

async function suspend(accountId: string, flags: LedgerFlags & { readonly lift?: boolean }): Promise<void> {
  const account = await withLedger(flags, (ledger) => ledger.suspendAccount(accountId, flags.lift !== true));
  if (flags.json === true) {
    printJson(wireOf(account));
    return;
  }
  const { name, suspendedAt } = account;
  const state = suspendedAt === undefined ? "may ask" : `is suspended since ${suspendedAt}`;
  process.stdout.write(`Account ${accountId} (${name}) ${state}.\n`);
}

function wireOf({ accountId, name, createdAt, suspendedAt }: Account): object {
  return { account_id: accountId, name, created_at: createdAt, suspended_at: suspendedAt ?? null };
}
