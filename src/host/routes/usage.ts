import { requireCustomer } from "./customerRecord.ts";
import type { Route } from "./route.ts";
import {
  readUsageParameters,
  USAGE_RESPONSES,
  type UsageResult,
  type UsageRequest,
  usageOf,
  UsageParametersSchema,
  usageReply,
} from "./usageReport.ts";

/** GET /latest/api/v1/usage: what the account's answers have counted. An answer's units are in it as soon as it is there. */
export const usage: Route<UsageRequest, UsageResult> = {
  method: "GET",
  path: "/latest/api/v1/usage",
  access: "key",
  description: {
    operationId: "getUsage",
    tag: "Usage",
    summary: "Usage of the account",
    description: "Whatever has been answered is in it at once.",
    query: UsageParametersSchema,
    parameterExamples: { group_by: "customer,meter" },
    responses: USAGE_RESPONSES,
    problems: ["invalid_request", "customer_not_found"],
  },
  parse: ({ queryText }) => readUsageParameters(queryText),
  async handle(question, context) {
    // A slip in the id would else read as a customer without usage.
    if (question.customerId !== undefined) await requireCustomer(question.customerId, context);
    return usageOf(context.services.ledger, context.caller.accountId, question);
  },
  reply: usageReply,
};
