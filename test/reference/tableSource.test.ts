import { describe, expect, test } from "vitest";
import { type Table, tableSource } from "../../scripts/tableSource.mjs";

const TABLE: Table = {
  file: "src/reference/data/rivers.csv",
  rows: "RIVER_ROWS",
  row: "RiverRow",
  columns: { id: "text", names: "list", length_km: "number", "2020": "number?" },
};
const HEADER = "id,names,length_km,2020";

/** Returns the rows that the generated source exports, with its types removed. */
function rowsOf(csv: string): unknown {
  const untyped = tableSource(csv, TABLE)
    .replace(/export interface \w+ \{[^}]*\}/, "")
    .replace(/const CELLS: .* = \[$/m, "const CELLS = [")
    .replace(/export const RIVER_ROWS: readonly RiverRow\[\] = /, "return ");
  // oxlint-disable-next-line typescript/no-implied-eval -- runs the generated source
  return (new Function(untyped) as () => unknown)();
}

describe("the source of a table", () => {
  test("declares an interface with the kinds of the columns and exports the rows", () => {
    expect(tableSource(`${HEADER}\nrhine,Rhein;Rhin,1230,\n`, TABLE))
      .toBe(`/** A row of src/reference/data/rivers.csv. */
export interface RiverRow {
  readonly "id": string;
  readonly "names": readonly string[];
  readonly "length_km": number;
  readonly "2020": number | undefined;
}

const CELLS: readonly (readonly [string, readonly string[], number, number | undefined])[] = [
  ["rhine",["Rhein","Rhin"],1230,undefined],
];

/** The rows of src/reference/data/rivers.csv, in the order of the file. */
export const RIVER_ROWS: readonly RiverRow[] = CELLS.map((cells) => ({
  "id": cells[0],
  "names": cells[1],
  "length_km": cells[2],
  "2020": cells[3],
}));
`);
  });

  test("leaves out notes, which are for readers of the CSV file", () => {
    const table: Table = { ...TABLE, columns: { id: "text", remark: "note", length_km: "number" } };
    const source = tableSource("id,remark,length_km\nrhine,a border,1230\n", table);
    expect(source).not.toMatch(/remark|border/);
    expect(source).toContain('["rhine",1230],');
    expect(source).toContain('"length_km": cells[1],');
  });

  test("keeps quotes, commas, line breaks, backslashes and other scripts of quoted cells", () => {
    const csv = `\uFEFF${HEADER}\r\n"a ""b"", c\n\\d","Ρήνος;\${x}",-0.5,6.25e-3\r\n`;
    expect(rowsOf(csv)).toEqual([{ id: 'a "b", c\n\\d', names: ["Ρήνος", "${x}"], length_km: -0.5, "2020": 0.00625 }]);
  });

  test("assigns cells to columns by the header, in any order", () => {
    expect(rowsOf("2020,length_km,id,names\n5,1230,rhine,\n")).toEqual([
      { id: "rhine", names: [], length_km: 1230, "2020": 5 },
    ]);
  });

  test.each([
    ["an empty file", "", "rivers.csv: no rows"],
    ["a header without rows", `${HEADER}\n`, "rivers.csv: no rows"],
    ["a missing column", "id,names,length_km\nrhine,,1230\n", "the columns are id, names, length_km; expected"],
    ["an unknown column", "id,names,length_km,2025\nrhine,,1230,\n", "the columns are id, names, length_km, 2025"],
    ["a repeated column", "id,names,length_km,2020,id\nrhine,,1230,,\n", "the columns are"],
    ["an empty cell in a column of numbers", `${HEADER}\nrhine,,,\n`, 'line 2, column length_km: ""'],
    ["text in a column of numbers", `${HEADER}\nrhine,,1230,\nelbe,,long,\n`, 'line 3, column length_km: "long"'],
    ["a number with a comma", `${HEADER}\nrhine,,"1,230",\n`, '"1,230" is not a decimal number'],
    ["a hexadecimal number", `${HEADER}\nrhine,,0x10,\n`, '"0x10" is not a decimal number'],
    ["a number beyond the range of doubles", `${HEADER}\nrhine,,1e999,\n`, '"1e999" is not a decimal number'],
    ["a row that is too short", `${HEADER}\nrhine,,1230\n`, "rivers.csv: Invalid Record Length"],
    ["a quote that is not closed", `${HEADER}\n"rhine,,1230,\n`, "rivers.csv: Quote Not Closed"],
  ])("is not written for %s", (_, csv, message) => {
    expect(() => tableSource(csv, TABLE)).toThrow(message);
  });
});
