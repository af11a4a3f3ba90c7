import { describe, expect, test } from "vitest";
import type { HazardCatalog } from "../../src/contract/wireTypes.ts";
import { ExplorerError, type ExplorerData } from "../../src/explorer/data/explorerData.ts";
import { faultyCredentialOf, withCatalog } from "../../src/explorer/openData.ts";

/** Data with only a catalog, which records whether it was closed. */
function dataWith(catalog: ExplorerData["catalog"]) {
  let closeCount = 0;
  const data = { kind: "published", catalog, close: () => (closeCount += 1) } as unknown as ExplorerData;
  return { data, closeCount: () => closeCount };
}

const NEVER = new AbortController().signal;

describe("withCatalog", () => {
  test("returns the catalog of data that stays open", async () => {
    const catalog = { release: "r1" } as HazardCatalog;
    const { data, closeCount } = dataWith(() => Promise.resolve(catalog));
    expect(await withCatalog(data, NEVER)).toEqual({ data, catalog });
    expect(closeCount()).toBe(0);
  });

  test("closes data without a catalog, so that its worker ends", async () => {
    const { data, closeCount } = dataWith(() => Promise.reject(new ExplorerError("atlas_unavailable", "no atlas")));
    await expect(withCatalog(data, NEVER)).rejects.toThrow("no atlas");
    expect(closeCount()).toBe(1);
  });

  test("closes data that is no longer wanted", async () => {
    const { data, closeCount } = dataWith((signal) => {
      signal?.throwIfAborted();
      return Promise.reject(new Error("the signal must be aborted"));
    });
    await expect(withCatalog(data, AbortSignal.abort(new Error("left")))).rejects.toThrow("left");
    expect(closeCount()).toBe(1);
  });
});

test.each([
  ["api_key_invalid", "apiKey"],
  ["api_key_revoked", "apiKey"],
  ["account_suspended", "apiKey"],
  ["customer_not_found", "customerId"],
  ["customer_id_malformed", "customerId"],
  ["customer_archived", "customerId"],
  ["network", undefined],
  ["overloaded", undefined],
])("a problem %s is corrected in the field %s", (code, field) => {
  expect(faultyCredentialOf(new ExplorerError(code, "refused"))).toBe(field);
  expect(faultyCredentialOf(new Error(code))).toBeUndefined();
});
