import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { captureOutput, type CapturedOutput } from "./capturedOutput.ts";

const PLACES = `site,code,lat,lon,region
Manila,a,14.5958,120.9772,east
"Rotterdam, port",b,51.9225,4.4792,west
Miami,c,25.7839,-80.2102,west
Nowhere,d,146,0,
Osaka,e,34.6939,135.5022,east
`;
const SELECTION = ["--hazards=cyclones,riverine_floods", "--scenarios=baseline,rcp8p5", "--years=1980,2050,2080"];
const OUTPUTS = [
  ["long.csv"],
  ["wide.csv", "--layout=wide"],
  ["long.ndjson"],
  ["wide.jsonl", "--layout=wide"],
  ["long.parquet"],
  ["wide.parquet", "--layout=wide"],
  ["places.geoparquet"],
] as const;

let folder: string;
const printed: CapturedOutput = { stdout: "", stderr: "" };

/** Runs a command line; arguments that begin with @ are paths in the test folder. */
const run = (...words: readonly string[]): Promise<number | undefined> =>
  runProgram(words.map((word) => (word.startsWith("@") ? join(folder, word.slice(1)) : word)));
const errorText = (): string => printed.stderr.replaceAll(`${folder}/`, "");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-summary-cli-"));
  writeFileSync(join(folder, "places.csv"), PLACES);
  writeFileSync(join(folder, "other.csv"), "a,b\n1,2\n");
  captureOutput(printed);
  for (const [name, ...options] of OUTPUTS) {
    expect(
      await run(
        "portfolio",
        "@places.csv",
        `@${name}`,
        "--atlas=demo",
        "--workers=0",
        "--radius=20",
        ...SELECTION,
        ...options,
      ),
      printed.stderr,
    ).toBeUndefined();
  }
  vi.restoreAllMocks();
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => captureOutput(printed));
afterEach(() => vi.restoreAllMocks());

/** Returns a summary as JSON, without what names the file. */
async function summaryOf(name: string, ...options: readonly string[]) {
  printed.stdout = "";
  expect(await run("portfolio", "summary", `@${name}`, "--json", ...options), printed.stderr).toBeUndefined();
  const {
    file,
    run: stated,
    ...summary
  } = JSON.parse(printed.stdout) as {
    readonly file: string;
    readonly run: { readonly input: string; readonly options: object; readonly synthetic: boolean };
    readonly results: readonly { readonly rows: number; readonly statuses: Readonly<Record<string, number>> }[];
    readonly top: readonly { readonly by: string; readonly places: readonly { readonly id: string }[] }[];
  };
  expect(file).toBe(name);
  expect(stated).toMatchObject({ input: "places.csv", options: { radius: 20 }, synthetic: true });
  return summary;
}

describe("isotherm portfolio summary", () => {
  test("is the same for every format and layout", async () => {
    const options = ["--id=site", "--group-by=region", "--top=3", "--above=depth_meters=0.25"];
    const expected = await summaryOf("long.csv", ...options);
    expect(expected).toMatchObject({ places: 5, invalid_rows: { count: 1 }, group_by: { column: "region" } });
    expect(expected.results.map(({ rows }) => rows)).toEqual(expected.results.map(() => 4));
    for (const [name] of OUTPUTS) expect(await summaryOf(name, ...options)).toEqual(expected);
  });

  test("states the values, places and statuses of the output", async () => {
    const { top, results } = await summaryOf("wide.csv", "--id=site", "--by=cyclones.rcp8p5.2080.wind_speed_mps");
    const [header = "", ...lines] = readFileSync(join(folder, "wide.csv"), "utf8").trimEnd().split("\n");
    // The quoted cell with a comma is not last, so columns are counted from the end.
    const column = header.split(",").toReversed().indexOf("cyclones.rcp8p5.2080.wind_speed_mps");
    const values = lines.flatMap((line) => {
      const value = Number(line.split(",").toReversed()[column]);
      return value > 0 ? [{ value, site: /^(?:"([^"]*)"|([^,]*))/.exec(line)?.slice(1).join("") }] : [];
    });
    expect(values.length).toBeGreaterThan(1);
    expect(top).toEqual([
      {
        by: "cyclones.rcp8p5.2080.wind_speed_mps",
        places: values
          .toSorted((a, b) => b.value - a.value)
          .map(({ site, value }) => expect.objectContaining({ id: site, value }) as unknown),
      },
    ]);
    for (const { statuses } of results) {
      expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(4);
    }
  });

  test("prints tables, and writes a report beside them", async () => {
    expect(await run("portfolio", "summary", "@long.csv", "--id=site", `--html=${folder}`, "--group-by=region")).toBe(
      1,
    );
    expect(errorText()).toContain("is a folder");
    const words = ["--id=site", `--html=${folder}/report.html`, "--group-by=region"];
    expect(await run("portfolio", "summary", "@long.csv", ...words)).toBeUndefined();
    expect(printed.stdout).toContain("long.csv: 5 places, 1 invalid row (atlas demo-");
    expect(printed.stdout).toContain("SYNTHETIC: not real data");
    expect(printed.stdout).toMatch(/│ rcp8p5 +│ 2080 │ wind_speed_mps \[m\/s\] +│ +4 │/);
    expect(printed.stdout).toMatch(/Largest values of cyclones\.rcp8p5\.2080\.wind_speed_mps\n[^M]*│ 1 │ Manila/);
    expect(printed.stdout).toMatch(/riverine_floods\.rcp8p5\.2080\.depth_meters by region/);
    const report = readFileSync(join(folder, "report.html"), "utf8");
    expect(report).toContain("<h1>Climate hazards of 5 places</h1>");
    expect(report).toContain("Rotterdam, port");
  });

  test("shows kept columns with each listed place", async () => {
    const show = ["--id=site", "--show=region", "--show=code", "--top=1"];
    for (const [name] of OUTPUTS) {
      expect(await summaryOf(name, ...show)).toMatchObject({
        invalid_rows: { first: [{ id: "Nowhere", columns: { region: null, code: "d" } }] },
        top: [{ places: [{ id: "Manila", columns: { region: "east", code: "a" } }] }, {}],
      });
    }
    expect(await run("portfolio", "summary", "@wide.csv", ...show, `--html=${folder}/shown.html`)).toBeUndefined();
    expect(printed.stdout).toMatch(/│ place +│ region │ code │ latitude │/);
    expect(printed.stdout).toMatch(/│ 1 │ Manila │ east +│ a +│/);
    const report = readFileSync(join(folder, "shown.html"), "utf8").replaceAll(/>\s+/g, ">");
    expect(report).toContain(
      '<th scope="row" class="text">Manila</th><td class="text">east</td><td class="text">a</td>',
    );
    expect(report).toContain('<th scope="row" class="text">Nowhere</th><td class="text"></td><td class="text">d</td>');
  });

  test("shows the account of OED locations, whose numbers are unique only within it", async () => {
    const text =
      "PortNumber,AccNumber,LocNumber,Latitude,Longitude\n1,A1,1,14.5958,120.9772\n1,A2,1,25.7839,-80.2102\n";
    writeFileSync(join(folder, "oed.csv"), text);
    const selection = ["--hazards=cyclones", "--scenarios=rcp8p5", "--years=2080"];
    await run("portfolio", "@oed.csv", "@oed-scores.csv", "--atlas=demo", "--workers=0", ...selection);
    printed.stdout = "";
    expect(await run("portfolio", "summary", "@oed-scores.csv", "--json"), printed.stderr).toBeUndefined();
    const { top } = JSON.parse(printed.stdout) as { readonly top: readonly { readonly places: readonly object[] }[] };
    const listed = (account: string) =>
      expect.objectContaining({ id: "1", columns: { AccNumber: account } }) as unknown;
    expect(top[0]?.places).toEqual(expect.arrayContaining([listed("A1"), listed("A2")]));
    await run("portfolio", "summary", "@oed-scores.csv", "--show=PortNumber", "--show=AccNumber");
    expect(printed.stdout).toMatch(/│ place │ AccNumber │ PortNumber │ latitude │/);
    await run("portfolio", "summary", "@oed-scores.csv", "--id=AccNumber");
    expect(printed.stdout).toMatch(/│ place │ latitude │/);
  });

  const pointWith = (properties: object) => ({
    type: "FeatureCollection",
    features: [{ type: "Feature", geometry: { type: "Point", coordinates: [120.9772, 14.5958] }, properties }],
  });
  test.each([
    [{ latitude: 52, longitude: 5 }],
    [{ lat: 52, lon: 5 }],
    [{ latitude: 1_283_000, longitude: 655_000 }],
    [{ hazard: "high", lat: "unknown" }],
  ])("shows the points that were scored, with the properties %j", async (properties) => {
    writeFileSync(join(folder, "points.geojson"), JSON.stringify(pointWith(properties)));
    const selection = ["--hazards=cyclones", "--scenarios=rcp8p5", "--years=2080"];
    for (const name of ["points.csv", "points.parquet"]) {
      await run("portfolio", "@points.geojson", `@${name}`, "--atlas=demo", "--workers=0", ...selection);
      printed.stdout = "";
      expect(await run("portfolio", "summary", `@${name}`, "--json"), printed.stderr).toBeUndefined();
      expect(JSON.parse(printed.stdout)).toMatchObject({
        top: [{ places: [{ latitude: 14.5958, longitude: 120.9772 }] }],
      });
    }
  });

  test("reads coordinates in every notation that is scored", async () => {
    const rows = "A, 14.5958, 120.9772\nB,+25.7839,-80.2102\nC,34.,135.\nD,\t.145958e2 ,1.209772E2\n";
    writeFileSync(join(folder, "notations.csv"), `site,lat,lon\n${rows}`);
    const selection = ["--hazards=cyclones", "--scenarios=rcp8p5", "--years=2080"];
    await run("portfolio", "@notations.csv", "@notations-scores.csv", "--atlas=demo", "--workers=0", ...selection);
    const words = ["@notations-scores.csv", "--json", "--id=site", `--html=${folder}/notations.html`];
    printed.stdout = "";
    expect(await run("portfolio", "summary", ...words), printed.stderr).toBeUndefined();
    const { top, invalid_rows: invalid } = JSON.parse(printed.stdout) as {
      readonly top: readonly { readonly places: readonly { readonly id: string }[] }[];
      readonly invalid_rows: object;
    };
    expect(invalid).toMatchObject({ count: 0 });
    const places = (top[0]?.places ?? []).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(places).toMatchObject([
      { id: "A", latitude: 14.5958, longitude: 120.9772 },
      { id: "B", latitude: 25.7839, longitude: -80.2102 },
      { id: "C", latitude: 34, longitude: 135 },
      { id: "D", latitude: 14.5958, longitude: 120.9772 },
    ]);
  });

  test("has counts of 0 for an output without rows", async () => {
    writeFileSync(join(folder, "empty.csv"), PLACES.slice(0, PLACES.indexOf("\n") + 1));
    for (const [name, ...options] of OUTPUTS) {
      const output = `empty-${name}`;
      await run("portfolio", "@empty.csv", `@${output}`, "--atlas=demo", "--workers=0", ...SELECTION, ...options);
      const summary = ["portfolio", "summary", `@${output}`, "--group-by=region"];
      printed.stdout = "";
      expect(await run(...summary, "--json", "--by=cyclones.rcp8p5.2080.intensity"), printed.stderr).toBeUndefined();
      const { results, ...others } = JSON.parse(printed.stdout) as { readonly results: readonly object[] };
      expect(others).toMatchObject({
        places: 0,
        invalid_rows: { count: 0, first: [] },
        top: [{ by: "cyclones.rcp8p5.2080.intensity", places: [] }],
        group_by: { column: "region", values: [] },
      });
      expect(results).toEqual(results.map(() => expect.objectContaining({ rows: 0 }) as unknown));
      printed.stdout = "";
      expect(await run(...summary, `--html=${folder}/empty.html`), printed.stderr).toBeUndefined();
      expect(printed.stdout).toContain(`${output}: 0 places, 0 invalid rows (atlas demo-`);
      const report = readFileSync(join(folder, "empty.html"), "utf8");
      expect(report).toContain("<h1>Climate hazards of 0 places</h1>");
      expect(report).not.toMatch(/NaN|undefined|Infinity/);
    }
  });

  test("reads the format that the manifest states", async () => {
    for (const format of ["csv", "ndjson", "parquet", "geoparquet"]) {
      const name = `scores-${format}.dat`;
      const words = ["--atlas=demo", "--workers=0", "--radius=20", ...SELECTION, `--to=${format}`];
      await run("portfolio", "@places.csv", `@${name}`, ...words);
      expect(await summaryOf(name, "--id=site")).toEqual(await summaryOf("long.csv", "--id=site"));
    }
    writeFileSync(join(folder, "alone.dat"), readFileSync(join(folder, "long.csv")));
    expect(await run("portfolio", "summary", "@alone.dat")).toBe(1);
    expect(errorText()).toMatch(
      /alone\.dat: the extension \.dat is not supported; an output without a manifest ends in \.csv/,
    );
  });

  test("shows the identifier that the run has renamed", async () => {
    writeFileSync(join(folder, "renamed.csv"), "hazard,lat,lon\nManila,14.5958,120.9772\n");
    const selection = ["--hazards=cyclones", "--scenarios=rcp8p5", "--years=2080", "--id=hazard"];
    await run("portfolio", "@renamed.csv", "@renamed-scores.csv", "--atlas=demo", "--workers=0", ...selection);
    printed.stdout = "";
    expect(await run("portfolio", "summary", "@renamed-scores.csv", "--json"), printed.stderr).toBeUndefined();
    expect(JSON.parse(printed.stdout)).toMatchObject({ top: [{ places: [{ id: "Manila" }] }] });
  });

  test.each([
    [["@none.csv"], /none\.csv: no such file\./],
    [["@other.csv"], /other\.csv: The file is not an output of isotherm portfolio: .* Its columns are "a", "b"\./],
    [["-"], /<out> must be a file, not standard input/],
    [["@long.csv", "--above=depth=1"], /must be METRIC=VALUE, with one of intensity, .*\(got "depth=1"\)/],
    [["@long.csv", "--above=depth_meters=deep"], /the value of depth_meters must be a number \(got "deep"\)/],
    [["@long.csv", "--top=-1"], /must be an integer from 0 to 1000 \(got "-1"\)/],
    [["@long.csv", "--by=cyclones.2080"], /must be HAZARD\.SCENARIO\.YEAR\.METRIC, .*\(got "cyclones\.2080"\)/],
    [
      ["@long.csv", "--by=wildfire.rcp8p5.2080.intensity"],
      /The file has no values of wildfire\.rcp8p5\.2080\.intensity/,
    ],
    [
      ["@long.csv", "--group-by=owner"],
      /no kept column "owner": the columns are "site", "code", "lat", "lon", "region"/,
    ],
    [
      ["@long.csv", "--show=code", "--show=owner", "--group-by=town"],
      /no kept column "town" and no "owner": the columns are "site", "code", "lat", "lon", "region"/,
    ],
    [["@long.csv", "--id=owner"], /The column "owner" of --id is missing/],
    [["@long.csv", "--html=@long.csv"], /long\.csv is also the input/],
  ])("rejects %j", async (words, message) => {
    expect(await run("portfolio", "summary", ...words.map((word) => word.replace("=@", `=${folder}/`)))).toBe(1);
    expect(errorText()).toMatch(message);
    expect(printed.stdout).toBe("");
  });

  test("says how to complete the output of an interrupted run", async () => {
    mkdirSync(join(folder, "interrupted.csv.partial"));
    expect(await run("portfolio", "summary", "@interrupted.csv")).toBe(1);
    expect(errorText()).toBe(
      "isotherm: interrupted.csv is not complete: interrupted.csv.partial has the finished part of its run; " +
        "run isotherm portfolio as before to continue it.\n",
    );
  });

  test("rejects a damaged Parquet file", async () => {
    const bytes = readFileSync(join(folder, "long.parquet"));
    writeFileSync(join(folder, "cut.parquet"), bytes.subarray(0, bytes.length - 9));
    expect(await run("portfolio", "summary", "@cut.parquet")).toBe(1);
    expect(errorText()).toMatch(/^isotherm: cut\.parquet: The footer of the Parquet file cannot be read/);
    expect(existsSync(join(folder, "cut.parquet.manifest.json"))).toBe(false);
  });
});
