import { describe, expect, test } from "vitest";
import { Fault } from "../../src/errors.ts";
import { mapIndustryText, readIndustryMap } from "../../src/reference/industryMap.ts";

const rowsOf = (csv: string) => csv.split("\n").map((text, index) => ({ line: index + 1, cells: text.split(",") }));
const errorsOf = (csv: string): readonly string[] => {
  try {
    readIndustryMap(rowsOf(csv));
  } catch (error) {
    if (error instanceof Fault) return error.items.map(({ detail }) => detail);
    throw error;
  }
  return [];
};

describe("readIndustryMap", () => {
  const map = readIndustryMap(
    rowsOf(
      "system,code,industry\ngics,10102010,integrated_oil\ngics, 15104050 ,Steel\n,A1,Cement & lime\nicb,a1,Airlines",
    ),
  );

  test("finds the industry of a code in its system, ignoring case and surrounding spaces", () => {
    expect(map.codeCount).toBe(4);
    expect(map.find("10102010", "GICS")?.id).toBe("integrated_oil");
    expect(map.find(" 15104050", " gics ")?.id).toBe("iron_steel");
    expect(map.find("10102010", "icb")).toBeUndefined();
    expect(map.find("99", "gics")).toBeUndefined();
  });

  test("prefers the row of the system to the row for all systems", () => {
    expect(map.find("A1", "icb")?.id).toBe("airlines");
    expect(map.find("A1", "gics")?.id).toBe("cement_lime");
    expect(map.find("a1")?.id).toBe("cement_lime");
  });

  test("uses the rows of all systems for a code without a system if those rows agree", () => {
    expect(map.find("10102010")?.id).toBe("integrated_oil");
    const mapOfTwoSystems = readIndustryMap(
      rowsOf("system,code,industry\ngics,1,Steel\nicb,1,Iron and steel\ngics,2,Steel\nicb,2,Airlines"),
    );
    expect(mapOfTwoSystems.find("1")?.id).toBe("iron_steel");
    expect(mapOfTwoSystems.find("2")).toBeUndefined();
    expect(mapOfTwoSystems.find("2", "trbc")).toBeUndefined();
  });

  test("lists contradicting rows of a code, unless a row is valid for all systems", () => {
    const contradicting = readIndustryMap(
      rowsOf(
        "system,code,industry\ngics,1,Steel\nicb,1,Iron and steel\ngics,2,Steel\nICB,2,Airlines\ngics,3,Steel\n,3,Airlines",
      ),
    );
    expect(contradicting.contradictions(" 2 ")).toEqual(["Iron and steel (gics)", "Airlines (ICB)"]);
    for (const code of ["1", "3", "4"]) expect(contradicting.contradictions(code)).toEqual([]);
  });

  test("accepts a file without the system column", () => {
    const simple = readIndustryMap(rowsOf("industry,code\nAirlines,7"));
    expect(simple.find("7", "gics")?.id).toBe("airlines");
  });

  test("replaces a code by the name of its industry and keeps other texts", () => {
    expect(mapIndustryText(map, "10102010", "gics")).toBe("Integrated oil and gas");
    expect(mapIndustryText(map, "Airlines", "gics")).toBe("Airlines");
  });
});

test("readIndustryMap reports the errors of all rows together", () => {
  expect(errorsOf("code,industry\n,Airlnes\n2,\n2,Steel\n2,Steel").length).toBe(4);
});

describe("readIndustryMap rejects", () => {
  test.each([
    [
      "an empty file",
      "",
      [
        'line 1: the column "" is unknown; accepted columns: code, industry, system.',
        "line 1, column code: the column is missing.",
        "line 1, column industry: the column is missing.",
      ],
    ],
    ["a header without rows", "code,industry", ["line 1: the file has no rows after the header."]],
    [
      "an unknown column",
      "code,industry,sytem\n1,Airlines,gics",
      ['line 1: the column "sytem" is unknown; accepted columns: code, industry, system.'],
    ],
    ["a column given twice", "code,industry,code\n1,Airlines,2", ["line 1, column code: duplicate column."]],
    [
      "a row whose number of cells differs from the header's",
      "code,industry\n1,Airlines,x",
      ["line 2: the row has 3 cells, but the header has 2."],
    ],
    [
      "an empty code and an empty industry",
      "code,industry\n,Airlines\n2, ",
      ["line 2, column code: the code is empty.", "line 3, column industry: the industry is empty."],
    ],
    [
      "a code given twice",
      "code,industry\nA1,Airlines\na1,Steel",
      ['line 3, column code: "a1" is already in line 2; give each code one industry.'],
    ],
    [
      "an unknown industry",
      "code,industry\n1,Airlnes",
      [
        expect.stringMatching(
          /^line 2, column industry: "Airlnes" is not a known industry \(did you mean Airlines\?\); .*\.$/,
        ),
      ],
    ],
    [
      "a name that matches several industries",
      "code,industry\n1,Banks",
      [
        'line 2, column industry: "Banks" matches several industries: Banks, major; Banks, regional; Savings banks; send one of these names.',
      ],
    ],
  ])("%s", (_, csv, errors) => {
    expect(errorsOf(csv)).toEqual(errors);
  });
});
