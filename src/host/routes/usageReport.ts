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
  from: Type.Optional(
    Type.String({ format: "date", description: "First day, UTC, as YYYY-MM-DD. Default: the beginning." }),
  ),
  to: Type.Optional(Type.String({ format: "date", description: "The day after the last, UTC. Default: now." })),
  group_by: Type.Optional(
    Type.Array(Type.Enum(USAGE_GROUPS), {
      minItems: 1,
      uniqueItems: true,
      default: GROUPS_DEFAULT,
      description: "What each line is for; by day and month is by day, which says the month too.",
    }),
  ),
  format: Type.Optional(
    Type.Enum(["json", "csv"], {
      default: "json",
      description: "`csv` gives all lines in one file, without pages (RFC 4180, UTF-8, a header line).",
    }),
  ),
  ...PagingParameters,
};
const CustomerParameter = {
  customer_id: Type.Optional(Type.String({ format: "uuid", description: "This customer's alone." })),
};
const closed = { additionalProperties: false } as const;

export const UsageParametersSchema = Type.Object({ ...SpanParameters, ...CustomerParameter }, closed);
export const CustomerUsageParametersSchema = Type.Object(SpanParameters, closed);

/** A question as the caller wrote it, its defaults filled in. */
export interface UsageRequest {
  readonly customerId?: string;
  readonly from?: string;
  readonly to?: string;
  readonly groupBy: readonly UsageGroup[];
  readonly isFile: boolean;
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

const readAny = parameterReader(UsageParametersSchema, explainUsage);
const readOne = parameterReader(CustomerUsageParametersSchema, explainUsage);

/** @throws Fault `invalid_request` */
export const readUsageParameters = (queryText: string): UsageRequest => asked(readAny(queryText));
export const readCustomerUsageParameters = (queryText: string): UsageRequest => asked(readOne(queryText));

function asked(parameters: UsageParameters): UsageRequest {
  const { customer_id, from, to, group_by, format, limit, cursor } = parameters;
  return {
    ...(customer_id === undefined ? {} : { customerId: customer_id.toLowerCase() }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    groupBy: group_by ?? GROUPS_DEFAULT,
    isFile: format === "csv",
    limit: limit ?? PAGE_LIMIT_DEFAULT,
    ...(cursor === undefined ? {} : { cursor }),
  };
}

function explainUsage(parameters: UsageParameters): readonly FaultItem[] {
  const { customer_id, from, to, format } = parameters;
  const items: FaultItem[] = [];
  if (customer_id !== undefined && readUuid(customer_id) === undefined) {
    const detail = "customer_id must be a UUID, as it was given at registration.";
    items.push({ parameter: "customer_id", code: "malformed", detail });
  }
  for (const [parameter, text] of [
    ["from", from],
    ["to", to],
  ] as const) {
    if (text === undefined || isDate(text)) continue;
    items.push({ parameter, code: "malformed", detail: `${parameter} must be a day that there is, as YYYY-MM-DD.` });
  }
  if (items.length === 0 && from !== undefined && to !== undefined && from >= to) {
    const detail = `to must be after from, ${from}: it is the day after the last.`;
    items.push({ parameter: "to", code: "out_of_range", detail });
  }
  if (format === "csv") {
    for (const parameter of ["limit", "cursor"] as const) {
      if (parameters[parameter] === undefined) continue;
      items.push({ parameter, code: "not_expected", detail: `A file has no pages; leave ${parameter} out.` });
    }
  }
  return items;
}

function isDate(text: string): boolean {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** A line as the wire has it; what is not grouped by is absent. */
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
      period: Type.Optional(Type.String({ description: "YYYY-MM-DD, or YYYY-MM by month." })),
      requests: Type.Integer({ minimum: 0, description: "Answers that were counted." }),
      units: Type.Integer({ minimum: 0 }),
    }),
  ),
  next: NextSchema,
});

export const USAGE_RESPONSES: RouteDescription["responses"] = {
  200: {
    description: "Lines of usage; a line lacks what is not grouped by. As `text/csv` where `format=csv` asks for it.",
    alsoAs: ["text/csv"],
    schema: UsagePageSchema,
  },
};

export type UsageResult = WirePage<UsageRecord> | { readonly file: AsyncIterable<string> };

export async function usageOf(ledger: Ledger, accountId: string, question: UsageRequest): Promise<UsageResult> {
  const { isFile, limit, ...more } = question;
  const page = await ledger.usage({ accountId, ...more, limit: isFile ? USAGE_LINE_COUNT_MAX : limit });
  if (isFile) return { file: linesOf(ledger, page, { accountId, ...more, limit: USAGE_LINE_COUNT_MAX }) };
  return { items: page.items.map(record), ...(page.next === undefined ? {} : { next: page.next }) };
}

/** The whole of a file, its first page at hand already, so that what is wrong is told before it begins. */
async function* linesOf(
  ledger: Ledger,
  first: Page<UsageLine>,
  question: Parameters<Ledger["usage"]>[0],
): AsyncGenerator<string> {
  yield csvLine(COLUMNS, "\r\n");
  for (let page = first; ; page = await ledger.usage({ ...question, cursor: page.next })) {
    yield page.items.map((line) => lineOf(record(line))).join("");
    if (page.next === undefined) return;
  }
}

function record({ customerId, internalId, meter, period, requests, units }: UsageLine): UsageRecord {
  return {
    ...(customerId === undefined ? {} : { customer_id: customerId }),
    ...(internalId === undefined ? {} : { internal_id: internalId }),
    ...(meter === undefined ? {} : { meter }),
    ...(period === undefined ? {} : { period }),
    requests,
    units,
  };
}

function lineOf(line: UsageRecord): string {
  const cells = COLUMNS.map((column) => line[column]);
  return csvLine(cells, "\r\n");
}

export function usageReply(answer: UsageResult): Reply {
  if (!("file" in answer)) return { status: 200, contentType: "application/json", body: encodeJson(answer) };
  return {
    status: 200,
    contentType: "text/csv; charset=utf-8; header=present",
    body: answer.file,
    headers: { "Content-Disposition": 'attachment; filename="usage.csv"' },
  };
}
