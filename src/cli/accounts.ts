import { Command } from "commander";
import type { Account } from "../ledger/ledger.ts";
import { ledgerCommand, type LedgerFlags, printJson, printTable, withLedger } from "./ledgerCommand.ts";

/** `isotherm accounts`: the organizations that hold API keys. */
export function accountsCommand(): Command {
  return new Command("accounts")
    .addCommand(
      ledgerCommand("create")
        .description("create an account, and the ledger if it does not exist")
        .requiredOption("--name <name>", "name of the account, 1 to 200 characters")
        .addHelpText("after", '\nExample:\n  isotherm accounts create --name "Example Bank"')
        .action(runAccountsCreate),
    )
    .addCommand(
      ledgerCommand("list")
        .description("list all accounts in order of creation")
        .addHelpText("after", "\nExample:\n  isotherm accounts list --json")
        .action(runAccountsList),
    )
    .addCommand(
      ledgerCommand("suspend")
        .description("reject all keys of an account until the suspension is lifted")
        .argument("<account>", "account id")
        .option("--lift", "lift the suspension")
        .addHelpText("after", "\nExample:\n  isotherm accounts suspend 0d3c6a5e-5f0b-4a35-9d6f-0c5b4f1c2a77")
        .action(runAccountsSuspend),
    );
}

async function runAccountsCreate(flags: LedgerFlags & { readonly name: string }): Promise<void> {
  const { name } = flags;
  const account = await withLedger(flags, (ledger) => ledger.createAccount({ name }), { mustExist: false });
  if (flags.json === true) printJson(accountJson(account));
  else process.stdout.write(`Account ${account.accountId}: ${account.name}\n`);
}

async function runAccountsList(flags: LedgerFlags): Promise<void> {
  const accounts = await withLedger(flags, (ledger) => ledger.listAccounts());
  if (flags.json === true) {
    printJson({ items: accounts.map(accountJson) });
    return;
  }
  printTable(
    ["account", "name", "created", "suspended"],
    accounts.map(({ accountId, name, createdAt, suspendedAt }) => [accountId, name, createdAt, suspendedAt ?? ""]),
  );
}

async function runAccountsSuspend(accountId: string, flags: LedgerFlags & { readonly lift?: boolean }): Promise<void> {
  const account = await withLedger(flags, (ledger) => ledger.setAccountSuspended(accountId, flags.lift !== true));
  if (flags.json === true) {
    printJson(accountJson(account));
    return;
  }
  const { name, suspendedAt } = account;
  const state = suspendedAt === undefined ? "is active" : `has been suspended since ${suspendedAt}`;
  process.stdout.write(`Account ${accountId} (${name}) ${state}.\n`);
}

function accountJson({ accountId, name, createdAt, suspendedAt }: Account): object {
  return { account_id: accountId, name, created_at: createdAt, suspended_at: suspendedAt ?? null };
}
