import { expect, test } from "vitest";
import { newRequestId } from "../../src/host/requestId.ts";

test("is a UUIDv7: the time in front, so that later ones sort after earlier ones", () => {
  const id = newRequestId(0x0123456789ab);
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newRequestId(0x0123456789ac) > id).toBe(true);
  expect(newRequestId(5).startsWith("00000000-0005-7")).toBe(true);
});

test("is never given twice", () => {
  const ids = Array.from({ length: 10_000 }, () => newRequestId(1));
  expect(new Set(ids).size).toBe(ids.length);
});
