import { customerTextError } from "../../contract/ranges.ts";
import type { FaultItem } from "../../errors.ts";
import { findSchemaErrors } from "../../validation/schemaErrors.ts";
import { customerRecord } from "./customerRecord.ts";
import { encodeJson } from "../../text/json/json.ts";
import { invalidRequest, rejectParameters } from "./parameters.ts";
import type { Route } from "../route.ts";
import type { CustomerRecord, CustomerRegistration } from "../../contract/wireTypes.ts";
import { CustomerRecordSchema, CustomerRegistrationSchema } from "../../contract/accounts.ts";

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
