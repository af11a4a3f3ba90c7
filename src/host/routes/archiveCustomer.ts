import { customerNotFound, customerRecord } from "./customerRecord.ts";
import { rejectParameters } from "./parameters.ts";
import type { Route } from "../route.ts";
import { readUuid } from "../http/requestHead.ts";
import { CustomerPathSchema, CustomerRecordSchema } from "../../contract/accounts.ts";
import type { CustomerRecord } from "../../contract/wireTypes.ts";

/** DELETE /latest/api/v1/customers/:id: ends data requests for a customer; its usage history is kept. */
export const archiveCustomer: Route<string, CustomerRecord> = {
  method: "DELETE",
  path: "/latest/api/v1/customers/:id",
  access: "key",
  description: {
    operationId: "archiveCustomer",
    tag: "Customers",
    summary: "Archive a customer",
    description:
      "The usage of an archived customer can still be read. Data requests for it return 403 `customer_archived`, and " +
      "registering its `internal_id` again returns 409 `customer_archived`. Archiving is idempotent.",
    path: CustomerPathSchema,
    responses: { 200: { description: "The archived customer.", schema: CustomerRecordSchema } },
    problems: ["invalid_request", "customer_not_found", "clock_unreliable"],
  },
  parse({ queryText, path }) {
    rejectParameters(queryText);
    return path["id"] ?? "";
  },
  async handle(id, { services, caller }) {
    const customerId = readUuid(id);
    const customer =
      customerId === undefined
        ? undefined
        : await services.ledger.archiveCustomer({ accountId: caller.accountId, customerId });
    if (customer === undefined) throw customerNotFound();
    return customerRecord(customer);
  },
};
