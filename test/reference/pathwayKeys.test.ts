/** Compares the keys of alignment with the names that the company method knows. */
import { expect, test } from "vitest";
import { INDUSTRY_CLASS_ROWS } from "../../src/reference/data/industryClasses.generated.ts";
import { INDUSTRY_SPELLING_ROWS } from "../../src/reference/data/industrySpellings.generated.ts";
import { PATHWAY_KEY_ROWS } from "../../src/reference/data/pathwayKeys.generated.ts";
import { LISTED_INDUSTRIES } from "../../src/reference/industries.ts";
import { matchIndustry } from "../../src/reference/industryNames.ts";
import { foldAsciiName } from "../../src/reference/names.ts";

/** Keys that are parts of longer names, not names of their own. */
const PARTS_OF_NAMES = [
  "without accommodation",
  "development of building*",
  "manufacture of electric*",
  "steam and air conditioning",
  "growing of",
  "raising of",
  "repair of",
  "water passenger",
  "non energy",
  "building of ships",
  "aerien*",
  "ferroviaire*",
  "building exterior",
  "processing and preserving",
  "technical",
];
/** Keys of activities that no industry of the list covers, and words that do not tell an industry. */
const WITHOUT_INDUSTRY = [
  "asset*",
  "museum*",
  "library",
  "animal",
  "hunting",
  "consumer*",
  "household*",
  "public",
  "cultural",
  "organisation*",
  "organization*",
];

const knownNames = [
  ...LISTED_INDUSTRIES.flatMap(({ id, names }) => [id, ...names]),
  ...INDUSTRY_SPELLING_ROWS.map(({ spelling }) => spelling),
  ...INDUSTRY_CLASS_ROWS.filter(({ industries }) => industries.length > 0).map(({ title }) => title),
].map(foldAsciiName);

/** Returns whether the company method knows the key or, if it has stars, a word that begins with it. */
function isKnown(key: string): boolean {
  if (matchIndustry(key.replaceAll("*", "")).kind !== "unknown") return true;
  const pattern = new RegExp(`^${key.replaceAll("*", "[a-z0-9]*")}$`);
  return knownNames.some((name) => pattern.test(name));
}

test("a name that is a key of alignment names one or several industries in the company method", () => {
  const unknown = PATHWAY_KEY_ROWS.flatMap(({ keys }) => keys.filter((key) => !isKnown(key)));
  expect(unknown.toSorted()).toEqual([...PARTS_OF_NAMES, ...WITHOUT_INDUSTRY].toSorted());
});
