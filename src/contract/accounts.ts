import { Type } from "typebox";
import { CUSTOMER_TEXT } from "./ranges.ts";
import { PAGE_PARAMETERS, pageOf, textOrNull } from "./schemaKinds.ts";
import { METERS, USAGE_GROUPS } from "./names.ts";

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

export const MeterSchema = Type.Enum(METERS);
export const UsageGroupSchema = Type.Enum(USAGE_GROUPS);

/** Value of `group_by` in requests without it. */
export const USAGE_GROUPS_DEFAULT = ["customer", "meter"] as const satisfies readonly (typeof USAGE_GROUPS)[number][];

const PERIOD_AND_GROUPS = {
  from: Type.Optional(
    Type.String({ format: "date", description: "First day included (UTC), YYYY-MM-DD. Default: no limit." }),
  ),
  to: Type.Optional(
    Type.String({
      format: "date",
      description: "Day after the last day included (UTC), YYYY-MM-DD. Default: no limit.",
    }),
  ),
  group_by: Type.Optional(
    Type.Array(UsageGroupSchema, {
      minItems: 1,
      uniqueItems: true,
      default: USAGE_GROUPS_DEFAULT,
      description: "How usage is grouped into lines. `day` takes precedence over `month`.",
    }),
  ),
};
const FORMAT = {
  format: Type.Optional(
    Type.Enum(["json", "csv"], {
      default: "json",
      description: "`csv` returns all lines as one file (RFC 4180, UTF-8, with a header line).",
    }),
  ),
};
const CUSTOMER = {
  customer_id: Type.Optional(Type.String({ format: "uuid", description: "Limits usage to this customer." })),
};
const closed = { additionalProperties: false } as const;

/** The parameters that select usage, without format and pages. */
export const UsageFilterSchema = Type.Object({ ...PERIOD_AND_GROUPS, ...CUSTOMER }, closed);
/** Query parameters of GET /latest/api/v1/customers/:id/usage. */
export const CustomerUsageParametersSchema = Type.Object(
  { ...PERIOD_AND_GROUPS, ...FORMAT, ...PAGE_PARAMETERS },
  closed,
);
/** Query parameters of GET /latest/api/v1/usage. */
export const UsageParametersSchema = Type.Object(
  { ...PERIOD_AND_GROUPS, ...FORMAT, ...PAGE_PARAMETERS, ...CUSTOMER },
  closed,
);

export const UsageRecordSchema = Type.Object(
  {
    customer_id: Type.Optional(Type.String({ format: "uuid" })),
    internal_id: Type.Optional(Type.String({ description: "The caller's own id for the customer." })),
    meter: Type.Optional(MeterSchema),
    period: Type.Optional(Type.String({ description: "YYYY-MM-DD, or YYYY-MM if grouped by month." })),
    requests: Type.Integer({ minimum: 0, description: "Number of counted responses." }),
    units: Type.Integer({ minimum: 0, description: "Units of the meter, or of all meters if not grouped by meter." }),
  },
  { description: "A line of usage. Members by which usage is not grouped are absent." },
);

export const UsagePageSchema = pageOf(UsageRecordSchema);
