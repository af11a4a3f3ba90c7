import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("docs/dependencies.md lists the dependencies in package.json and no others", () => {
  const { dependencies, peerDependencies, devDependencies } = JSON.parse(read("package.json")) as Record<
    "dependencies" | "peerDependencies" | "devDependencies",
    Readonly<Record<string, string>>
  >;
  const tables = read("docs/dependencies.md").matchAll(/^\| package .*\n\|[-: |]+\n((?:\|.*\n)+)/gm);
  const rows = [...tables].flatMap(([, body = ""]) => body.trim().split("\n"));
  const documented = rows.flatMap((row) => (row.split("|")[1] ?? "").trim().split(", "));
  const declared = Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies });
  expect([...new Set(documented)].toSorted()).toEqual(declared.toSorted());
});
