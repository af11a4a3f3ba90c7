import { Type } from "typebox";
import { csvLine } from "../../csvText.ts";
import type { FaultItem } from "../../errors.ts";
import {
  type Ledger,
  METERS,
  type Page,
  USAGE_GROUPS,
  USAGE_LINE_COUNT_MAX,
  type UsageGroup,
  type UsageLine,
} from "../../ledger/ledger.ts";
import { encodeJson } from "../http/json.ts";
import { NextSchema, PAGE_LIMIT_DEFAULT, PagingParameters, type WirePage } from "./pagination.ts";
import { parameterReader } from "./parameters.ts";
import type { Reply, RouteDescription } from "./route.ts";
import { readUuid } from "../http/uuid.ts";

const GROUPS_DEFAULT = ["customer", "meter"] as const satisfies readonly UsageGroup[];

const SpanParameters = {
  from: Type.Optional(Type.String({ format: "date", description: "First day (UTC), YYYY-MM-DD. Default: no limit." })),
  to: Type.Optional(
    Type.String({ format: "date", description: "Day after the last (UTC), YYYY-MM-DD. Default: now." }),
  ),
  group_by: Type.Optional(
    Type.Array(Type.Enum(USAGE_GROUPS), {
      minItems: 1,
      uniqueItems: true,
      default: GROUPS_DEFAULT,
      description: "How usage is grouped into lines. `day` takes precedence over `month`.",
    }),
  ),
  format: Type.Optional(
    Type.Enum(["json", "csv"], {
      default: "json",
      description: "`csv` returns all lines in one file without pages (RFC 4180, UTF-8, with a header line).",
    }),
  ),
  ...PagingParameters,
};
const CustomerParameter = {
  customer_id: Type.Optional(Type.String({ format: "uuid", description: "Limits usage to this customer." })),
};
const closed = { additionalProperties: false } as const;

export const UsageParametersSchema = Type.Object({ ...SpanParameters, ...CustomerParameter }, closed);
export const CustomerUsageParametersSchema = Type.Object(SpanParameters, closed);

/** Parsed usage parameters with their defaults. */
export interface UsageRequest {
  readonly customerId?: string;
  readonly from?: string;
  readonly to?: string;
  readonly groupBy: readonly UsageGroup[];
  readonly isCsv: boolean;
  readonly limit: number;
  readonly cursor?: string;
}

interface UsageParameters {
  customer_id?: string;
  from?: string;
  to?: string;
  group_by?: UsageGroup[];
  format?: "json" | "csv";
  limit?: number;
  cursor?: string;
}

const parseAccountParameters = parameterReader(UsageParametersSchema, explainUsage);
const parseCustomerParameters = parameterReader(CustomerUsageParametersSchema, explainUsage);

/** @throws Fault `invalid_request` */
export const readUsageParameters = (queryText: string): UsageRequest =>
  toUsageRequest(parseAccountParameters(queryText));
export const readCustomerUsageParameters = (queryText: string): UsageRequest =>
  toUsageRequest(parseCustomerParameters(queryText));

function toUsageRequest(parameters: UsageParameters): UsageRequest {
  const { customer_id, from, to, group_by, format, limit, cursor } = parameters;
  return {
    ...(customer_id === undefined ? {} : { customerId: customer_id.toLowerCase() }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    groupBy: group_by ?? GROUPS_DEFAULT,
    isCsv: format === "csv",
    limit: limit ?? PAGE_LIMIT_DEFAULT,
    ...(cursor === undefined ? {} : { cursor }),
  };
}

function explainUsage(parameters: UsageParameters): readonly FaultItem[] {
  const { customer_id, from, to, format } = parameters;
  const items: FaultItem[] = [];
  if (customer_id !== undefined && readUuid(customer_id) === undefined) {
    const detail = "customer_id must be the UUID that the registration returned.";
    items.push({ parameter: "customer_id", code: "malformed", detail });
  }
  for (const [parameter, text] of [
    ["from", from],
    ["to", to],
  ] as const) {
    if (text === undefined || isDate(text)) continue;
    items.push({
      parameter,
      code: "malformed",
      detail: `${parameter} must be an existing date in the form YYYY-MM-DD.`,
    });
  }
  if (items.length === 0 && from !== undefined && to !== undefined && from >= to) {
    const detail = `to must be after from (${from}): it is the day after the last one included.`;
    items.push({ parameter: "to", code: "out_of_range", detail });
  }
  if (format === "csv") {
    for (const parameter of ["limit", "cursor"] as const) {
      if (parameters[parameter] === undefined) continue;
      items.push({ parameter, code: "not_expected", detail: `A CSV file has no pages; omit ${parameter}.` });
    }
  }
  return items;
}

function isDate(text: string): boolean {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** A line of usage in responses; members that are not grouped by are absent. */
interface UsageRecord {
  readonly customer_id?: string;
  readonly internal_id?: string;
  readonly meter?: string;
  readonly period?: string;
  readonly requests: number;
  readonly units: number;
}

const COLUMNS = ["customer_id", "internal_id", "meter", "period", "requests", "units"] as const;

export const UsagePageSchema = Type.Object({
  items: Type.Array(
    Type.Object({
      customer_id: Type.Optional(Type.String({ format: "uuid" })),
      internal_id: Type.Optional(Type.String()),
      meter: Type.Optional(Type.Enum(METERS)),
      period: Type.Optional(Type.String({ description: "YYYY-MM-DD, or YYYY-MM if grouped by month." })),
      requests: Type.Integer({ minimum: 0, description: "Number of counted responses." }),
      units: Type.Integer({ minimum: 0 }),
    }),
  ),
  next: NextSchema,
});

export const USAGE_RESPONSES: RouteDescription["responses"] = {
  200: {
    description: "Lines of usage without the members that are not grouped by; `text/csv` with `format=csv`.",
    alsoAs: ["text/csv"],
    schema: UsagePageSchema,
  },
};

export type UsageResult = WirePage<UsageRecord> | { readonly file: AsyncIterable<string> };

/** Reads usage from the ledger: one page, or a stream of all lines as CSV. */
export async function findUsage(ledger: Ledger, accountId: string, request: UsageRequest): Promise<UsageResult> {
  const { isCsv, limit, ...filter } = request;
  const page = await ledger.usage({ accountId, ...filter, limit: isCsv ? USAGE_LINE_COUNT_MAX : limit });
  if (isCsv) return { file: csvLines(ledger, page, { accountId, ...filter, limit: USAGE_LINE_COUNT_MAX }) };
  return { items: page.items.map(toRecord), ...(page.next === undefined ? {} : { next: page.next }) };
}

/** Yields a CSV file. The caller has read the first page, so that errors surface before the response starts. */
async function* csvLines(
  ledger: Ledger,
  first: Page<UsageLine>,
  query: Parameters<Ledger["usage"]>[0],
): AsyncGenerator<string> {
  yield csvLine(COLUMNS, "\r\n");
  for (let page = first; ; page = await ledger.usage({ ...query, cursor: page.next })) {
    yield page.items.map((line) => csvLineOf(toRecord(line))).join("");
    if (page.next === undefined) return;
  }
}

function toRecord({ customerId, internalId, meter, period, requests, units }: UsageLine): UsageRecord {
  return {
    ...(customerId === undefined ? {} : { customer_id: customerId }),
    ...(internalId === undefined ? {} : { internal_id: internalId }),
    ...(meter === undefined ? {} : { meter }),
    ...(period === undefined ? {} : { period }),
    requests,
    units,
  };
}

function csvLineOf(line: UsageRecord): string {
  const cells = COLUMNS.map((column) => line[column]);
  return csvLine(cells, "\r\n");
}

export function usageReply(result: UsageResult): Reply {
  if (!("file" in result)) return { status: 200, contentType: "application/json", body: encodeJson(result) };
  return {
    status: 200,
    contentType: "text/csv; charset=utf-8; header=present",
    body: result.file,
    headers: { "Content-Disposition": 'attachment; filename="usage.csv"' },
  };
}
