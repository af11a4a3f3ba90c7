import { Type } from "typebox";
import type { FaultItem } from "../../errors.ts";
import { findSchemaErrors } from "../../schemaErrors.ts";
import { type CustomerRecord, customerRecord, CustomerSchema } from "./customerRecord.ts";
import { encodeJson } from "../http/json.ts";
import { invalidRequest, rejectParameters } from "./parameters.ts";
import type { Route } from "./route.ts";

const LENGTH_MAX = 200;
/** Control characters and lone surrogates, which databases cannot store faithfully. */
const UNSTORABLE = /[\p{Cc}\p{Cs}]/u;
const TEXT = { minLength: 1, maxLength: LENGTH_MAX, pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" };

const RegistrationSchema = Type.Object(
  {
    internal_id: Type.String({
      ...TEXT,
      description:
        "The caller's own id, such as a team, a department or a client: unique within the account, stored unchanged.",
    }),
    name: Type.Optional(
      Type.String({
        ...TEXT,
        description:
          "Display name. Replaces the name of a customer that is already registered; if omitted, the name is unchanged. A name cannot be removed: `null` is rejected.",
      }),
    ),
  },
  { additionalProperties: false },
);

interface Registration {
  readonly internal_id: string;
  readonly name?: string;
}

interface RegistrationResult {
  readonly customer: CustomerRecord;
  readonly isNew: boolean;
}

/** POST /latest/api/v1/customers: returns the customer of an internal id; registers or renames it if necessary. */
export const registerCustomer: Route<Registration, RegistrationResult> = {
  method: "POST",
  path: "/latest/api/v1/customers",
  access: "key",
  description: {
    operationId: "registerCustomer",
    tag: "Customers",
    summary: "Register a customer",
    description:
      "Idempotent by `internal_id`: repeated and concurrent requests return the same customer. " +
      "A `name` that differs from the stored one replaces it; of concurrent names the last one written wins. " +
      "Send the `customer_id` of the response as X-Customer-ID in data requests.",
    body: { schema: RegistrationSchema, example: { internal_id: "team-lisbon", name: "Lisbon team" } },
    responses: {
      200: {
        description: "The customer was already registered; its `name` is the one in the request, if any.",
        schema: CustomerSchema,
      },
      201: {
        description: "The customer has been registered.",
        schema: CustomerSchema,
        headers: { Location: "Path of the customer." },
      },
    },
    problems: ["invalid_request", "customer_archived"],
  },
  parse({ queryText, body }) {
    rejectParameters(queryText);
    return readRegistration(body);
  },
  async handle({ internal_id: internalId, name }, { services, caller: { accountId } }) {
    const registration = { accountId, internalId, ...(name === undefined ? {} : { name }) };
    const { customer, isNew } = await services.ledger.registerCustomer(registration);
    return { customer: customerRecord(customer), isNew };
  },
  reply({ customer, isNew }) {
    const body = encodeJson(customer);
    if (!isNew) return { status: 200, contentType: "application/json", body };
    const headers = { Location: `/latest/api/v1/customers/${customer.customer_id}` };
    return { status: 201, contentType: "application/json", body, headers };
  },
};

/** @throws Fault `invalid_request` with all faults of the body */
function readRegistration(body: unknown): Registration {
  const items: FaultItem[] = findSchemaErrors(RegistrationSchema, body, { name: "The request" });
  if (typeof body === "object" && body !== null) {
    for (const name of ["internal_id", "name"] as const) {
      const text: unknown = (body as Readonly<Record<string, unknown>>)[name];
      const fault = typeof text === "string" ? textFault(text) : undefined;
      if (fault !== undefined) items.push({ pointer: `/${name}`, code: fault.code, detail: `${name} ${fault.detail}` });
    }
  }
  if (items.length > 0) throw invalidRequest(items);
  return body as Registration;
}

function textFault(text: string): { readonly code: "out_of_range" | "malformed"; readonly detail: string } | undefined {
  // Code points, as in JSON Schema, not UTF-16 code units.
  const { length } = Array.from(text);
  if (length < 1 || length > LENGTH_MAX) {
    return { code: "out_of_range", detail: `must be 1 to ${LENGTH_MAX} characters long (got ${length}).` };
  }
  if (!UNSTORABLE.test(text)) return undefined;
  return { code: "malformed", detail: "must not contain control characters (such as line breaks) or lone surrogates." };
}
