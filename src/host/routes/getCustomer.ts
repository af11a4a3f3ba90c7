import { customerRecord, requireCustomer } from "./customerRecord.ts";
import { rejectParameters } from "./parameters.ts";
import type { Route } from "../route.ts";
import { CustomerPathSchema, CustomerRecordSchema } from "../../contract/accounts.ts";
import type { CustomerRecord } from "../../contract/wireTypes.ts";

/** GET /latest/api/v1/customers/:id: one customer, archived or not. */
export const getCustomer: Route<string, CustomerRecord> = {
  method: "GET",
  path: "/latest/api/v1/customers/:id",
  access: "key",
  description: {
    operationId: "getCustomer",
    tag: "Customers",
    summary: "Get a customer",
    path: CustomerPathSchema,
    responses: { 200: { description: "The customer, archived or not.", schema: CustomerRecordSchema } },
    problems: ["invalid_request", "customer_not_found"],
  },
  parse({ queryText, path }) {
    rejectParameters(queryText);
    return path["id"] ?? "";
  },
  handle: async (id, context) => customerRecord(await requireCustomer(id, context)),
};
