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

/** GET /latest/api/v1/customers: those of the account, archived ones too, page by page. */
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
        description: "A page of them, archived ones too.",
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
    const found: Page<Customer> = await services.ledger.listCustomers({ accountId: caller.accountId, ...page });
    return {
      items: found.items.map(customerRecord),
      ...(found.next === undefined ? {} : { next: found.next }),
    };
  },
};
