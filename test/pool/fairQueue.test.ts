import { describe, expect, test } from "vitest";
import { FairQueue } from "../../src/pool/fairQueue.ts";
import { randomFrom } from "../seededRandom.ts";

/** Takes pieces as a worker would, each of which costs as much as its party's do, and gives back whose they were. */
function served(queue: FairQueue<string>, count: number, costOf: (party: string) => number = () => 1): string {
  let parties = "";
  for (let i = 0; i < count; i++) {
    const party = queue.take();
    if (party === undefined) break;
    queue.charge(party, costOf(party));
    parties += party;
  }
  return parties;
}

function fill(queue: FairQueue<string>, party: string, count: number): void {
  for (let i = 0; i < count; i++) queue.add(party, party);
}

describe("the fair queue", () => {
  test("parties take turns, however much each has brought", () => {
    const queue = new FairQueue<string>();
    fill(queue, "a", 100);
    fill(queue, "b", 3);
    fill(queue, "c", 3);
    expect(served(queue, 12)).toBe("abcabcabcaaa");
    expect(queue.size).toBe(94);
  });

  test("a party's own pieces keep their order", () => {
    const queue = new FairQueue<number>();
    for (let i = 0; i < 50; i++) queue.add(i % 2 === 0 ? "even" : "odd", i);
    const taken = Array.from({ length: 50 }, () => queue.take() ?? NaN);
    const even = taken.filter((i) => i % 2 === 0);
    const odd = taken.filter((i) => i % 2 === 1);
    expect([even, odd]).toEqual([even.toSorted((a, b) => a - b), odd.toSorted((a, b) => a - b)]);
    expect(queue.take()).toBeUndefined();
  });

  test("one whose pieces cost more has fewer of them done", () => {
    const queue = new FairQueue<string>();
    fill(queue, "a", 100);
    fill(queue, "b", 100);
    const parties = served(queue, 44, (party) => (party === "a" ? 10 : 1));
    expect(parties.replaceAll("b", "").length).toBe(4);
  });

  test("one that brings its next piece only when the last is done is not put behind for it", () => {
    const queue = new FairQueue<string>();
    fill(queue, "a", 100);
    let parties = "";
    for (let i = 0; i < 20; i++) {
      queue.add("b", "b");
      parties += served(queue, 2);
    }
    expect(parties.replaceAll("a", "").length).toBe(20);
    expect(parties).not.toContain("aaa");
  });

  test("having been away earns no credit: who comes anew starts where the others are", () => {
    const queue = new FairQueue<string>();
    fill(queue, "b", 1);
    served(queue, 1);
    fill(queue, "a", 1000);
    served(queue, 500);
    fill(queue, "b", 100);
    const parties = served(queue, 20);
    expect(parties.replaceAll("a", "").length).toBe(10);
  });

  test("nor does leaving for a moment forgive what has been used", () => {
    const queue = new FairQueue<string>();
    fill(queue, "a", 100);
    queue.add("b", "b");
    // b's one piece costs as much as 50 of a's, and b is gone until the next take.
    served(queue, 2, (party) => (party === "b" ? 50 : 1));
    queue.add("b", "b");
    expect(served(queue, 40)).toBe("a".repeat(40));
  });

  test("over any stretch in which parties wait all the time, they are served alike", () => {
    const random = randomFrom(5);
    const queue = new FairQueue<string>();
    const costs = new Map(["a", "b", "c"].map((party) => [party, 0]));
    for (let i = 0; i < 3000; i++) {
      for (const party of costs.keys()) if (i < 2000 || party !== "c") queue.add(party, party);
      const party = queue.take() ?? "";
      const cost = random.between({ least: 0.5, most: 20 });
      queue.charge(party, cost);
      costs.set(party, (costs.get(party) ?? 0) + cost);
    }
    const [a = 0, b = 0, c = 0] = costs.values();
    // No two are ever further apart than the largest piece of each.
    expect(Math.abs(a - b)).toBeLessThanOrEqual(40);
    expect(Math.abs(a - c)).toBeLessThanOrEqual(40);
  });
});
