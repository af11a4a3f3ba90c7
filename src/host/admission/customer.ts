import type { FaultItem } from "../../errors.ts";
import type { Customer } from "../../ledger/ledger.ts";
import { HttpError } from "../problems/problem.ts";

/**
 * Returns the customer if data may be requested for it.
 * @throws HttpError `customer_not_accessible`, identical for unknown customers and for those of other accounts;
 *   `customer_archived`
 */
export function checkCustomer(customer: Customer | undefined): Customer {
  if (customer === undefined) {
    const detail = "The account has no customer with this id.";
    throw new HttpError("customer_not_accessible", detail, {}, { items: [customerItem("unknown", detail)] });
  }
  if (customer.archivedAt !== undefined) {
    const detail = "The customer is archived: its usage history is kept, but no data can be requested for it.";
    throw new HttpError("customer_archived", detail, {}, { status: 403, items: [customerItem("not_allowed", detail)] });
  }
  return customer;
}

function customerItem(code: "unknown" | "not_allowed", detail: string): FaultItem {
  return { header: "X-Customer-ID", code, detail };
}
