import {
  CustomerPageSchema,
  CustomerPathSchema,
  CustomerRecordSchema,
  CustomerRegistrationSchema,
} from "../../contract/accounts.ts";
import { PAGE_ITEMS, customerTextError } from "../../contract/ranges.ts";
import { PageParametersSchema } from "../../contract/schemaKinds.ts";
import type { CustomerPage, CustomerRecord, CustomerRegistration } from "../../contract/wireTypes.ts";
import { Fault, type FaultItem } from "../../errors.ts";
import { readUuid } from "../http/requestHead.ts";
import type { Route, RouteContext } from "../route.ts";
import { invalidRequest, parameterReader, rejectParameters } from "./parameters.ts";
import type { Customer, Page } from "../../ledger/ledger.ts";
import { encodeJson } from "../../text/json/json.ts";
import { findSchemaErrors } from "../../validation/schemaErrors.ts";

/** Converts a customer of the ledger to its wire format. */
export function customerRecord({ customerId, internalId, name, createdAt, archivedAt }: Customer): CustomerRecord {
  return {
    customer_id: customerId,
    internal_id: internalId,
    name: name ?? null,
    created_at: createdAt,
    archived_at: archivedAt ?? null,
  };
}

/**
 * Creates the error for unknown ids, malformed ids and ids of other accounts. It is the same for all three, so that it does
 * not reveal which ids exist.
 */
function customerNotFound(): Fault {
  return new Fault("customer_not_found", "This account has no customer with this id.");
}

/**
 * Returns a customer of the calling account, archived or not.
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

interface RegistrationResult {
  readonly customer: CustomerRecord;
  readonly isNew: boolean;
  /** Path of the customer. */
  readonly location: string;
}

/** The body is parsed on the event loop. Two texts of 200 characters take at most 5 kB, even if all are escaped. */
const BODY_BYTES_MAX = 16 << 10;

/** POST /latest/api/v1/customers: returns the customer with this `internal_id`, registering or renaming it if necessary. */
export const registerCustomer: Route<CustomerRegistration, RegistrationResult> = {
  method: "POST",
  path: "/latest/api/v1/customers",
  access: "key",
  description: {
    operationId: "registerCustomer",
    tag: "Customers",
    summary: "Register a customer",
    description:
      "Repeated and concurrent requests with the same `internal_id` return the same customer. " +
      "A `name` that differs from the stored one replaces it. If concurrent requests send different names, the last one written remains. " +
      "Send the `customer_id` of the response as X-Customer-ID in data requests. The body must not exceed 16 KiB.",
    body: { schema: CustomerRegistrationSchema, example: { internal_id: "team-lisbon", name: "Lisbon team" } },
    responses: {
      200: {
        description: "The customer was already registered. If the request has a `name`, it is now the customer's name.",
        schema: CustomerRecordSchema,
      },
      201: {
        description: "The customer has been registered.",
        schema: CustomerRecordSchema,
        headers: { Location: "Path of the customer." },
      },
    },
    problems: ["invalid_request", "customer_archived", "too_many_values", "clock_unreliable"],
  },
  bodyBytesMax: BODY_BYTES_MAX,
  parse({ queryText, body }) {
    rejectParameters(queryText);
    return readRegistration(body);
  },
  async handle({ internal_id: internalId, name }, { services, caller: { accountId } }) {
    const { customerCount: customerCountMax } = services.limits;
    const registration = { accountId, internalId, customerCountMax, ...(name === undefined ? {} : { name }) };
    const { customer, isNew } = await services.ledger.registerCustomer(registration);
    const location = `${services.prefix}/latest/api/v1/customers/${customer.customerId}`;
    return { customer: customerRecord(customer), isNew, location };
  },
  reply({ customer, isNew, location }) {
    const body = encodeJson(customer);
    if (!isNew) return { status: 200, contentType: "application/json", body };
    return { status: 201, contentType: "application/json", body, headers: { Location: location } };
  },
};

/** @throws Fault `invalid_request` with all errors of the body */
function readRegistration(body: unknown): CustomerRegistration {
  const textItems: FaultItem[] = [];
  if (typeof body === "object" && body !== null) {
    for (const name of ["internal_id", "name"] as const) {
      const text: unknown = (body as Readonly<Record<string, unknown>>)[name];
      const error = typeof text === "string" ? customerTextError(text) : undefined;
      if (error === undefined) continue;
      textItems.push({ pointer: `/${name}`, code: error.code, detail: `${name} ${error.detail}` });
    }
  }
  // The schema states only a part of the rule for texts.
  const schemaItems = findSchemaErrors(CustomerRegistrationSchema, body, { name: "The request" }).filter(
    ({ pointer }) => textItems.every((item) => item.pointer !== pointer),
  );
  const items = [...schemaItems, ...textItems];
  if (items.length > 0) throw invalidRequest(items);
  return body as CustomerRegistration;
}

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
