import { Type } from "typebox";
import type { Customer, Page } from "../../ledger/ledger.ts";
import { customerRecord, type CustomerRecord, CustomerSchema } from "./customerRecord.ts";
import { NextSchema, PAGE_LIMIT_DEFAULT, PagingParameters, type WirePage } from "./pagination.ts";
import { parameterReader } from "./parameters.ts";
import type { Route } from "./route.ts";

const ParametersSchema = Type.Object(PagingParameters, { additionalProperties: false });
const readParameters = parameterReader(ParametersSchema);

interface PageRequest {
  readonly limit: number;
  readonly cursor?: string;
}

/** GET /latest/api/v1/customers: the account's customers, including archived ones, in pages. */
export const listCustomers: Route<PageRequest, WirePage<CustomerRecord>> = {
  method: "GET",
  path: "/latest/api/v1/customers",
  access: "key",
  description: {
    operationId: "listCustomers",
    tag: "Customers",
    summary: "List the account's customers",
    query: ParametersSchema,
    responses: {
      200: {
        description: "One page of customers, including archived ones.",
        schema: Type.Object({
          items: Type.Array(CustomerSchema),
          next: NextSchema,
        }),
      },
    },
    problems: ["invalid_request"],
  },
  parse({ queryText }) {
    const { limit = PAGE_LIMIT_DEFAULT, cursor } = readParameters(queryText);
    return { limit, ...(cursor === undefined ? {} : { cursor }) };
  },
  async handle(page, { services, caller }) {
    const result: Page<Customer> = await services.ledger.listCustomers({ accountId: caller.accountId, ...page });
    return {
      items: result.items.map(customerRecord),
      ...(result.next === undefined ? {} : { next: result.next }),
    };
  },
};
