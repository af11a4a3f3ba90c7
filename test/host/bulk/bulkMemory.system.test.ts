import { expect, test } from "vitest";
import { VALID_QUERY } from "../../hazard/queries.ts";
import { ENTITY } from "../entities.ts";
import { ALIGNMENT_PATH } from "../testHost.ts";
import { bulkFixture, textOf } from "./bulkFixture.ts";

const REQUEST_COUNT = 6;
/** With detail, the result of an entity is several times as long as the entity. */
const REQUEST = { route: ALIGNMENT_PATH, queryText: "detail=true", body: Array.from({ length: 600 }, () => ENTITY) };

test("the last requests of an account whose partial results exceed its share of the memory are rejected, others answered", async () => {
  const answer = textOf(await bulkFixture().answer(REQUEST));
  const bodyBytes = Buffer.byteLength(JSON.stringify(REQUEST.body));
  // The bodies and their parsed values fit, and half of a result.
  const shareBytes = 3 * bodyBytes * REQUEST_COUNT + Math.floor(answer.length / 2);
  const fixture = bulkFixture({ workers: 1, load: { memoryBytesMax: 2 * shareBytes, accountShare: 0.5 } });
  const send = async (accountId: string): Promise<string> =>
    fixture.answer({ ...REQUEST, accountId }).then(
      (each) => (textOf(each) === answer ? "answered" : "wrong"),
      (error: unknown) => (error as { readonly code: string }).code,
    );
  const other = send("other");
  const outcomes = await Promise.all(Array.from({ length: REQUEST_COUNT }, () => send("account")));
  expect(await other).toBe("answered");
  const answeredCount = outcomes.indexOf("overloaded");
  expect(answeredCount).toBeGreaterThan(0);
  // Those that were admitted first are answered.
  const answered = Array.from({ length: answeredCount }, () => "answered");
  const rejected = Array.from({ length: REQUEST_COUNT - answeredCount }, () => "overloaded");
  expect(outcomes).toStrictEqual([...answered, ...rejected]);
  expect(fixture.shed).toStrictEqual(rejected.map(() => "too_much_memory_of_account"));
  expect(fixture.admission.jobs.heldBytes).toBe(0);
});

test("the response into which the results of the workers are joined is held in addition to them", async () => {
  const held: number[] = [];
  const fixture = bulkFixture({
    onGrant: ({ kind }) => {
      if (kind === "http.join") held.push(fixture.admission.jobs.heldBytes);
    },
  });
  const body = Array.from({ length: 2_000 }, (_, i) => ({ ...VALID_QUERY, longitude: (i % 360) - 180 }));
  const { length } = textOf(await fixture.answer({ route: "/api/v1/hazard-risk/batch", body }));
  const bodyBytes = Buffer.byteLength(JSON.stringify(body));
  expect(held).toHaveLength(1);
  // The body, the queries of the workers, their results and the response.
  expect(held[0]).toBeGreaterThanOrEqual(2 * bodyBytes + 2 * length - 3 * body.length);
  expect(fixture.admission.jobs.heldBytes).toBe(0);
});
