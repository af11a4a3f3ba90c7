import { describe, expect, test } from "vitest";
import {
  LISTED_COUNTRIES,
  matchCountry,
  nearestCountryNames,
  suggestCountryName,
} from "../../src/reference/countryNames.ts";
import { COUNTRY_NAME_ROWS } from "../../src/reference/data/countryNames.generated.ts";
import { COUNTRY_NATIVE_NAME_ROWS } from "../../src/reference/data/countryNativeNames.generated.ts";
import { fixtureRows } from "./fixtureRows.ts";

const iso3Of = (text: string): string | undefined => {
  const match = matchCountry(text);
  return match.kind === "found" ? match.country.iso3 : undefined;
};

const UNICODE_LANGUAGES =
  "ar bg ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu id is it ja ka ko lt lv ms mt nb nl pl pt pt-PT ro ru sk sl sr sv th tr uk vi zh native".split(
    " ",
  );

/** Returns the name of each country in a language, or in the most common language of the country itself. */
function unicodeNames(language: string): readonly { readonly name: string; readonly iso3: string }[] {
  return LISTED_COUNTRIES.flatMap(({ iso2, iso3 }) => {
    const own = language === "native" ? new Intl.Locale(`und-${iso2}`).maximize().baseName : language;
    const name = new Intl.DisplayNames([own], { type: "region", fallback: "none" }).of(iso2);
    return name === undefined || iso3 === "ATA" ? [] : [{ name, iso3 }];
  });
}

describe("matchCountry", () => {
  test("finds every code, name and alias of every table", () => {
    const named = [...LISTED_COUNTRIES, ...COUNTRY_NAME_ROWS, ...COUNTRY_NATIVE_NAME_ROWS].flatMap(({ iso3, names }) =>
      names.map((name) => [name, iso3]),
    );
    expect(named.length).toBeGreaterThan(5000);
    expect(named.filter(([name = "", iso3]) => iso3Of(name) !== iso3)).toEqual([]);
  });

  test("finds all 259 names of the fixture in French, German, Spanish, native languages and ISO codes", () => {
    const rows = fixtureRows("countrySpellings.csv");
    expect(rows).toHaveLength(259);
    const refused = rows.filter(({ spelling = "", iso3 }) => iso3Of(spelling) !== iso3);
    expect(refused).toEqual([]);
  });

  test.each(["fr", "de", "es", "native"])("finds at least 95 %% of the names of Unicode CLDR: %s", (language) => {
    const names = unicodeNames(language);
    expect(names.length).toBe(248);
    const refused = names.filter(({ name, iso3 }) => iso3Of(name) !== iso3);
    expect(refused.length).toBeLessThanOrEqual(0.05 * names.length);
  });

  test("takes no name of Unicode CLDR in 47 languages for that of another country, except codes", () => {
    const wrong = UNICODE_LANGUAGES.flatMap(unicodeNames)
      .map(({ name, iso3 }) => ({ name, iso3, found: iso3Of(name) }))
      .filter(({ iso3, found }) => found !== undefined && found !== iso3);
    // "Nga" is Vietnamese for Russia and the code of Nigeria.
    expect(wrong).toEqual([{ name: "Nga", iso3: "RUS", found: "NGA" }]);
  });

  test.each([
    ["  cÔTE D’IVOIRE ", "CIV"],
    ["COTE_D'IVOIRE", "CIV"],
    ["ｊａｐａｎ", "JPN"],
    ["u.s.a.", "USA"],
    ["The United States of America", "USA"],
    ["the Republic of The Gambia", "GMB"],
    ["Republic of Ireland", "IRL"],
    ["the Japan", "JPN"],
    ["Korea, Rep.", "KOR"],
    ["Korea (the Republic of)", "KOR"],
    ["United States of America (the)", "USA"],
    ["Congo (the Democratic Republic of the)", "COD"],
    ["República Democrática do Congo", "COD"],
    ["República Democrática del Congo", "COD"],
    ["RD Congo", "COD"],
    ["Moldau", "MDA"],
    ["Oesterreich", "AUT"],
    ["Taiwan, Province of China", "TWN"],
    ["the People's Republic of China", "CHN"],
    ["Bosnia & Herzegovina", "BIH"],
    ["SAO TOME ＆ PRINCIPE", "STP"],
    ["and", "AND"],
  ])("%s is %s", (text, iso3) => {
    expect(iso3Of(text)).toBe(iso3);
  });

  test.each(["", " ", "the", "republic of", "Kosovo", "Atlantis", "Europe", "410", "Virgin Islands", "&"])(
    "finds no country named %j",
    (text) => {
      expect(matchCountry(text)).toEqual({ kind: "unknown" });
    },
  );

  test("names both countries that an ambiguous name can mean", () => {
    for (const text of ["Republic of China", "the Republic of China", "REPUBLIC OF CHINA"]) {
      const match = matchCountry(text);
      const names = match.kind === "ambiguous" ? match.candidates.map(({ name }) => name) : match.kind;
      expect([text, names]).toEqual([text, ["China", "Taiwan"]]);
    }
  });

  test("does not read a name whose accents were dropped as the code of another country", () => {
    // Vietnamese for the United States and Belgium; MY is Malaysia and BI Burundi.
    expect(matchCountry("Mỹ")).toEqual({ kind: "unknown" });
    expect(matchCountry("Bỉ")).toEqual({ kind: "unknown" });
    expect(iso3Of("MY")).toBe("MYS");
  });

  test("remembers texts correctly, however many", () => {
    for (let i = 0; i < 5000; i++) matchCountry(`Unknown ${i}`);
    expect(iso3Of("Chile")).toBe("CHL");
    expect(matchCountry("Unknown 7").kind).toBe("unknown");
  });
});

test.each([
  ["Germny", "Germany"],
  ["Cnina", "China"],
  ["Frannce", "France"],
  ["Deutschlnd", "Deutschland"],
  ["Atlantis", undefined],
  ["DEX", undefined],
  ["", undefined],
])("for %j suggestCountryName suggests %s", (text, name) => {
  expect(suggestCountryName(text)).toBe(name);
});

describe("nearestCountryNames", () => {
  test.each([
    ["Grmany", "Germany"],
    ["Untied Kingdom", "UK"],
    ["Phillipines", "Philippines"],
    ["Ivory Cost", "Côte d’Ivoire"],
  ])("for %s the first of five names is %s", (text, name) => {
    const names = nearestCountryNames(text);
    expect(names).toHaveLength(5);
    expect(new Set(names).size).toBe(5);
    expect(names[0]).toBe(name);
  });

  test("suggests only the given countries", () => {
    const countries = LISTED_COUNTRIES.filter(({ iso3 }) => ["DEU", "AUT"].includes(iso3));
    expect(nearestCountryNames("Chin", { countries })).toHaveLength(2);
    expect(nearestCountryNames("Germany", { countries, count: 1 })).toEqual(["Germany"]);
  });
});
