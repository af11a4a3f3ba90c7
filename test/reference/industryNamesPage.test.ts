/** Compares docs/industry-names.md with what the matcher does. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { matchCountry } from "../../src/reference/countryNames.ts";
import { INDUSTRY_CLASS_ROWS } from "../../src/reference/data/industryClasses.generated.ts";
import { readIndustryMap } from "../../src/reference/industryMap.ts";
import { matchIndustry } from "../../src/reference/industryNames.ts";
import { matchPathway, suggestIndustryName } from "../../src/reference/pathwayNames.ts";
import { fixtureRows } from "./fixtureRows.ts";

const PAGE = readFileSync(new URL("../../docs/industry-names.md", import.meta.url), "utf8");

/** Returns the rows of the table with this header; the cells keep their backticks. */
function tableRows(header: string): readonly (readonly string[])[] {
  const rows = PAGE.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const start = rows.findIndex((cells) => cells.join(", ") === header);
  expect(start, header).toBeGreaterThan(0);
  const length = rows.slice(start).findIndex((cells) => cells.length === 0);
  return rows.slice(start + 2, start + length);
}

const unquoted = (cell = ""): string => cell.replaceAll("`", "");
const quotedIn = (text = ""): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

function industryCell(text: string): string {
  const match = matchIndustry(text);
  if (match.kind === "ambiguous") return `refused: ${match.candidates.map(({ id }) => id).join(", ")}`;
  return match.kind === "found" ? match.industry.id : "refused";
}

test("the examples of industries have the industry and pathway of the page", () => {
  const rows = tableRows("text, industry, pathway");
  expect(rows.length).toBe(15);
  for (const [text = "", industry, pathway] of rows) {
    const { matched, pathway: found } = matchPathway({ industry: unquoted(text) });
    const actual = [industryCell(unquoted(text)), matched === undefined ? "none" : found];
    expect([text, ...actual]).toEqual([text, unquoted(industry), unquoted(pathway)]);
  }
});

test("the forms of codes are accepted as described", () => {
  const rows = tableRows("form, meaning");
  const forms = rows.flatMap(([form]) => quotedIn(form));
  expect(forms.length).toBe(10);
  for (const form of forms) {
    const isBare = /^\d+$/.test(form);
    expect([form, industryCell(form)]).toEqual([form, isBare ? "refused" : "iron_steel"]);
    const system = form.length === 6 ? "naics" : "isic";
    if (isBare) expect(matchIndustry(form, system)).toMatchObject({ industry: { id: "iron_steel" } });
  }
  expect(matchIndustry("5112", "naics")).toMatchObject({ industry: { id: "software" } });
});

test("the example of an industry map is read", () => {
  const [, csv = ""] = /```csv\n([^`]+)\n```/.exec(PAGE) ?? [];
  const map = readIndustryMap(csv.split("\n").map((line, index) => ({ line: index + 1, cells: line.split(",") })));
  expect(map.codeCount).toBe(3);
  expect(map.find("10102010", "GICS")?.id).toBe("integrated_oil");
  expect(map.find("15104050", "gics")?.id).toBe("iron_steel");
  expect(map.find("f-7", "own")?.id).toBe("cement_lime");
});

describe("the accepted names", () => {
  const titlesOf = (system: string): readonly string[] =>
    INDUSTRY_CLASS_ROWS.filter((row) => row.system === system).map(({ title }) => title);
  const namesOf = (file: string): readonly string[] => fixtureRows(file).map(({ name = "" }) => name);
  const isAccepted = (name: string): boolean => matchIndustry(name).kind === "found";
  const lists: Readonly<
    Record<string, { readonly names: readonly string[]; readonly accepts: (name: string) => boolean }>
  > = {
    "GICS 2023 sub-industries": { names: namesOf("gicsSubIndustries.csv"), accepts: isAccepted },
    "SICS industries": { names: namesOf("sicsIndustries.csv"), accepts: isAccepted },
    "classes of NACE Rev. 2": { names: titlesOf("nace"), accepts: isAccepted },
    "classes of ISIC Rev. 4": { names: titlesOf("isic"), accepts: isAccepted },
    "classes of NAICS 2017": { names: titlesOf("naics"), accepts: isAccepted },
    "names of countries, 5 kinds": {
      names: fixtureRows("countrySpellings.csv").map(({ spelling = "" }) => spelling),
      accepts: (name) => matchCountry(name).kind === "found",
    },
  };

  test.each(tableRows("list, names, one industry, share"))(
    "of %s are %s, %s accepted",
    (list, count, accepted, share) => {
      const { names, accepts } = lists[list ?? ""] ?? { names: [], accepts: () => false };
      const acceptedCount = names.filter(accepts).length;
      expect([count, accepted]).toEqual([String(names.length), String(acceptedCount)]);
      const percent = ((100 * acceptedCount) / names.length).toFixed(1).replace(/\.0$/, "");
      expect(share).toBe(`${percent} %`);
    },
  );

  test.each([
    ["GICS", namesOf("gicsSubIndustries.csv").filter((name) => !isAccepted(name))],
    ...["nace", "isic"].flatMap((system) => {
      const refused = INDUSTRY_CLASS_ROWS.filter((row) => row.system === system && row.industries.length !== 1);
      const codes = (isAmbiguous: boolean) =>
        refused.filter(({ industries }) => industries.length > 1 === isAmbiguous).map(({ code }) => code);
      return [
        [`${system.toUpperCase()}, several industries`, codes(true)] as const,
        [`${system.toUpperCase()}, none`, codes(false)] as const,
      ];
    }),
  ] as const)("that are refused are listed: %s", (label, refused) => {
    const [, listed = ""] = new RegExp(`^- ${label}: ((?:.+\n)+?)(?=- |\n)`, "m").exec(PAGE) ?? [];
    expect(quotedIn(listed.replaceAll("\n", " "))).toEqual(refused);
  });
});

test("the examples of countries are matched as described", () => {
  const rows = tableRows("text, country");
  expect(rows.length).toBe(8);
  for (const [texts, expected] of rows) {
    for (const text of quotedIn(texts)) {
      const match = matchCountry(text);
      const actual =
        match.kind === "ambiguous"
          ? `refused: ${match.candidates.map(({ name }) => name).join(" or ")}`
          : match.kind === "found"
            ? match.country.iso3
            : "refused";
      expect([text, actual]).toEqual([text, expected]);
    }
  }
});

test("the examples of suggestions are suggested", () => {
  const rows = tableRows("text, industry");
  expect(rows.length).toBe(3);
  for (const [text, name] of rows) expect(suggestIndustryName(unquoted(text))).toBe(unquoted(name));
});
