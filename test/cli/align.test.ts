import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { roundTemperatures } from "../../src/alignment/answer.ts";
import type { Entity } from "../../src/alignment/entity.ts";
import { alignCommand } from "../../src/cli/align.ts";
import { ENTITY_COLUMN_NAMES } from "../../src/cli/entityCsv.ts";
import { openEntityJson } from "../../src/cli/entityJson.ts";
import { type Fault, isFault } from "../../src/errors.ts";
import { ENTITY } from "../host/entities.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";

let folder: string;
let printed: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-align-"));
  printed = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const inFolder = (name: string): string => join(folder, name);

/** Runs the command on a file with this text and returns the output. */
async function runAlign(name: string, text: string | Uint8Array, out: string, ...flags: string[]): Promise<string> {
  writeFileSync(inFolder(name), text);
  await alignCommand().parseAsync([inFolder(name), inFolder(out), ...flags], { from: "user" });
  return readFileSync(inFolder(out), "utf8");
}

/** Runs the command on an invalid file, checks that no other file is left behind, and returns the fault. */
async function faultOf(name: string, text: string | Uint8Array, ...flags: string[]): Promise<Fault> {
  const error: unknown = await runAlign(name, text, "out.csv", ...flags).catch((thrown: unknown) => thrown);
  expect(readdirSync(folder)).toStrictEqual([name]);
  if (!isFault(error)) throw new Error(`No fault: ${String(error)}`, { cause: error });
  return error;
}

const details = ({ items }: Fault): string[] => items.map(({ detail }) => detail);

const libraryResult = async (entities: readonly Entity[], options: Parameters<typeof alignTemperature>[1] = {}) =>
  JSON.parse(JSON.stringify(roundTemperatures(await alignTemperature(entities, options)))) as unknown;

function randomEntities(random: SeededRandom, count: number): Entity[] {
  const amount = (): number | undefined =>
    random.chance(0.2)
      ? undefined
      : random.pick([0, -3, 1e-9, 12_345.678, 1e15]) * (random.chance(0.3) ? 1 : random.next());
  const emissions = () => {
    const [scope1, scope2, scope3] = [amount(), amount(), amount()];
    return {
      ...(scope1 === undefined && (scope2 ?? scope3) !== undefined ? {} : { scope1: scope1 ?? 7 }),
      ...(scope2 === undefined ? {} : { scope2 }),
      ...(scope3 === undefined ? {} : { scope3 }),
    };
  };
  const texts = ["plain", 'a "quoted", one', "two\nlines", "Zürich", "\u{1f600}", "=1+1", " spaced ", "[{,\\"];
  return Array.from({ length: count }, (_, index) => ({
    entity_info: {
      ...(random.chance(0.5) ? { identifier: `E${index}` } : {}),
      name: `${random.pick(texts)} ${index}`,
      asset_type: "equity",
      ...(random.chance(0.5) ? { country: random.pick(["France", "China", "Nowhere"]) } : {}),
      ...(random.chance(0.5) ? { industry: random.pick(["Oil & Gas", "Airlines", "Unknown"]) } : {}),
    },
    data: [
      {
        year: 2024,
        emissions: emissions(),
        ...(random.chance(0.5) ? { financials: { revenue: random.next() * 1e9 } } : {}),
      },
    ],
    projected_emissions: Array.from({ length: 1 + random.below(5) }, () => ({
      year: 2025 + random.below(60),
      emissions: emissions(),
    })),
  }));
}

function csvOf(entities: readonly Entity[]): string {
  const cell = (value: string | number | undefined): string =>
    value === undefined ? "" : `"${String(value).replaceAll('"', '""')}"`;
  const rows = entities.flatMap(({ entity_info, data: [baseline], projected_emissions }) =>
    projected_emissions.map(({ year, emissions }) => {
      const { identifier, name, asset_type, country, industry_classification_system, industry, sector } = entity_info;
      const { scope1, scope2, scope3 } = baseline?.emissions ?? {};
      const { revenue, ebitda } = baseline?.financials ?? {};
      const entity = [identifier, name, asset_type, country, industry_classification_system, industry, sector];
      const before = [baseline?.year, scope1, scope2, scope3, revenue, ebitda];
      const after = [year, emissions.scope1, emissions.scope2, emissions.scope3];
      return [...entity, ...before, ...after].map(cell).join(",");
    }),
  );
  return [ENTITY_COLUMN_NAMES.join(","), ...rows, ""].join("\r\n");
}

const TEXTS = {
  csv: csvOf,
  json: (entities: readonly Entity[]) => JSON.stringify(entities, undefined, 2),
  ndjson: (entities: readonly Entity[]) => entities.map((entity) => `${JSON.stringify(entity)}\n`).join("\n"),
};
const FORMATS = Object.keys(TEXTS) as (keyof typeof TEXTS)[];

describe("isotherm align", () => {
  test.each(FORMATS.flatMap((from) => FORMATS.map((to) => [from, to] as const)))(
    "converts %s to %s with the results of the library",
    async (from, to) => {
      const entities = randomEntities(randomFrom(3), 60);
      const text = await runAlign(`in.${from}`, TEXTS[from](entities), `out.${to}`);
      const expected = (await libraryResult(entities)) as { results: { data: Record<string, unknown>[] }[] };
      if (to === "json") expect(JSON.parse(text)).toStrictEqual(expected);
      else if (to === "ndjson") {
        const lines = text.trimEnd().split("\n");
        expect(lines.map((line) => JSON.parse(line) as unknown)).toStrictEqual(expected.results);
      } else {
        const rows: Record<string, string>[] = parse(text, { columns: true });
        const actual = rows.map(({ year, temperature_alignment, reason }) => [year, temperature_alignment, reason]);
        const wanted = expected.results.flatMap(({ data }) =>
          data.map(({ year, temperature_alignment, reason }) =>
            [year, temperature_alignment ?? "", reason ?? ""].map(String),
          ),
        );
        expect(actual).toStrictEqual(wanted);
        const given: Record<string, string>[] = parse(csvOf(entities), { columns: true });
        expect(rows).toMatchObject(given);
      }
    },
  );

  test.each(["intensity", "emissions", "cumulative"] as const)("writes the detail of basis %s", async (basis) => {
    const [year] = (await alignTemperature([ENTITY], { basis, detail: true })).results[0]?.data ?? [];
    const flags = ["--basis", basis, "--detail"];
    const json = await runAlign("in.json", JSON.stringify([ENTITY]), "out.json", ...flags);
    expect(JSON.parse(json)).toStrictEqual(await libraryResult([ENTITY], { basis, detail: true }));
    const [row]: Record<string, string>[] = parse(await runAlign("in.csv", csvOf([ENTITY]), "out.csv", ...flags), {
      columns: true,
    });
    expect(row).toMatchObject({
      temperature_alignment: String(Math.round(100 * (year?.temperature_alignment ?? NaN)) / 100),
      basis,
      temperature_intensity: String(year?.detail?.temperature_intensity),
      temperature_emissions: String(year?.detail?.temperature_emissions),
      temperature_cumulative: String(year?.detail?.temperature_cumulative),
      pathway: "energy_supply",
      matched_on: "industry",
      between_weight: String(year?.detail?.between?.weight),
      temperature_scope2: String(year?.detail?.temperature_by_scope.scope2),
      flags: (year?.detail?.flags ?? []).join(";"),
    });
  });

  test("gives the same results for a long file that is read in chunks", async () => {
    const entities = randomEntities(randomFrom(5), 9000);
    const expected = await libraryResult(entities, { basis: "cumulative" });
    for (const from of FORMATS) {
      const text = await runAlign(`in.${from}`, TEXTS[from](entities), "out.json", "--basis", "cumulative");
      expect(JSON.parse(text)).toStrictEqual(expected);
    }
    expect(printed).toMatch(
      /^\d+ temperatures for 9000 entities in [\d.]+ s; no temperature: \d+ no_usable_scope, \d+ zero_baseline\n/,
    );
  });

  test("prints the summary as JSON", async () => {
    const zero = { ...ENTITY, data: [{ year: 2023, emissions: { scope1: 0 } }] };
    await runAlign("in.json", JSON.stringify([ENTITY, zero]), "out.json", "--json");
    expect(JSON.parse(printed)).toStrictEqual({
      entities: 2,
      temperatures: 2,
      without: { no_usable_scope: 0, zero_baseline: 2 },
      seconds: expect.any(Number) as number,
    });
  });

  test("replaces an existing output only after success", async () => {
    const good = await runAlign("in.csv", csvOf([ENTITY]), "out.csv");
    await expect(runAlign("in.csv", csvOf([ENTITY]).replace("2050", "1950"), "out.csv")).rejects.toThrow("1 error");
    expect(readFileSync(inFolder("out.csv"), "utf8")).toBe(good);
    expect(readdirSync(folder).toSorted()).toStrictEqual(["in.csv", "out.csv"]);
    const other = await runAlign("in.csv", csvOf([ENTITY]).replace('"2050"', '"2049"'), "out.csv");
    expect(other).not.toBe(good);
  });

  test("rejects unknown formats, outputs that are the input, folders and missing files", async () => {
    expect((await faultOf("in.txt", "[]")).message).toContain("set --format to one of csv, json, ndjson");
    await expect(runAlign("in.csv", csvOf([ENTITY]), "in.csv")).rejects.toThrow("is also the input");
    symlinkSync(inFolder("in.csv"), inFolder("link.csv"));
    await expect(runAlign("in.csv", csvOf([ENTITY]), "link.csv")).rejects.toThrow("is also the input");
    mkdirSync(inFolder("folder.csv"));
    await expect(runAlign("in.csv", csvOf([ENTITY]), "folder.csv")).rejects.toThrow("is a folder");
    rmSync(inFolder("in.csv"));
    const text = await runAlign("in.txt", JSON.stringify([ENTITY]), "out.txt", "--format", "json", "--to", "csv");
    expect(text.split("\n")).toHaveLength(4);
    await expect(alignCommand().parseAsync([inFolder("none.csv"), "-"], { from: "user" })).rejects.toThrow(
      "no such file",
    );
  });

  test("reads standard input and writes standard output", () => {
    const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
    const run = (input: string) =>
      spawnSync(process.execPath, [main, "align", "-", "--format", "csv", "--to", "ndjson"], {
        input,
        encoding: "utf8",
      });
    const { status, stdout, stderr } = run(csvOf([ENTITY]));
    expect([status, stderr]).toStrictEqual([0, expect.stringMatching(/^2 temperatures for 1 entity in /)]);
    expect(JSON.parse(stdout)).toMatchObject({ data: [{ year: 2050, temperature_alignment: 2.06 }, { year: 2030 }] });
    const broken = run(csvOf([ENTITY]).replaceAll("equity", "bond"));
    expect([broken.status, broken.stdout]).toStrictEqual([1, ""]);
    expect(broken.stderr).toContain("isotherm: standard input: 1 error.\n  line 2, column asset_type: ");
  });
});

describe("CSV", () => {
  const HEAD = "name,asset_type,baseline_year,baseline_scope1,year,scope1";

  test("passes all columns through unchanged and in order, including unknown ones", async () => {
    const text =
      "\ufeffscope1,LEI,name,year,asset_type,baseline_scope1,baseline_year\r\n" +
      '50,"x ""1"", y","A\nB", 2030 ,equity,1e2,2025\r\n\r\n-1,,C,2031,equity,100.5,2025';
    expect(await runAlign("in.csv", text, "out.csv")).toBe(
      "scope1,LEI,name,year,asset_type,baseline_scope1,baseline_year,temperature_alignment,reason\n" +
        '50,"x ""1"", y","A\nB", 2030 ,equity,1e2,2025,1.41,\n-1,,C,2031,equity,100.5,2025,1.3,\n',
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
    expect([fault.code, fault.message]).toStrictEqual(["invalid_request", `${inFolder("in.csv")}: 13 errors.`]);
    expect(details(fault)).toStrictEqual([
      'line 3, column asset_type: asset_type must be equity (got "bond").',
      "line 5, column name: name is required and must be text.",
      'line 5, column scope1: scope1 must be a number between -1000000000000000 and 1000000000000000 (got "NaN").',
      "line 5, column year: year must be after the baseline year 2025 (got 2020).",
      'line 6, column scope1: scope1 must be a number between -1000000000000000 and 1000000000000000 (got "1,000").',
      'line 7, column baseline_year: "2026" differs from "2025" in line 6 for the same entity "d".',
      "line 8, column baseline_year: year is required and must be a whole number between 1900 and 2200.",
      "line 8, column year: year must be a whole number between 1900 and 2200 (got 2030.5).",
      "line 9, column baseline_scope1: emissions must have at least one of scope1, scope2, scope3.",
      "line 9, column scope1: emissions must have at least one of scope1, scope2, scope3.",
      "line 10: the row has 6 cells, but the header has 8.",
      "line 11, column scope1: scope1 must be between -1000000000000000 and 1000000000000000 (got 10000000000000000).",
      'line 11, column scope2: scope2 must be a number between -1000000000000000 and 1000000000000000 (got "0x1").',
    ]);
  });

  test("reports the right line far into a file", async () => {
    const rows = Array.from({ length: 30_000 }, (_, i) => `N${i},equity,2025,100,2030,${i === 29_000 ? "x" : i}`);
    expect(details(await faultOf("in.csv", [HEAD, ...rows].join("\n")))).toStrictEqual([
      expect.stringMatching(/^line 29002, column scope1: .* \(got "x"\)\.$/),
    ]);
  });

  test("rejects another asset type with its own code", async () => {
    expect((await faultOf("in.csv", `${HEAD}\nN,bond,2025,1,2030,1`)).code).toBe("asset_type_unsupported");
  });

  test.each([
    ["no content", "", [], "the file is empty"],
    ["only a header", `${HEAD}\n`, [], "the file contains no entities"],
    ["missing columns", "name,year\nN,2030", ["asset_type", "baseline_year"], "column is missing"],
    ["a misspelt column", `${HEAD},contry\n`, ["contry"], "did you mean country?"],
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
    ["a quote inside a cell", `${HEAD}\nN "x",equity,2025,1,2030,1\n`, [], "Line 2: quote in the middle"],
    [
      "Latin-1",
      Buffer.from(`${HEAD}\nN,equity,2025,1,2030,1\nZ\u00fcrich`, "latin1"),
      [],
      "Line 3: the text is not valid UTF-8",
    ],
  ])("rejects a file with %s", async (_content, text, columns: readonly string[], message) => {
    const fault = await faultOf("in.csv", text);
    const all = [fault.message, ...details(fault)].join("\n");
    expect(all).toContain(message);
    for (const column of columns) expect(all).toContain(`line 1, column ${column}: `);
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
    const inList = await faultOf("in.json", `[\n ${text},\n\n ${invalid}]`);
    expect(details(inList)).toStrictEqual([expect.stringMatching(/^line 4, \/1\/data: data must not be empty/)]);
    // For a list on one line, the pointer includes the index, also in later chunks of the file.
    const inLine = await faultOf("in.json", `[${`${text},`.repeat(2500)}${invalid},${text},${invalid}]`);
    expect(details(inLine)).toStrictEqual([
      expect.stringMatching(/^line 1, \/2500\/data: data must not be empty/),
      expect.stringMatching(/^line 1, \/2502\/data: data must not be empty/),
    ]);
  });

  test.each([
    ["in.json", "", "the file is empty"],
    ["in.json", `\n ${text}`, 'Line 2, column 2: found "{" where a list of entities is expected.'],
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
    ["in.json", `[\n${text}`, "the document ends where the end of the list is expected."],
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
      "Line 2: the entity that begins here is longer than 8388608",
    );
    rmSync(inFolder("in.ndjson"));
    expect((await faultOf("in.ndjson", `[${endless}`, "--format", "json")).message).toContain("is longer than 8388608");
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
        for (let at = 0; at < whole.length;) {
          const size = 1 + random.below(random.pick([1, 4, 30]));
          const part = whole.slice(at, at + size);
          yield { text: part, bytes: Buffer.from(part) };
          at += size;
        }
      }
      const entities: unknown[] = [];
      for await (const chunk of openEntityJson(chunks()).chunks) entities.push(...chunk.entities);
      expect(entities, whole).toStrictEqual(list);
    }
  });
});
