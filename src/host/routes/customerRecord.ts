import { Type } from "typebox";
import { Fault } from "../../errors.ts";
import type { Customer } from "../../ledger/ledger.ts";
import { textOrNull } from "../openapi/nullable.ts";
import type { RouteContext } from "./route.ts";
import { readUuid } from "../http/uuid.ts";

/** A customer in responses. */
export interface CustomerRecord {
  readonly customer_id: string;
  readonly internal_id: string;
  readonly name: string | null;
  readonly created_at: string;
  readonly archived_at: string | null;
}

export const CustomerSchema = Type.Object({
  customer_id: Type.String({ format: "uuid", description: "Value of X-Customer-ID in data requests." }),
  internal_id: Type.String({ description: "The caller's own id, unique within the account." }),
  name: textOrNull(),
  created_at: Type.String({ format: "date-time" }),
  archived_at: textOrNull({ description: "null unless the customer is archived." }),
});

export function customerRecord({ customerId, internalId, name, createdAt, archivedAt }: Customer): CustomerRecord {
  return {
    customer_id: customerId,
    internal_id: internalId,
    name: name ?? null,
    created_at: createdAt,
    archived_at: archivedAt ?? null,
  };
}

export const CustomerPathSchema = Type.Object({
  id: Type.String({ format: "uuid", description: "The `customer_id` returned by the registration." }),
});

/** The same fault for unknown ids, ids of other accounts and malformed ids, so that it does not reveal which exist. */
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
