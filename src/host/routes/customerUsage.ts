import { CustomerPathSchema, customerOf } from "./customerRecord.ts";
import type { Route } from "./route.ts";
import {
  CustomerUsageParametersSchema,
  readCustomerUsageParameters,
  USAGE_ANSWERS,
  type UsageAnswer,
  type UsageAsked,
  usageOf,
  usageReply,
} from "./usageReport.ts";

interface CustomerUsageAsked {
  readonly id: string;
  readonly question: UsageAsked;
}

/** GET /latest/api/v1/customers/:id/usage: the same for one customer, archived or not. */
export const customerUsage: Route<CustomerUsageAsked, UsageAnswer> = {
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
    answers: USAGE_ANSWERS,
    problems: ["invalid_request", "customer_not_found"],
  },
  parse: ({ queryText, path }) => ({ id: path["id"] ?? "", question: readCustomerUsageParameters(queryText) }),
  async handle({ id, question }, context) {
    const { customerId } = await customerOf(id, context);
    return usageOf(context.services.ledger, context.caller.accountId, { ...question, customerId });
  },
  reply: usageReply,
};
