import {
  CustomerPathSchema,
  CustomerUsageParametersSchema,
  USAGE_GROUPS_DEFAULT,
  UsagePageSchema,
  UsageParametersSchema,
} from "../../contract/accounts.ts";
import { PAGE_ITEMS } from "../../contract/ranges.ts";
import type { UsageGroup, UsagePage, UsageParameters } from "../../contract/wireTypes.ts";
import type { FaultItem } from "../../errors.ts";
import { readUuid } from "../http/requestHead.ts";
import type { Reply, Route, RouteContext, RouteDescription } from "../route.ts";
import { requireCustomer } from "./customers.ts";
import { parameterReader } from "./parameters.ts";
import { isDate } from "../../ledger/checks.ts";
import { CSV_PAGE_LENGTH_MAX, type CsvPage } from "../../ledger/ledger.ts";
import { toUsageRecord, USAGE_CSV_HEADER } from "../../ledger/usageRecord.ts";
import { encodeJson } from "../../text/json/json.ts";
import { quote } from "../../validation/schemaErrors.ts";

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

const parseAccountParameters = parameterReader(UsageParametersSchema, findUsageErrors);
const parseCustomerParameters = parameterReader(CustomerUsageParametersSchema, findUsageErrors);

/** Parses the parameters of a request for an account's usage. @throws Fault `invalid_request` */
const readUsageParameters = (queryText: string): UsageRequest => toUsageRequest(parseAccountParameters(queryText));
/** Parses the parameters of a request for a customer's usage. @throws Fault `invalid_request` */
const readCustomerUsageParameters = (queryText: string): UsageRequest =>
  toUsageRequest(parseCustomerParameters(queryText));

function toUsageRequest(parameters: UsageParameters): UsageRequest {
  const { customer_id, from, to, group_by, format, limit, cursor } = parameters;
  return {
    ...(customer_id === undefined ? {} : { customerId: customer_id.toLowerCase() }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    groupBy: group_by ?? USAGE_GROUPS_DEFAULT,
    isCsv: format === "csv",
    limit: limit ?? PAGE_ITEMS.default,
    ...(cursor === undefined ? {} : { cursor }),
  };
}

function findUsageErrors(parameters: UsageParameters): readonly FaultItem[] {
  const { customer_id, from, to, format } = parameters;
  const items: FaultItem[] = [];
  if (customer_id !== undefined && readUuid(customer_id) === undefined) {
    // Not quoted: a caller may have sent a key or a cursor by mistake, and responses end up in logs.
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
      detail: `${parameter} must be an existing date in the form YYYY-MM-DD (got ${quote(text)}).`,
    });
  }
  if (items.length === 0 && from !== undefined && to !== undefined && from >= to) {
    const detail = `to must be later than from, ${from}, because it is the day after the last day included (got ${to}).`;
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

const USAGE_RESPONSES: RouteDescription["responses"] = {
  200: {
    description:
      "Lines of usage, without the members by which usage is not grouped. The response is `text/csv` if `format` is `csv`.",
    otherContentTypes: ["text/csv"],
    schema: UsagePageSchema,
  },
};

export type UsageResult = UsagePage | { readonly file: AsyncIterable<string> };

/** Lines that are read at a time for a CSV file: about 25 ms, after which a report of another account has its turn. */
const CSV_LINES_PER_PAGE = 5_000;
/**
 * Memory of a CSV file while it is sent: a page as text, which takes 2 bytes per UTF-16 code unit, and as UTF-8, which takes
 * up to 3, until it has been sent, and the text of the next page.
 */
const CSV_STREAM_BYTES = (2 + 3 + 2) * CSV_PAGE_LENGTH_MAX;

/** Returns the memory that the response to a request takes at a time if it is a CSV file. */
function usageStreamBytes({ isCsv }: UsageRequest): number | undefined {
  return isCsv ? CSV_STREAM_BYTES : undefined;
}

/**
 * Reads usage from the ledger: a page, or all lines as a stream of CSV. Reading ends when the client disconnects.
 * @throws Fault as `Ledger.usage` does
 */
async function findUsage(
  request: UsageRequest,
  { services: { ledger }, caller: { accountId }, signal }: RouteContext,
): Promise<UsageResult> {
  const { isCsv, limit, ...filter } = request;
  const query = { accountId, ...filter };
  if (isCsv) {
    const readPage = (cursor: { readonly cursor?: string }, lineCount: number): Promise<CsvPage> =>
      ledger.usageCsv({ ...query, ...cursor, limit: lineCount }, { signal });
    const first = await readPage({}, CSV_LINES_PER_PAGE);
    return { file: csvFile(first, (cursor, lineCount) => readPage({ cursor }, lineCount)) };
  }
  const page = await ledger.usage({ ...query, limit }, { signal });
  return { items: page.items.map(toUsageRecord), ...(page.next === undefined ? {} : { next: page.next }) };
}

/**
 * Yields a CSV file. The caller has read the first page, so that errors surface before the response starts. Each page is
 * read when the one before it has been passed to the system, so that a client that reads slowly holds one page only.
 */
async function* csvFile(
  first: CsvPage,
  readPage: (cursor: string, lineCount: number) => Promise<CsvPage>,
): AsyncGenerator<string> {
  yield USAGE_CSV_HEADER;
  for (let page = first; ;) {
    yield page.text;
    if (page.next === undefined) return;
    page = await readPage(page.next, nextLineCount(page));
  }
}

/** Returns how many lines like those of a page fit in the next one, so that none are read in vain. */
function nextLineCount({ text, lineCount }: CsvPage): number {
  if (lineCount === 0) return CSV_LINES_PER_PAGE;
  return Math.min(CSV_LINES_PER_PAGE, Math.max(1, Math.floor((CSV_PAGE_LENGTH_MAX * lineCount) / text.length)));
}

/** Returns the response to a usage request: JSON, or a CSV file. */
function usageReply(result: UsageResult): Reply {
  if (!("file" in result)) return { status: 200, contentType: "application/json", body: encodeJson(result) };
  return {
    status: 200,
    contentType: "text/csv; charset=utf-8; header=present",
    body: result.file,
    headers: { "Content-Disposition": 'attachment; filename="usage.csv"' },
  };
}

/** GET /latest/api/v1/usage: recorded usage of the account. */
export const usage: Route<UsageRequest, UsageResult> = {
  method: "GET",
  path: "/latest/api/v1/usage",
  access: "key",
  description: {
    operationId: "getUsage",
    tag: "Usage",
    summary: "Usage of the account",
    description: "Covers all metered responses that were sent before this request.",
    query: UsageParametersSchema,
    parameterExamples: { group_by: "customer,meter" },
    responses: USAGE_RESPONSES,
    problems: ["invalid_request", "customer_not_found"],
  },
  parse: ({ queryText }) => readUsageParameters(queryText),
  streamBytes: usageStreamBytes,
  async handle(request, context) {
    // Without this check, a mistyped id would look like a customer without usage.
    if (request.customerId !== undefined) await requireCustomer(request.customerId, context);
    return findUsage(request, context);
  },
  reply: usageReply,
};

interface CustomerUsageRequest {
  readonly id: string;
  readonly usage: UsageRequest;
}

/** GET /latest/api/v1/customers/:id/usage: recorded usage of one customer, archived or not. */
export const customerUsage: Route<CustomerUsageRequest, UsageResult> = {
  method: "GET",
  path: "/latest/api/v1/customers/:id/usage",
  access: "key",
  description: {
    operationId: "getCustomerUsage",
    tag: "Usage",
    summary: "Usage of one customer",
    path: CustomerPathSchema,
    query: CustomerUsageParametersSchema,
    parameterExamples: { group_by: "meter,day" },
    responses: USAGE_RESPONSES,
    problems: ["invalid_request", "customer_not_found"],
  },
  parse: ({ queryText, path }) => ({ id: path["id"] ?? "", usage: readCustomerUsageParameters(queryText) }),
  streamBytes: ({ usage }) => usageStreamBytes(usage),
  async handle({ id, usage }, context) {
    const { customerId } = await requireCustomer(id, context);
    return findUsage({ ...usage, customerId }, context);
  },
  reply: usageReply,
};
