import { Command } from "commander";
import { PAGE_ITEMS } from "../contract/ranges.ts";
import { customerRecord } from "../host/routes/customerRecord.ts";
import type { Customer, Ledger } from "../ledger/ledger.ts";
import { ledgerCommand, type LedgerFlags, printJson, printTable, withLedger } from "./ledgerCommand.ts";

/** `isotherm customers`: the customers that callers have registered. */
export function customersCommand(): Command {
  return new Command("customers").addCommand(
    ledgerCommand("list")
      .description("list the customers of an account in order of registration")
      .requiredOption("--account <account>", "account id")
      .addHelpText("after", "\nExample:\n  isotherm customers list --account 0d3c6a5e-5f0b-4a35-9d6f-0c5b4f1c2a77")
      .action(runCustomersList),
  );
}

async function runCustomersList(flags: LedgerFlags & { readonly account: string }): Promise<void> {
  const customers = await withLedger(flags, (ledger) => allCustomers(ledger, flags.account));
  if (flags.json === true) {
    printJson({ items: customers.map(customerRecord) });
    return;
  }
  printTable(
    ["customer", "internal id", "name", "registered", "archived"],
    customers.map(({ customerId, internalId, name, createdAt, archivedAt }) => [
      customerId,
      internalId,
      name ?? "",
      createdAt,
      archivedAt ?? "",
    ]),
  );
}

async function allCustomers(ledger: Ledger, accountId: string): Promise<readonly Customer[]> {
  // Rejects an unknown account, which listCustomers would report as having no customers.
  await ledger.listKeys({ accountId });
  const customers: Customer[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await ledger.listCustomers({
      accountId,
      limit: PAGE_ITEMS.max,
      ...(cursor === undefined ? {} : { cursor }),
    });
    customers.push(...page.items);
    cursor = page.next;
    if (cursor === undefined) return customers;
  }
}
