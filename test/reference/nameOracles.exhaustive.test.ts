/** Compares the shared matcher with the references that were written from the method texts alone. */
import { expect, test } from "vitest";
import { matchCountry, suggestCountryName } from "../../src/reference/countryNames.ts";
import { COUNTRY_NATIVE_NAME_ROWS } from "../../src/reference/data/countryNativeNames.generated.ts";
import { LISTED_INDUSTRIES } from "../../src/reference/industries.ts";
import { matchIndustry } from "../../src/reference/industryNames.ts";
import { withAndForAmpersand } from "../../src/reference/names.ts";
import { matchPathway, suggestIndustryName } from "../../src/reference/pathwayNames.ts";
import { suggestCountry, suggestIndustry } from "../oracle/alignment2/didYouMean.ts";
import { findCountry, foldCountry, matchIndustry as matchPathwayOracle } from "../oracle/alignment2/names.ts";
import { describeWithSharedMethod, sharedReference } from "../oracle/alignment2/sharedMethod.ts";
import { findCountry as findCompanyCountry, findIndustry as findCompanyIndustry } from "../oracle/company2/names.ts";
import { Refusal } from "../oracle/company2/refusal.ts";
import { describeWithReference } from "../oracle/company2/sharedReference.ts";
import type { Tables } from "../oracle/company2/tables.ts";
import { randomFrom } from "../seededRandom.ts";

/** Random texts per comparison; `ISOTHERM_NAME_COUNT` sets another number. */
const TEXT_COUNT = Number(process.env["ISOTHERM_NAME_COUNT"] ?? 200);

/** Yields known names, most of them with one or more edits, titles or another case. */
function* editedNames(names: readonly string[], seed: number, count: number): Generator<string> {
  const random = randomFrom(seed);
  const letters = Array.from("abcdefghijklmnopqrstuvwxyz &-,.'éß中1");
  const edits: readonly ((text: string[], at: number) => unknown)[] = [
    (text, at) => text.splice(at, 1),
    (text, at) => text.splice(at, 0, random.pick(letters)),
    (text, at) => text.splice(at, 1, random.pick(letters)),
    (text, at) => text.splice(at, 2, text[at + 1] ?? "", text[at] ?? ""),
  ];
  const wholes: readonly ((text: string) => string)[] = [
    (text) => text,
    (text) => text.toUpperCase(),
    (text) => `the ${text}`,
    (text) => `Republic of ${text}`,
    (text) => text.replaceAll(" and ", " & "),
    (text) => `  ${text.replaceAll(" ", "_")} `,
    (text) => `${text} ${random.pick(names)}`,
  ];
  for (let i = 0; i < count; i++) {
    const text = Array.from(random.pick(wholes)(random.pick(names)));
    const editCount = random.pick([0, 1, 1, 1, 2, 4]);
    for (let edit = 0; edit < editCount; edit++) random.pick(edits)(text, random.below(text.length));
    yield text.join("");
  }
}

const namedCountry = (text: string): string | null => {
  const match = matchCountry(text);
  return match.kind === "found" ? match.country.iso3 : null;
};

/** The matcher reads "&" as "and" where the method finds nothing; nothing else may differ. */
const withAmpersandRead =
  <Result>(find: (text: string) => Result | null) =>
  (text: string): Result | null =>
    find(text) ?? find(withAndForAmpersand(text) ?? text);

/** Writes "and" for "&" in a text that matches no key of the table with the "&". */
const readable = (text: string): string =>
  matchPathwayOracle(sharedReference(), text, null).on === "none" ? (withAndForAmpersand(text) ?? text) : text;

/** The matcher refuses "Republic of China", and codes with accents. */
const isRefusedOnPurpose = (text: string): boolean =>
  /^[\s_]*(the[\s_]+)*republic[\s_]+of[\s_]+china[\s_]*$/i.test(text) ||
  (/^[^\p{L}]*(\p{L}\p{M}*){2,3}[^\p{L}]*$/u.test(text.normalize("NFKD")) && /\p{M}/u.test(text.normalize("NFKD")));

const NATIVE_NAMES = new Map(
  COUNTRY_NATIVE_NAME_ROWS.flatMap(({ iso3, names }) => names.map((name) => [foldCountry(name), iso3] as const)),
);

/** Finds a name of the table that only the matcher has. */
const findNative = (text: string): string | null =>
  NATIVE_NAMES.get(foldCountry(text).replace(/^(the republic of |republic of |the )+/, "")) ?? null;

/** Names that the table of the method gives to the wrong one of the two Congos. */
const CORRECTED_NAMES = new Map([
  ["republica democratica do congo", "COD"],
  ["republica popular do congo", "COG"],
]);

describeWithSharedMethod("like the reference of alignment", () => {
  const countryNames = [
    ...sharedReference().countries.flatMap(({ name, iso3, iso2, officialName, aliases }) => [
      name,
      iso3,
      iso2,
      officialName,
      ...aliases,
    ]),
    ...sharedReference().countryNames.map(({ name }) => name),
  ].filter((name) => name !== "");
  const industryNames = [
    ...sharedReference().industries.flatMap(({ name, alias }) => [name, alias]),
    ...sharedReference().industryKeys.flatMap(({ keys }) => keys),
  ].filter((name) => name !== "");

  test("matchCountry finds the same country for every name and for random texts", () => {
    const find = withAmpersandRead(
      (text) => CORRECTED_NAMES.get(foldCountry(text)) ?? findCountry(sharedReference(), text) ?? findNative(text),
    );
    for (const text of [...countryNames, ...editedNames(countryNames, 1, 20 * TEXT_COUNT)]) {
      if (!isRefusedOnPurpose(text)) expect([text, namedCountry(text)]).toEqual([text, find(text)]);
    }
  });

  test("matchPathway gives the same pathway, row and key wherever the method gives one", () => {
    const industries = [...editedNames(industryNames, 2, 10 * TEXT_COUNT)];
    const sectors = [...editedNames(industryNames, 3, 5 * TEXT_COUNT)];
    let matchedCount = 0;
    for (const [i, industry] of [...industryNames, ...industries].entries()) {
      const sector = i % 3 === 0 ? undefined : (sectors[i % sectors.length] ?? "");
      const expected = matchPathwayOracle(sharedReference(), readable(industry), readable(sector ?? "") || null);
      const { pathway, matched, flags } = matchPathway({ industry, sector });
      if (expected.on !== "none") {
        const { on, row, key } = expected;
        matchedCount += 1;
        expect([industry, sector, pathway, matched]).toEqual([industry, sector, expected.pathway, { on, row, key }]);
        expect(flags).toEqual(on === "sector" ? ["industry_from_sector"] : []);
      } else if (matched === undefined) {
        expect([pathway, flags]).toEqual(["economy", ["unknown_industry"]]);
      }
    }
    expect(matchedCount).toBeGreaterThan(TEXT_COUNT);
  });

  test("did_you_mean suggests the same names", () => {
    let suggestedCount = 0;
    for (const text of editedNames(countryNames, 4, TEXT_COUNT / 4)) {
      const expected = suggestCountry(sharedReference(), text) ?? undefined;
      if (expected !== undefined) suggestedCount += 1;
      expect([text, suggestCountryName(text)]).toEqual([text, expected]);
    }
    for (const text of editedNames(industryNames, 5, TEXT_COUNT / 4)) {
      const expected = suggestIndustry(sharedReference(), text) ?? undefined;
      expect([text, suggestIndustryName(text)]).toEqual([text, expected]);
    }
    expect(suggestedCount).toBeGreaterThan(TEXT_COUNT / 16);
  });
});

const acceptedOrNull = <Result>(find: () => Result): Result | null => {
  try {
    return find();
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

describeWithReference("like the reference of the company method", (tables: Tables) => {
  test("matchCountry finds the country wherever the method accepts the text", () => {
    const names = [
      ...tables.countries.flatMap(({ iso3, iso2, name, aliases }) => [iso3, iso2, name, ...aliases]),
      ...tables.countryNames.map(({ name }) => name),
    ].filter((name) => name !== "");
    const find = (text: string) => acceptedOrNull(() => findCompanyCountry(tables, text))?.iso3 ?? null;
    const tierC = new Set(tables.countries.filter(({ tier }) => tier === "C").map(({ iso3 }) => iso3));
    for (const text of editedNames(names, 6, TEXT_COUNT / 2)) {
      const expected = find(text);
      const found = namedCountry(text);
      if (isRefusedOnPurpose(text) || (found !== null && tierC.has(found))) continue;
      // Repeated titles and "&" are read by the matcher only.
      if (expected !== null) expect([text, found]).toEqual([text, expected]);
      else if (found !== null && findNative(text) !== found)
        expect(text).toMatch(/&|the the |republic of (the )?republic of /i);
    }
  });

  test("matchIndustry finds the industry wherever the method accepts the text", () => {
    const names = LISTED_INDUSTRIES.flatMap(({ id, names: all }) => [id, ...all]);
    let acceptedCount = 0;
    for (const text of [...names, ...editedNames(names, 7, TEXT_COUNT / 2)]) {
      const expected = acceptedOrNull(() => findCompanyIndustry(tables, text));
      if (expected === null) continue;
      acceptedCount += 1;
      const match = matchIndustry(text);
      const found = match.kind === "found" ? [match.industry.id, match.matchedOn] : match.kind;
      expect([text, found]).toEqual([text, [expected.industry.id, expected.matchedOn]]);
    }
    expect(acceptedCount).toBeGreaterThan(TEXT_COUNT / 10);
  });
});
