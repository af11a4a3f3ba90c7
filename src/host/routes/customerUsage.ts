import { requireCustomer } from "./customerRecord.ts";
import type { Route } from "../route.ts";
import {
  findUsage,
  readCustomerUsageParameters,
  USAGE_RESPONSES,
  usageReply,
  type UsageRequest,
  type UsageResult,
  usageStreamBytes,
} from "./usageReport.ts";
import { CustomerPathSchema, CustomerUsageParametersSchema } from "../../contract/accounts.ts";

interface CustomerUsageRequest {
  readonly id: string;
  readonly usage: UsageRequest;
}

/** GET /latest/api/v1/customers/:id/usage: recorded usage of one customer, archived or not. */
export const customerUsage: Route<CustomerUsageRequest, UsageResult> = {
  method: "GET",
  path: "/latest/api/v1/customers/:id/usage",
  access: "key",
  description: {
    operationId: "getCustomerUsage",
    tag: "Usage",
    summary: "Usage of one customer",
    path: CustomerPathSchema,
    query: CustomerUsageParametersSchema,
    parameterExamples: { group_by: "meter,day" },
    responses: USAGE_RESPONSES,
    problems: ["invalid_request", "customer_not_found"],
  },
  parse: ({ queryText, path }) => ({ id: path["id"] ?? "", usage: readCustomerUsageParameters(queryText) }),
  streamBytes: ({ usage }) => usageStreamBytes(usage),
  async handle({ id, usage }, context) {
    const { customerId } = await requireCustomer(id, context);
    return findUsage({ ...usage, customerId }, context);
  },
  reply: usageReply,
};
