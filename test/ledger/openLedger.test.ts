import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openLedger } from "../../src/ledger/openLedger.ts";

const folder = mkdtempSync(join(tmpdir(), "isotherm-open-ledger-"));
afterAll(() => rmSync(folder, { recursive: true }));
const data = join(folder, "ledger");

test.each([
  ["a missing address", undefined, undefined, [{ pointer: "", code: "wrong_type" }]],
  ["a folder as text", data, undefined, [{ pointer: "", code: "wrong_type" }]],
  ["an address without data or database", {}, undefined, [{ pointer: "/data", code: "missing" }]],
  [
    "an address with data and database",
    { data, database: "postgres://h/d" },
    undefined,
    [{ pointer: "/database", code: "not_expected" }],
  ],
  ["an empty folder name", { data: " " }, undefined, [{ pointer: "/data", code: "empty" }]],
  ["a number for data", { data: 5 }, undefined, [{ pointer: "/data", code: "wrong_type" }]],
  ["an unknown member", { databse: "postgres://h/d" }, undefined, [{ pointer: "/databse", did_you_mean: "database" }]],
  ["an unknown option", { data }, { must_exist: true }, [{ pointer: "/must_exist", did_you_mean: "mustExist" }]],
  ["text for mustExist", { data }, { mustExist: "yes" }, [{ pointer: "/mustExist", code: "wrong_type" }]],
  ["a number for now", { data }, { now: 5 }, [{ pointer: "/now", code: "wrong_type" }]],
  [
    "an invalid address and invalid options, in one error,",
    { data: "" },
    { now: 5 },
    [{ pointer: "/data" }, { pointer: "/now" }],
  ],
])("openLedger rejects %s without creating a file", async (_what, address, options, items) => {
  const opening = openLedger(address as never, options as never);
  await expect(opening).rejects.toMatchObject({ name: "Fault", code: "configuration_invalid", items });
  expect(existsSync(data)).toBe(false);
});

test("openLedger does not repeat the password of an invalid address", async () => {
  const error: unknown = await openLedger({
    database: ["postgres://u:s3cret@h/d"],
    data: "postgres://u:s3cret@h/d",
  } as never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "configuration_invalid" });
  expect(JSON.stringify(error) + String(error)).not.toContain("s3cret");
});
