import { expect, test, vi } from "vitest";
import { rememberByText } from "../../src/reference/boundedCache.ts";

test("rememberByText computes each text once, also if the result is undefined", () => {
  const compute = vi.fn((text: string) => (text === "none" ? undefined : text.length));
  const remembered = rememberByText(compute);
  expect(["a", "none", "bb", "a", "none"].map(remembered)).toEqual([1, undefined, 2, 1, undefined]);
  expect(compute).toHaveBeenCalledTimes(3);
});

test("rememberByText forgets all texts after 4,096, and never stores long ones", () => {
  const compute = vi.fn((text: string) => text.length);
  const remembered = rememberByText(compute);
  const long = "x".repeat(201);
  for (let i = 0; i < 4096; i++) remembered(`text ${i}`);
  remembered("text 0");
  expect(compute).toHaveBeenCalledTimes(4096);
  remembered("one more");
  remembered("text 0");
  expect(compute).toHaveBeenCalledTimes(4098);
  expect([remembered(long), remembered(long)]).toEqual([201, 201]);
  expect(compute).toHaveBeenCalledTimes(4100);
});
