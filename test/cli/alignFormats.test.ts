import { rmSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openEntityJson } from "../../src/cli/entityJson.ts";
import { isFault } from "../../src/errors.ts";
import type { AlignmentResult } from "../../src/contract/wireTypes.ts";
import { ENTITY } from "../host/entities.ts";
import { randomFrom } from "../seededRandom.ts";
import { details, faultOf, inFolder, runAlign, useAlignFolder } from "./alignRun.ts";

useAlignFolder();

describe("CSV", () => {
  const HEAD = "name,asset_type,baseline_year,baseline_scope1,year,scope1";

  test("passes all columns through unchanged and in order, including unknown ones", async () => {
    const text =
      "\ufeffscope1,LEI,name,year,asset_type,baseline_scope1,baseline_year\r\n" +
      '50,"x ""1"", y","A\nB", 2030 ,equity,1e2,2025\r\n\r\n-1,,C,2031,equity,100.5,2025';
    expect(await runAlign("in.csv", text, "out.csv")).toBe(
      "scope1,LEI,name,year,asset_type,baseline_scope1,baseline_year," +
        "temperature_alignment,reason,range_low,range_high,coverage,flags,did_you_mean\n" +
        '50,"x ""1"", y","A\nB", 2030 ,equity,1e2,2025,1.41,,1.4,1.41,,' +
        "unknown_industry;scope3_absent;growth_default,\n" +
        "-1,,C,2031,equity,100.5,2025,1.3,,1.3,1.3,," +
        "unknown_industry;scope3_absent;negative_scope;growth_default,\n",
    );
  });

  test("keeps quotes in a cell that does not begin with one as text", async () => {
    const text = `${HEAD}\nN "x",equity,2025,100,2030,50\n`;
    expect(await runAlign("in.csv", text, "out.csv")).toContain('\n"N ""x""",equity,2025,100,2030,50,1.41,');
  });

  test("accepts a byte order mark before a quoted header cell", async () => {
    const text = '\ufeff"name",asset_type,baseline_year,baseline_scope1,year,scope1\nN,equity,2025,100,2030,50\n';
    expect(await runAlign("in.csv", text, "out.csv")).toMatch(
      /^name,asset_type,.*\nN,equity,2025,100,2030,50,1\.41,,1\.4,1\.41,,[a-z0-9_;]+,\n$/,
    );
  });

  test("treats consecutive rows of an entity as one entity", async () => {
    const row = (identifier: string, year: number, scope1: number): string =>
      `${identifier},N,equity,2025,100,${year},${scope1}`;
    const head = `identifier,${HEAD}`;
    const temperatures = async (...rows: string[]): Promise<(string | undefined)[]> => {
      const text = await runAlign("in.csv", [head, ...rows].join("\n"), "out.csv", "--basis", "cumulative");
      return text
        .trimEnd()
        .split("\n")
        .slice(1)
        .map((line) => line.split(",")[7]);
    };
    const together = await temperatures(row("a", 2030, 10), row("a", 2050, 90), row("b", 2050, 90));
    expect(together[1]).not.toBe(together[2]);
    // Without an identifier, rows with the same entity columns form one entity.
    expect(await temperatures(row("", 2030, 10), row("", 2050, 90), row("b", 2050, 90))).toStrictEqual(together);
  });

  test("reports all errors together with line and column", async () => {
    const text = [
      `identifier,${HEAD},scope2`,
      "a,N,equity,2025,100,2030,50,",
      'b,"two\nlines",bond,2025,100,2030,50,',
      "c,,equity,2025,1.000,2020,NaN,",
      'd,N,equity,2025,100,2030,"1,000",',
      "d,N,equity,2026,100,2031,50,",
      "e,N,equity,,100,2030.5,,5",
      "f,N,equity,2025,,2030,,",
      "g,N,equity,2025,100,2030",
      "h,N,equity,2025,100,2030,1e16,0x1",
    ].join("\n");
    const fault = await faultOf("in.csv", text);
    expect([fault.code, fault.message]).toStrictEqual([
      "invalid_request",
      `${inFolder("in.csv")}: 13 errors in the file. The first: ${details(fault)[0]}`,
    ]);
    expect(details(fault)).toStrictEqual([
      'line 3, column asset_type: asset_type must be equity (got "bond").',
      "line 5, column name: name is required and must be text.",
      'line 5, column scope1: scope1 must be a number between -1000000000000000 and 1000000000000000 (got "NaN").',
      "line 5, column year: year must be after the baseline year 2025 (got 2020).",
      'line 6, column scope1: scope1 must be a number between -1000000000000000 and 1000000000000000 (got "1,000").',
      'line 7, column baseline_year: "2026" differs from "2025" in line 6 for the same entity "d".',
      "line 8, column baseline_year: year is required and must be an integer between 1900 and 2200.",
      "line 8, column year: year must be an integer between 1900 and 2200 (got 2030.5).",
      "line 9, column baseline_scope1: emissions must have at least one of scope1, scope2, scope3.",
      "line 9, column scope1: emissions must have at least one of scope1, scope2, scope3.",
      "line 10: the row has 6 cells, but the header has 8.",
      "line 11, column scope1: scope1 must be between -1000000000000000 and 1000000000000000 (got 10000000000000000).",
      'line 11, column scope2: scope2 must be a number between -1000000000000000 and 1000000000000000 (got "0x1").',
    ]);
  });

  test("reports errors of labels, probabilities, revenues and currencies with line and column", async () => {
    const text = [
      `identifier,${HEAD},baseline_revenue,currency,price_year,revenue,label,probability`,
      "a,N,equity,2025,100,2030,50,1e9,usd,2014,x,target,0.5",
      "a,N,equity,2025,100,2040,50,1e9,usd,2014,1e16,,",
      "b,N,equity,2025,100,2030,50,,,,,target,0.5",
      "b,N,equity,2025,100,2030,50,,,,,trend,7",
    ].join("\n");
    expect(details(await faultOf("in.csv", text)).map((detail) => detail.split(" must ")[0])).toStrictEqual([
      "line 2, column currency: currency",
      "line 2, column price_year: price_year",
      "line 2, column revenue: revenue",
      "line 3, column revenue: revenue",
      "line 3, column label: label",
      "line 5, column probability: probability",
    ]);
  });

  test("reports the correct line of a long file", async () => {
    const rows = Array.from({ length: 30_000 }, (_, i) => `N${i},equity,2025,100,2030,${i === 29_000 ? "x" : i}`);
    expect(details(await faultOf("in.csv", [HEAD, ...rows].join("\n")))).toStrictEqual([
      expect.stringMatching(/^line 29002, column scope1: .* \(got "x"\)\.$/),
    ]);
  });

  test("rejects another asset type with asset_type_unsupported", async () => {
    expect((await faultOf("in.csv", `${HEAD}\nN,bond,2025,1,2030,1`)).code).toBe("asset_type_unsupported");
  });

  test.each([
    ["no content", "", [], "the file is empty"],
    ["only a header", `${HEAD}\n`, [], "the file contains no entities"],
    ["missing columns", "name,year\nN,2030", ["asset_type", "baseline_year"], "column is missing"],
    ["a misspelled column", `${HEAD},contry\n`, ["contry"], "did you mean country?"],
    ["a duplicate column", `${HEAD},year\n`, ["year"], "duplicate"],
    ["a result column", `${HEAD},reason\n`, ["reason"], "reserved for a result column"],
    ["semicolons", `${HEAD.replaceAll(",", ";")}\n`, [], "separated by commas"],
    ["an unclosed quote", `${HEAD}\n"N,equity,2025,1,2030,1\n`, [], "the closing quote of a cell is missing"],
    [
      "text after a closing quote",
      `${HEAD}\n"N"x,equity,2025,1,2030,1\n`,
      [],
      "Line 2: unexpected text after the closing quote",
    ],
    [
      "a quote in an unquoted cell after a line break",
      `${HEAD}\n"N\nx",equi"ty,2025,1,2030,1\n`,
      [],
      "Line 3: quote in an unquoted cell next to a line break",
    ],
    [
      "Latin-1",
      Buffer.from(`${HEAD}\nN,equity,2025,1,2030,1\nZ\u00fcrich`, "latin1"),
      [],
      "Line 3: the text is not valid UTF-8",
    ],
  ])("rejects a CSV file with %s", async (_content, text, columns: readonly string[], message) => {
    const fault = await faultOf("in.csv", text);
    const all = [fault.message, ...details(fault)].join("\n");
    expect(all).toContain(message);
    for (const column of columns) expect(all).toContain(`line 1, column ${column}: `);
  });
});

describe("an industry map", () => {
  const entity = (industry: string): string =>
    JSON.stringify({
      ...ENTITY,
      entity_info: { name: "N", asset_type: "equity", industry, industry_classification_system: "gics" },
    });
  const resultOf = async (industry: string, ...flags: string[]): Promise<AlignmentResult> =>
    JSON.parse(await runAlign("in.ndjson", entity(industry), "out.ndjson", ...flags)) as AlignmentResult;
  const map = (): string => inFolder("map.csv");

  test("gives codes the pathway of their industry, and the results repeat the codes", async () => {
    writeFileSync(map(), "system,code,industry\ngics,10203040,Airlines\n,777,Iron and steel\n");
    const [known, unknown] = [
      await resultOf("10203040", "--industry-map", map()),
      await resultOf("99999999", "--industry-map", map()),
    ];
    expect(known.entity_info.industry).toBe("10203040");
    expect(known.flags).toBeUndefined();
    expect({ ...known, entity_info: 0 }).toStrictEqual({ ...(await resultOf("Airlines")), entity_info: 0 });
    expect(unknown.flags).toStrictEqual(["unknown_industry"]);
  });

  test("is rejected with all errors and the name of its file", async () => {
    writeFileSync(map(), "code,industry\n1,Airlnes\n1,Airlines\n1,Steel\n");
    const error: unknown = await resultOf("1", "--industry-map", map()).catch((thrown: unknown) => thrown);
    if (!isFault(error)) throw error;
    expect(error.message).toContain("map.csv: 2 errors");
    expect(details(error)).toStrictEqual([
      expect.stringMatching(/^line 2, column industry: "Airlnes" is not a known industry \(did you mean Airlines\?\)/),
      expect.stringMatching(/^line 4, column code: "1" is already in line 3/),
    ]);
  });
});

describe("JSON and NDJSON", () => {
  const text = JSON.stringify(ENTITY);
  const invalid = JSON.stringify({ ...ENTITY, data: [] });

  test("reports errors with the line of the entity and a JSON pointer", async () => {
    const fault = await faultOf("in.ndjson", `${text}\n\n${invalid}\n${text.replace("2030", '"x"')}`);
    expect(details(fault).map((detail) => detail.slice(0, 48))).toStrictEqual([
      expect.stringMatching(/^line 3, \/data: data must not be empty/),
      expect.stringMatching(/^line 4, \/projected_emissions\/1\/year: year must/),
    ]);
    rmSync(inFolder("in.ndjson"));
    const listFault = await faultOf("in.json", `[\n ${text},\n\n ${invalid}]`);
    expect(details(listFault)).toStrictEqual([expect.stringMatching(/^line 4, \/1\/data: data must not be empty/)]);
    // For a list on one line, the pointer includes the index, also in later chunks of the file.
    const oneLineFault = await faultOf("in.json", `[${`${text},`.repeat(2500)}${invalid},${text},${invalid}]`);
    expect(details(oneLineFault)).toStrictEqual([
      expect.stringMatching(/^line 1, \/2500\/data: data must not be empty/),
      expect.stringMatching(/^line 1, \/2502\/data: data must not be empty/),
    ]);
  });

  test.each([
    ["in.json", "", "the file is empty"],
    ["in.json", `\n ${text}`, 'Line 2, column 2: found "{" where an array of entities is expected.'],
    ["in.json", "[]", "the file contains no entities."],
    ["in.json", " [ \n ] ", "the file contains no entities."],
    ["in.json", `[${text},\n]`, 'Line 2, column 1: found "]" where an entity is expected.'],
    ["in.json", "[\n,]", 'Line 2, column 1: found "," where an entity is expected.'],
    ["in.json", `[${text}\n${text}]`, 'Line 2, column 1: expected the end of the document (got "{").'],
    ["in.json", `[${text}] x`, 'found "x" where the end is expected.'],
    [
      "in.json",
      `[\n{"a": 1`,
      "Line 2, column 8: expected a comma or the end of the object (got the end of the document).",
    ],
    ["in.json", `[\n${text}`, "the document ends where the end of the array is expected."],
    ["in.json", `[\n{"a": "]`, "Line 2, column 7: the string that begins here is not terminated."],
    ["in.json", `[{"a": 1},\n{"b": 1, "b": 2}]`, 'Line 2, column 10: the key "b" is repeated in this object.'],
    ["in.ndjson", " \n\n", "the file contains no entities."],
    ["in.ndjson", `${text}\n{"a":}`, 'Line 2, column 6: expected a value (got "}").'],
    ["in.ndjson", `${text} ${text}`, 'expected the end of the document (got "{").'],
  ])("rejects %s with %j", async (name, content, message) => {
    expect((await faultOf(name, content)).message).toContain(message);
  });

  test("rejects an entity that exceeds the maximum length", async () => {
    const endless = `${text}\n"${"x".repeat(9 << 20)}`;
    expect((await faultOf("in.ndjson", endless)).message).toContain(
      "Line 2: the entity that begins on this line must be at most 8388608",
    );
    rmSync(inFolder("in.ndjson"));
    expect((await faultOf("in.ndjson", `[${endless}`, "--format", "json")).message).toContain(
      "must be at most 8388608",
    );
  });

  test("parses a list independently of chunk boundaries", async () => {
    const random = randomFrom(11);
    const strings = ['"', "\\", "]", "},{", '\\"', "\n", "é", "[", ",", "\u{1f600}", "\\\\"];
    for (let run = 0; run < 300; run++) {
      const value = (depth: number): unknown => {
        const kind = random.below(depth > 3 ? 2 : 4);
        if (kind === 0) return Array.from({ length: random.below(4) }, () => random.pick(strings)).join("");
        if (kind === 1) return random.pick([1, -2.5, true, null]);
        const values = Array.from({ length: random.below(4) }, () => value(depth + 1));
        return kind === 2 ? values : Object.fromEntries(values.map((each, i) => [`${random.pick(strings)}${i}`, each]));
      };
      const list = Array.from({ length: 1 + random.below(4) }, () => value(0));
      const whole = JSON.stringify(list, undefined, random.pick([0, 1]));
      async function* chunks() {
        for (let offset = 0; offset < whole.length;) {
          const size = 1 + random.below(random.pick([1, 4, 30]));
          yield whole.slice(offset, offset + size);
          offset += size;
        }
      }
      const entities: unknown[] = [];
      for await (const chunk of openEntityJson(chunks()).chunks) entities.push(...chunk.entities);
      expect(entities, whole).toStrictEqual(list);
    }
  });
});
