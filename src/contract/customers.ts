import { Type } from "typebox";
import { CUSTOMER_TEXT } from "./customerText.ts";
import { pageOf } from "./paging.ts";
import { textOrNull } from "./schemaKinds.ts";

export const CustomerRegistrationSchema = Type.Object(
  {
    internal_id: Type.String({
      ...CUSTOMER_TEXT,
      description:
        "The caller's own id for the customer, such as the name of a team or a client. Unique within the account and stored unchanged.",
    }),
    name: Type.Optional(
      Type.String({
        ...CUSTOMER_TEXT,
        description:
          "Display name. Replaces the name of a customer that is already registered; if omitted, the name is unchanged. A name cannot be removed; `null` is rejected.",
      }),
    ),
  },
  { additionalProperties: false },
);

export const CustomerRecordSchema = Type.Object(
  {
    customer_id: Type.String({ format: "uuid", description: "Value of X-Customer-ID in data requests." }),
    internal_id: Type.String({ description: "The caller's own id, unique within the account." }),
    name: textOrNull({ description: "Display name, if any." }),
    created_at: Type.String({ format: "date-time", description: "Time of the registration, UTC." }),
    archived_at: textOrNull({
      description: "Time at which the customer was archived, UTC; null if it is not archived.",
    }),
  },
  { description: "A subdivision of the account, to which usage is attributed." },
);

export const CustomerPageSchema = pageOf(CustomerRecordSchema);

/** Path parameters of routes that concern one customer. */
export const CustomerPathSchema = Type.Object({
  id: Type.String({ format: "uuid", description: "The `customer_id` returned by the registration." }),
});
