import { expect, test } from "vitest";
import { readSystem } from "../../src/reference/industryCodes.ts";

test.each([
  ["nace", "nace"],
  [" NACE ", "nace"],
  ["NACE Rev. 2", "nace"],
  ["NACE Rev.2", "nace"],
  ["nace_r2", "nace"],
  ["NACE 2", "nace"],
  ["NACE Revision 2", "nace"],
  ["ISIC Rev. 4", "isic"],
  ["ISIC4", "isic"],
  ["NAICS 2017", "naics"],
  ["NAICS-2017", "naics"],
  ["GICS", "gics"],
  ["FactSet", "factset"],
])("%j is %s", (text, system) => {
  expect(readSystem(text)).toEqual({ kind: "found", system });
});

test.each([
  ["NAICS 2022", "naics"],
  ["NAICS 2012", "naics"],
  ["NACE Rev. 2.1", "nace"],
  ["NACE Rev. 1.1", "nace"],
  ["ISIC Rev. 3.1", "isic"],
  ["ISIC Rev. 5", "isic"],
])("%j is an edition without codes", (text, system) => {
  expect(readSystem(text)).toEqual({ kind: "other_edition", system });
});

test.each(["", "SIC", "nacebel", "NACE BEL", "GICS 2023", "isics", "2017"])("%j is unknown", (text) => {
  expect(readSystem(text)).toEqual({ kind: "unknown" });
});
