import { Type } from "typebox";
import { CUSTOMER_TEXT } from "./customerText.ts";
import { pageOf } from "./paging.ts";
import { textOrNull } from "./schemaKinds.ts";

export const CustomerRegistrationSchema = Type.Object(
  {
    internal_id: Type.String({
      ...CUSTOMER_TEXT,
      description:
        "The caller's own id, such as a team, a department or a client: unique within the account, stored unchanged.",
    }),
    name: Type.Optional(
      Type.String({
        ...CUSTOMER_TEXT,
        description:
          "Display name. Replaces the name of a customer that is already registered; if omitted, the name is unchanged. A name cannot be removed: `null` is rejected.",
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
    archived_at: textOrNull({ description: "null unless the customer is archived." }),
  },
  { description: "A subdivision of the account that usage is attributed to." },
);

export const CustomerPageSchema = pageOf(CustomerRecordSchema);

/** Path parameters of the routes of one customer. */
export const CustomerPathSchema = Type.Object({
  id: Type.String({ format: "uuid", description: "The `customer_id` returned by the registration." }),
});
