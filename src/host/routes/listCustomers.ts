import { CustomerPageSchema } from "../../contract/accounts.ts";
import { PageParametersSchema } from "../../contract/schemaKinds.ts";
import { PAGE_ITEMS } from "../../contract/ranges.ts";
import type { CustomerPage } from "../../contract/wireTypes.ts";
import type { Customer, Page } from "../../ledger/ledger.ts";
import { customerRecord } from "./customerRecord.ts";
import { parameterReader } from "./parameters.ts";
import type { Route } from "../route.ts";

const readParameters = parameterReader(PageParametersSchema);

interface CustomerPageRequest {
  readonly limit: number;
  readonly cursor?: string;
}

/** GET /latest/api/v1/customers: the account's customers, including archived ones, in pages. */
export const listCustomers: Route<CustomerPageRequest, CustomerPage> = {
  method: "GET",
  path: "/latest/api/v1/customers",
  access: "key",
  description: {
    operationId: "listCustomers",
    tag: "Customers",
    summary: "List the account's customers",
    query: PageParametersSchema,
    responses: {
      200: {
        description: "One page of customers, including archived ones.",
        schema: CustomerPageSchema,
      },
    },
    problems: ["invalid_request"],
  },
  parse({ queryText }) {
    const { limit = PAGE_ITEMS.default, cursor } = readParameters(queryText);
    return { limit, ...(cursor === undefined ? {} : { cursor }) };
  },
  async handle(page, { services, caller, signal }) {
    const result: Page<Customer> = await services.ledger.listCustomers(
      { accountId: caller.accountId, ...page },
      { signal },
    );
    return {
      items: result.items.map(customerRecord),
      ...(result.next === undefined ? {} : { next: result.next }),
    };
  },
};
