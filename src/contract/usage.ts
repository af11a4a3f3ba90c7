import { Type } from "typebox";
import { METERS, USAGE_GROUPS } from "./meters.ts";
import { PAGE_PARAMETERS, pageOf } from "./paging.ts";

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
