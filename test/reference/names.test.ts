import { expect, test } from "vitest";
import { foldLetters, foldName } from "../../src/reference/names.ts";

test.each([
  ["  Côte d’Ivoire ", "cote d ivoire"],
  ["COTE_D'IVOIRE", "cote d ivoire"],
  ["Åland   Islands", "aland islands"],
  ["ｊａｐａｎ", "japan"],
  ["U.S.A.", "u s a"],
  ["Antigua & Barbuda", "antigua barbuda"],
  ["ΑΘΉΝΑΣ", "αθηνας"],
  ["ISIC 24.1", "isic 24 1"],
  ["(-)", ""],
  ["", ""],
])("folds %j to %j", (name, key) => {
  expect(foldName(name)).toBe(key);
});

test("foldLetters keeps punctuation and spaces", () => {
  expect(foldLetters(" Éﬁ & Co. ")).toBe(" efi & co. ");
});
