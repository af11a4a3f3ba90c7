import { describe, expect, test } from "vitest";
import type { Fault } from "../../../src/errors.ts";
import { registerCustomer } from "../../../src/host/routes/customers.ts";
import { checkText } from "../../../src/ledger/checks.ts";
import { LIMITS } from "../routeCaller.ts";

function faultOf(run: () => unknown): Fault | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error as Fault;
  }
}

const parse = (body: unknown): unknown => registerCustomer.parse({ queryText: "", path: {}, body, limits: LIMITS });

describe("the route and the ledger apply the same rule to names and ids", () => {
  test.each([
    ["empty text", ""],
    ["201 characters", "x".repeat(201)],
    ["a line break", "a\nb"],
    ["an unpaired surrogate", "a\ud800b"],
    ["a control character above U+007F", "a\u0085b"],
  ])("both reject %s with the same items", (_, internal_id) => {
    const expected = faultOf(() => checkText("internal_id", internal_id));
    expect(expected?.items).toHaveLength(1);
    expect(faultOf(() => parse({ internal_id }))?.items).toEqual(expected?.items);
  });

  test.each([["200 characters outside the BMP", "\u{1F30D}".repeat(200)]])("both accept %s", (_, internal_id) => {
    expect(checkText("internal_id", internal_id)).toBe(internal_id);
    expect(parse({ internal_id })).toEqual({ internal_id });
  });
});
