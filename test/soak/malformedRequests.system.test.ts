/**
 * Malformed bytes on a socket. Every response must be complete and not a 5xx, every rejection a problem document,
 * the process must keep running, and nothing may stay allocated for disconnected clients.
 *
 * `ISOTHERM_SOAK_MALFORMED_REQUESTS=100000` sets the number of requests.
 */
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { dataFolder } from "../durability/dataFolder.ts";
import { LINGER_MS } from "../../src/host/http/exchange.ts";
import { PROBLEM_CODES } from "../../src/host/problems/problemTexts.ts";
import { randomFrom } from "../seededRandom.ts";
import { parseResponses, type ClientBehavior, exchangeBytes, runConcurrently, type RawResponse } from "./connection.ts";
import { encodeRequest, randomCuts, type ValidRequest, validRequests, corruptRequests } from "./malformedRequests.ts";
import { integerSetting, formatUsage, startServiceProcess, type ServiceProcess } from "./serviceProcess.ts";

const COUNT = integerSetting("MALFORMED_REQUESTS", 1500);
const SEED = integerSetting("SEED", 11);
/** At most the number of requests that one account may have in progress. */
const CONCURRENCY = 48;
/** Memory growth that is independent of the number of requests. */
const SLACK_BYTES = 3 << 20;
const SLACK_BYTES_PER_REQUEST = 64;
const SLACK_DESCRIPTORS = 4;
const FAULTS_MAX = 200;
/** Distance between the cut positions that are tested; every byte in a full run. */
const CUT_STRIDE = COUNT >= 100_000 ? 1 : 16;
const CODES = new Set<string>(PROBLEM_CODES);

const data = dataFolder("raw");

/** Returns the defect of a response to any request, or undefined. */
function faultIn({ status, headers, body }: RawResponse): string | undefined {
  if (status === 100) return undefined;
  if (status >= 500) return `status ${status}, ${body}`;
  if (!/^[0-9a-f-]{36}$/.test(headers.get("x-request-id") ?? "")) return "no request id";
  // Responses to HEAD have no body.
  if (status < 400 || body === "") return undefined;
  if (headers.get("content-type") !== "application/problem+json") return "not a problem document";
  const problem = JSON.parse(Buffer.from(body, "latin1").toString()) as {
    readonly status: number;
    readonly code: string;
  };
  if (problem.status !== status || !CODES.has(problem.code)) return `problem ${problem.code} of ${problem.status}`;
  return headers.has("x-usage-units") && headers.get("x-usage-units") !== "0"
    ? "a rejection that is metered"
    : undefined;
}

/** Returns the parts of a response that are equal for equal requests. */
function withoutTimes({ status, headers, body }: RawResponse): unknown {
  const kept = [...headers].filter(([name]) => !/^(date|ratelimit|x-request-id|connection|keep-alive)$/.test(name));
  const id = headers.get("x-request-id");
  return [status, kept, id === undefined ? body : body.replaceAll(id, "")];
}

test("a request has the same response regardless of where its bytes are split", { timeout: 300_000 }, async () => {
  const service = await startServiceProcess(data());
  try {
    const exchange = async (request: ValidRequest, behavior: ClientBehavior): Promise<RawResponse> => {
      const allowsHeadResponses = request.line.startsWith("HEAD");
      const isComplete = (text: string): boolean => parseResponses(text, { allowsHeadResponses }).responses.length > 0;
      const text = await exchangeBytes(service.port, encodeRequest(request), {
        ...behavior,
        isComplete,
        responseTimeoutMs: 60_000,
      });
      const { responses, rest } = parseResponses(text, { allowsHeadResponses });
      expect([request.name, responses.length, rest]).toStrictEqual([request.name, 1, ""]);
      return responses[0] as RawResponse;
    };
    const all = await Promise.all(
      validRequests(service.headers).map(async (request) => {
        // The first response differs in usage and in what is created once.
        await exchange(request, {});
        const expected = await exchange(request, {});
        expect([request.name, expected.status]).toStrictEqual([request.name, request.status]);
        return {
          request,
          expected,
          allCuts: Array.from({ length: encodeRequest(request).length - 1 }, (_, i) => i + 1),
        };
      }),
    );
    await Promise.all(
      all.map(async ({ request, expected, allCuts }) => {
        const response = await exchange(request, { cuts: allCuts });
        expect(withoutTimes(response)).toStrictEqual(withoutTimes(expected));
      }),
    );
    const cutRequests = all.flatMap(({ allCuts, ...rest }) =>
      allCuts.filter((cut) => cut % CUT_STRIDE === 0).map((cut) => ({ ...rest, cut })),
    );
    await runConcurrently(cutRequests.length, { concurrency: CONCURRENCY }, async (index) => {
      const { request, expected, cut } = cutRequests[index] as (typeof cutRequests)[number];
      const response = await exchange(request, { cuts: [cut], pauseMs: 3 });
      expect(withoutTimes(response)).toStrictEqual(withoutTimes(expected));
    });
    console.log(`${cutRequests.length} requests in two parts, ${all.length} byte by byte`);
  } finally {
    await service.stop();
  }
});

interface Campaign {
  readonly statuses: ReadonlyMap<number, number>;
  readonly faults: readonly string[];
}

async function runCampaign(
  service: ServiceProcess,
  { count, seed }: { count: number; seed: number },
): Promise<Campaign> {
  const valid = validRequests(service.headers);
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  const ids = new Set<string>();
  await runConcurrently(count, { concurrency: CONCURRENCY }, async (index) => {
    // After the service has exited, every further request fails.
    if (faults.length >= FAULTS_MAX) return;
    const random = randomFrom(seed * 1_000_003 + index);
    const bytes = corruptRequests(random, valid);
    const fail = (message: string): void =>
      void faults.push(`${index}: ${message}, to ${JSON.stringify(bytes.toString("latin1").slice(0, 1000))}`);
    try {
      const text = await exchangeBytes(service.port, bytes, {
        cuts: randomCuts(random, bytes),
        resetsWhenDone: random.chance(0.1),
      });
      const { responses, rest } = parseResponses(text, { allowsHeadResponses: bytes.includes("HEAD") });
      if (rest !== "") fail(`incomplete response, ${JSON.stringify(rest.slice(0, 200))}`);
      for (const response of responses) {
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        const fault = faultIn(response);
        if (fault !== undefined) fail(fault);
        const id = response.headers.get("x-request-id") ?? "";
        if (id !== "" && ids.has(id)) fail("duplicate request id");
        ids.add(id);
      }
    } catch (error) {
      fail((error as Error).message);
    }
  });
  // Connections of rejected clients that do not read stay open for a moment.
  await setTimeout(2 * LINGER_MS);
  return { statuses, faults };
}

const formatCounts = (statuses: ReadonlyMap<number, number>): string =>
  [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
    .join(", ");

test(
  `${COUNT} malformed requests are answered or rejected without leaks`,
  { timeout: 120_000 + COUNT * 20 },
  async () => {
    const service = await startServiceProcess(data());
    try {
      await runCampaign(service, { count: Math.max(500, COUNT / 10), seed: SEED + 1 });
      const before = await service.resourceUsage();
      const { statuses, faults } = await runCampaign(service, { count: COUNT, seed: SEED });
      const after = await service.resourceUsage();
      console.log(
        `${COUNT} malformed requests, ${formatCounts(statuses)}; before ${formatUsage(before)}; after ${formatUsage(after)}`,
      );
      expect(faults.slice(0, 10)).toStrictEqual([]);
      expect(statuses.get(200)).toBeGreaterThan(COUNT / 20);
      expect(statuses.get(400)).toBeGreaterThan(COUNT / 20);
      expect(after.descriptorCount).toBeLessThanOrEqual(before.descriptorCount + SLACK_DESCRIPTORS);
      const allowedBytes = SLACK_BYTES + SLACK_BYTES_PER_REQUEST * COUNT;
      expect(after.reachableBytes - before.reachableBytes).toBeLessThan(allowedBytes);
    } finally {
      await service.stop();
    }
    expect(await service.exited).toStrictEqual({ code: 0, signal: null });
  },
);
