import { Type } from "typebox";
import { Fault } from "../../errors.ts";
import type { Customer } from "../../ledger/ledger.ts";
import { textOrNull } from "../openapi/nullable.ts";
import type { RouteContext } from "./route.ts";
import { readUuid } from "../http/uuid.ts";

/** A customer as the wire has it. */
export interface CustomerRecord {
  readonly customer_id: string;
  readonly internal_id: string;
  readonly name: string | null;
  readonly created_at: string;
  readonly archived_at: string | null;
}

export const CustomerSchema = Type.Object({
  customer_id: Type.String({ format: "uuid", description: "What X-Customer-ID says on data calls." }),
  internal_id: Type.String({ description: "The caller's own, unique within the account." }),
  name: textOrNull(),
  created_at: Type.String({ format: "date-time" }),
  archived_at: textOrNull({ description: "null while data may be asked for this customer." }),
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
  id: Type.String({ format: "uuid", description: "The customer's id, as it was given at registration." }),
});

/** One and the same for an id that never was, for another account's, and for what is no id: it tells nothing. */
export function customerNotFound(): Fault {
  return new Fault("customer_not_found", "This account has no customer with this id.");
}

/**
 * The account's own customer, archived ones too.
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
