/**
 * Bytes on a socket that no decent client sends. What must hold of all of them: every answer is whole and is none of the
 * 500s, what is refused is refused by a problem, the process lives on, and nothing stays behind of anybody who has gone.
 *
 * `ISOTHERM_SOAK_RAW=100000` asks for so many.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LINGER_MS } from "../../src/host/exchange.ts";
import { PROBLEM_CODES } from "../../src/host/problemTexts.ts";
import { randomFrom } from "../seededRandom.ts";
import { heardIn, type Manners, talk, times, type WireAnswer } from "./connection.ts";
import { bytesOf, cutsIn, type RightRequest, rightRequests, spoiltBytes } from "./rawBytes.ts";
import { sizeOf, toldOf, watchedService, type WatchedService } from "./watched.ts";

const COUNT = sizeOf("RAW", 1500);
const SEED = sizeOf("SEED", 11);
/** No more than one account may have in work. */
const AT_ONCE = 48;
/** What the process may come to hold that has nothing to do with how often it was asked. */
const SLACK_BYTES = 3 << 20;
const SLACK_BYTES_A_REQUEST = 64;
const SLACK_DESCRIPTORS = 4;
const FAULTS_MAX = 200;
/** Every byte in a full run. */
const STRIDE = COUNT >= 100_000 ? 1 : 16;
const CODES = new Set<string>(PROBLEM_CODES);

let data: string;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-raw-"));
});
afterAll(() => rm(data, { recursive: true, force: true }));

/** What is wrong with an answer, whatever was asked. */
function faultIn({ status, headers, body }: WireAnswer): string | undefined {
  if (status === 100) return undefined;
  if (status >= 500) return `status ${status}, ${body}`;
  if (!/^[0-9a-f-]{36}$/.test(headers.get("x-request-id") ?? "")) return "no request id";
  // The body of an answer to HEAD is not there.
  if (status < 400 || body === "") return undefined;
  if (headers.get("content-type") !== "application/problem+json") return "no problem";
  const problem = JSON.parse(Buffer.from(body, "latin1").toString()) as {
    readonly status: number;
    readonly code: string;
  };
  if (problem.status !== status || !CODES.has(problem.code)) return `problem ${problem.code} of ${problem.status}`;
  return headers.has("x-usage-units") && headers.get("x-usage-units") !== "0" ? "a refusal that costs" : undefined;
}

/** Whatever differs from one answer to the same question to the next. */
function withoutTimes({ status, headers, body }: WireAnswer): unknown {
  const kept = [...headers].filter(([name]) => !/^(date|ratelimit|x-request-id|connection|keep-alive)$/.test(name));
  const id = headers.get("x-request-id");
  return [status, kept, id === undefined ? body : body.replaceAll(id, "")];
}

test("a request is the same request wherever its bytes are parted", { timeout: 300_000 }, async () => {
  const service = await watchedService(data);
  try {
    const answered = async (request: RightRequest, manners: Manners): Promise<WireAnswer> => {
      const mayBeHeads = request.line.startsWith("HEAD");
      const isEnough = (text: string): boolean => heardIn(text, { mayBeHeads }).answers.length > 0;
      const text = await talk(service.port, bytesOf(request), { ...manners, isEnough, patienceMs: 10_000 });
      const { answers, rest } = heardIn(text, { mayBeHeads });
      expect([request.name, answers.length, rest]).toStrictEqual([request.name, 1, ""]);
      return answers[0] as WireAnswer;
    };
    const all = await Promise.all(
      rightRequests(service.headers).map(async (request) => {
        // What is counted, and what is made once, differs the first time.
        await answered(request, {});
        const expected = await answered(request, {});
        expect([request.name, expected.status]).toStrictEqual([request.name, request.status]);
        return { request, expected, everywhere: Array.from({ length: bytesOf(request).length - 1 }, (_, i) => i + 1) };
      }),
    );
    await Promise.all(
      all.map(async ({ request, expected, everywhere }) => {
        const answer = await answered(request, { cuts: everywhere });
        expect(withoutTimes(answer)).toStrictEqual(withoutTimes(expected));
      }),
    );
    const places = all.flatMap(({ everywhere, ...each }) =>
      everywhere.filter((cut) => cut % STRIDE === 0).map((cut) => ({ ...each, cut })),
    );
    await times(places.length, { atOnce: AT_ONCE }, async (index) => {
      const { request, expected, cut } = places[index] as (typeof places)[number];
      const answer = await answered(request, { cuts: [cut], pauseMs: 3 });
      expect(withoutTimes(answer)).toStrictEqual(withoutTimes(expected));
    });
    console.log(`${places.length} requests in two parts, ${all.length} byte by byte`);
  } finally {
    await service.stop();
  }
});

interface Campaign {
  readonly statuses: ReadonlyMap<number, number>;
  readonly faults: readonly string[];
}

async function fuzzed(service: WatchedService, { count, seed }: { count: number; seed: number }): Promise<Campaign> {
  const right = rightRequests(service.headers);
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  const ids = new Set<string>();
  await times(count, { atOnce: AT_ONCE }, async (index) => {
    // A service that has ended fails everything that follows.
    if (faults.length >= FAULTS_MAX) return;
    const random = randomFrom(seed * 1_000_003 + index);
    const bytes = spoiltBytes(random, right);
    const fail = (what: string): void =>
      void faults.push(`${index}: ${what}, to ${JSON.stringify(bytes.toString("latin1").slice(0, 1000))}`);
    try {
      const text = await talk(service.port, bytes, { cuts: cutsIn(random, bytes), isRude: random.chance(0.1) });
      const { answers, rest } = heardIn(text, { mayBeHeads: bytes.includes("HEAD") });
      if (rest !== "") fail(`half an answer, ${JSON.stringify(rest.slice(0, 200))}`);
      for (const answer of answers) {
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        const fault = faultIn(answer);
        if (fault !== undefined) fail(fault);
        const id = answer.headers.get("x-request-id") ?? "";
        if (id !== "" && ids.has(id)) fail("a request id of another answer");
        ids.add(id);
      }
    } catch (error) {
      fail((error as Error).message);
    }
  });
  // Whoever was refused and did not listen is kept for a moment.
  await setTimeout(2 * LINGER_MS);
  return { statuses, faults };
}

const counts = (statuses: ReadonlyMap<number, number>): string =>
  [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, many]) => `${status}: ${many}`)
    .join(", ");

test(
  `${COUNT} requests of bytes that nobody should send are answered or refused, and nothing stays behind`,
  { timeout: 120_000 + COUNT * 20 },
  async () => {
    const service = await watchedService(data);
    try {
      await fuzzed(service, { count: Math.max(500, COUNT / 10), seed: SEED + 1 });
      const before = await service.holding();
      const { statuses, faults } = await fuzzed(service, { count: COUNT, seed: SEED });
      const after = await service.holding();
      console.log(`${COUNT} raw requests, ${counts(statuses)}; before ${toldOf(before)}; after ${toldOf(after)}`);
      expect(faults.slice(0, 10)).toStrictEqual([]);
      expect(statuses.get(200)).toBeGreaterThan(COUNT / 20);
      expect(statuses.get(400)).toBeGreaterThan(COUNT / 20);
      expect(after.descriptorCount).toBeLessThanOrEqual(before.descriptorCount + SLACK_DESCRIPTORS);
      const allowedBytes = SLACK_BYTES + SLACK_BYTES_A_REQUEST * COUNT;
      expect(after.reachableBytes - before.reachableBytes).toBeLessThan(allowedBytes);
    } finally {
      await service.stop();
    }
    expect(await service.ended).toStrictEqual({ code: 0, signal: null });
  },
);
