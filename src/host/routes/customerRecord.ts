import type { CustomerRecord } from "../../contract/wireTypes.ts";
import { Fault } from "../../errors.ts";
import type { Customer } from "../../ledger/ledger.ts";
import type { RouteContext } from "../route.ts";
import { readUuid } from "../http/requestHead.ts";

/** Converts a customer of the ledger to its wire format. */
export function customerRecord({ customerId, internalId, name, createdAt, archivedAt }: Customer): CustomerRecord {
  return {
    customer_id: customerId,
    internal_id: internalId,
    name: name ?? null,
    created_at: createdAt,
    archived_at: archivedAt ?? null,
  };
}

/**
 * Creates the error for unknown ids, malformed ids and ids of other accounts. It is the same for all three, so that it does
 * not reveal which ids exist.
 */
export function customerNotFound(): Fault {
  return new Fault("customer_not_found", "This account has no customer with this id.");
}

/**
 * Returns a customer of the calling account, archived or not.
 * @throws Fault `customer_not_found`
 */
export async function requireCustomer(id: string, { services, caller }: RouteContext): Promise<Customer> {
  const customerId = readUuid(id);
  const customer =
    customerId === undefined
      ? undefined
      : await services.ledger.findCustomer({ accountId: caller.accountId, customerId });
  if (customer === undefined) throw customerNotFound();
  return customer;
}
