import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nodeVersionError } from "../../src/cli/nodeVersion.ts";

test.each(["20.20.2", "22.11.0", "9.0.0"])("Node.js %s is rejected with the version that is required", (version) => {
  expect(nodeVersionError(version)).toBe(`Node.js 22.12 or later is required (this is ${version}).`);
});

test.each(["22.12.0", "22.21.1", "24.0.0", "100.1.0"])("Node.js %s is accepted", (version) => {
  expect(nodeVersionError(version)).toBeUndefined();
});

test("package.json requires the same version", () => {
  const { engines } = JSON.parse(readFileSync("package.json", "utf8")) as {
    readonly engines: { readonly node: string };
  };
  expect(engines.node).toBe(">=22.12.0");
});
