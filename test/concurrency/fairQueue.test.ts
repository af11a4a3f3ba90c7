import { describe, expect, test } from "vitest";
import { FairQueue } from "../../src/concurrency/fairQueue.ts";
import { randomFrom } from "../seededRandom.ts";

/** Takes items, charges the cost of each to its tenant, and returns the tenants in order. */
function served(queue: FairQueue<string>, count: number, costOf: (tenant: string) => number = () => 1): string {
  let tenants = "";
  for (let i = 0; i < count; i++) {
    const tenant = queue.take();
    if (tenant === undefined) break;
    queue.charge(tenant, costOf(tenant));
    tenants += tenant;
  }
  return tenants;
}

function fill(queue: FairQueue<string>, tenant: string, count: number): void {
  for (let i = 0; i < count; i++) queue.add(tenant, tenant);
}

describe("FairQueue", () => {
  test("alternates between tenants, however many items each has", () => {
    const queue = new FairQueue<string>();
    fill(queue, "a", 100);
    fill(queue, "b", 3);
    fill(queue, "c", 3);
    expect(served(queue, 12)).toBe("abcabcabcaaa");
    expect(queue.size).toBe(94);
  });

  test("keeps the order of a tenant's items", () => {
    const queue = new FairQueue<number>();
    for (let i = 0; i < 50; i++) queue.add(i % 2 === 0 ? "even" : "odd", i);
    const taken = Array.from({ length: 50 }, () => queue.take() ?? NaN);
    const even = taken.filter((i) => i % 2 === 0);
    const odd = taken.filter((i) => i % 2 === 1);
    expect([even, odd]).toEqual([even.toSorted((a, b) => a - b), odd.toSorted((a, b) => a - b)]);
    expect(queue.take()).toBeUndefined();
  });

  test("serves fewer items of a tenant with costlier items", () => {
    const queue = new FairQueue<string>();
    fill(queue, "a", 100);
    fill(queue, "b", 100);
    const tenants = served(queue, 44, (tenant) => (tenant === "a" ? 10 : 1));
    expect(tenants.replaceAll("b", "").length).toBe(4);
  });

  test("does not delay a tenant that adds each item only when the previous one is done", () => {
    const queue = new FairQueue<string>();
    fill(queue, "a", 100);
    let tenants = "";
    for (let i = 0; i < 20; i++) {
      queue.add("b", "b");
      tenants += served(queue, 2);
    }
    expect(tenants.replaceAll("a", "").length).toBe(20);
    expect(tenants).not.toContain("aaa");
  });

  test("gives no credit for absence", () => {
    const queue = new FairQueue<string>();
    fill(queue, "b", 1);
    served(queue, 1);
    fill(queue, "a", 1000);
    served(queue, 500);
    fill(queue, "b", 100);
    const tenants = served(queue, 20);
    expect(tenants.replaceAll("a", "").length).toBe(10);
  });

  test("keeps the cost of a tenant that was absent for a moment", () => {
    const queue = new FairQueue<string>();
    fill(queue, "a", 100);
    queue.add("b", "b");
    // One item of b costs 50 times as much as one of a; b then has none until the next `add`.
    served(queue, 2, (tenant) => (tenant === "b" ? 50 : 1));
    queue.add("b", "b");
    expect(served(queue, 40)).toBe("a".repeat(40));
  });

  test("gives a tenant that returns no credit for the time in which it had no items", () => {
    const queue = new FairQueue<string>();
    const costOf = (tenant: string): number => (tenant === "b" ? 100 : 10);
    fill(queue, "a", 1);
    fill(queue, "b", 10);
    expect(served(queue, 3, costOf)).toBe("abb"); // while only b waits, its clock advances by 200
    fill(queue, "a", 100);
    // The clock of a starts at 100, where b was last served. It reaches that of b, 200, after 10 items, and a is first.
    expect(served(queue, 12, costOf)).toBe(`${"a".repeat(11)}b`);
  });

  test("serves tenants that always wait equally", () => {
    const random = randomFrom(5);
    const queue = new FairQueue<string>();
    const costs = new Map(["a", "b", "c"].map((tenant) => [tenant, 0]));
    for (let i = 0; i < 3000; i++) {
      for (const tenant of costs.keys()) if (i < 2000 || tenant !== "c") queue.add(tenant, tenant);
      const tenant = queue.take() ?? "";
      const cost = random.between({ min: 0.5, max: 20 });
      queue.charge(tenant, cost);
      costs.set(tenant, (costs.get(tenant) ?? 0) + cost);
    }
    const [a = 0, b = 0, c = 0] = costs.values();
    // Two tenants never differ by more than the largest item of each.
    expect(Math.abs(a - b)).toBeLessThanOrEqual(40);
    expect(Math.abs(a - c)).toBeLessThanOrEqual(40);
  });

  test("completes the long items of a tenant one after the other, in turn with its other items", () => {
    const queue = new FairQueue<string>();
    for (const order of [2, 1, 3]) queue.addLong("a", `long ${order}`, order);
    queue.add("a", "short 1");
    queue.add("a", "short 2");
    const served = Array.from({ length: 6 }, () => {
      const item = queue.take() ?? "";
      if (item === "long 1") queue.addLong("a", "long 1", 1);
      return item;
    });
    expect(served).toEqual(["short 1", "long 1", "short 2", "long 1", "long 1", "long 1"]);
    expect(queue.size).toBe(3);
  });
});
