import { requireCustomer } from "./customerRecord.ts";
import type { Route } from "../route.ts";
import {
  findUsage,
  readUsageParameters,
  USAGE_RESPONSES,
  usageReply,
  type UsageRequest,
  type UsageResult,
  usageStreamBytes,
} from "./usageReport.ts";
import { UsageParametersSchema } from "../../contract/accounts.ts";

/** GET /latest/api/v1/usage: recorded usage of the account. */
export const usage: Route<UsageRequest, UsageResult> = {
  method: "GET",
  path: "/latest/api/v1/usage",
  access: "key",
  description: {
    operationId: "getUsage",
    tag: "Usage",
    summary: "Usage of the account",
    description: "Covers all metered responses that were sent before this request.",
    query: UsageParametersSchema,
    parameterExamples: { group_by: "customer,meter" },
    responses: USAGE_RESPONSES,
    problems: ["invalid_request", "customer_not_found"],
  },
  parse: ({ queryText }) => readUsageParameters(queryText),
  streamBytes: usageStreamBytes,
  async handle(request, context) {
    // Without this check, a mistyped id would look like a customer without usage.
    if (request.customerId !== undefined) await requireCustomer(request.customerId, context);
    return findUsage(request, context);
  },
  reply: usageReply,
};
