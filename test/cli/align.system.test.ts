import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { roundTemperatures } from "../../src/alignment/answer.ts";
import { alignCommand } from "../../src/cli/align.ts";
import { ENTITY_COLUMN_NAMES } from "../../src/cli/entityCsv.ts";
import { ENTITY } from "../host/entities.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { faultOf, folder, inFolder, runAlign, stdoutText, useAlignFolder } from "./alignRun.ts";
import type { AlignmentAnswer, Entity } from "../../src/contract/wireTypes.ts";

useAlignFolder();

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

/** Adds the members that CSV files have in separate columns. */
function withMoreMembers(random: SeededRandom, entities: readonly Entity[]): Entity[] {
  return entities.map((entity) => {
    const labels = random.chance(0.5) ? ["target", 'a "trend", slow'] : undefined;
    const hasProbability = random.chance(0.5);
    return {
      ...entity,
      data: entity.data.map((baseline) => ({
        ...baseline,
        financials: { revenue: 1e9 * random.next(), currency: random.pick(["USD", "EUR"]), price_year: 2022 },
      })),
      projected_emissions: entity.projected_emissions.flatMap((record) =>
        (labels ?? [undefined]).map((label, i) => ({
          ...record,
          ...(random.chance(0.5) ? { financials: { revenue: 1e9 * random.next() } } : {}),
          ...(label === undefined ? {} : { label }),
          ...(label !== undefined && hasProbability ? { probability: i === 0 ? 0.25 : 1 } : {}),
        })),
      ),
    };
  });
}

function csvOf(entities: readonly Entity[]): string {
  const cell = (value: string | number | undefined): string =>
    value === undefined ? "" : `"${String(value).replaceAll('"', '""')}"`;
  const rows = entities.flatMap(({ entity_info, data: [baseline], projected_emissions }) =>
    projected_emissions.map(({ year, emissions, financials, label, probability }) => {
      const { identifier, name, asset_type, country, industry_classification_system, industry, sector } = entity_info;
      const { scope1, scope2, scope3 } = baseline?.emissions ?? {};
      const { revenue, ebitda, currency, price_year } = baseline?.financials ?? {};
      const entity = [identifier, name, asset_type, country, industry_classification_system, industry, sector];
      const baselineCells = [baseline?.year, scope1, scope2, scope3, revenue, ebitda, currency, price_year];
      const projectionCells = [
        year,
        emissions.scope1,
        emissions.scope2,
        emissions.scope3,
        financials?.revenue,
        label,
        probability,
      ];
      return [...entity, ...baselineCells, ...projectionCells].map(cell).join(",");
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
      const expected = (await libraryResult(entities)) as AlignmentAnswer;
      if (to === "json") expect(JSON.parse(text)).toStrictEqual(expected);
      else if (to === "ndjson") {
        const lines = text.trimEnd().split("\n");
        expect(lines.map((line) => JSON.parse(line) as unknown)).toStrictEqual(expected.results);
      } else {
        const rows: Record<string, string>[] = parse(text, { columns: true });
        const actual = rows.map(({ year, temperature_alignment, reason, range_low, flags }) => [
          year,
          temperature_alignment,
          reason,
          range_low,
          flags,
        ]);
        const expectedRows = expected.results.flatMap(({ flags: entityFlags = [], data }) =>
          data.map(({ year, temperature_alignment, reason, range, flags = [] }) =>
            [
              year,
              temperature_alignment ?? "",
              reason ?? "",
              range?.low ?? "",
              [...entityFlags, ...flags].join(";"),
            ].map(String),
          ),
        );
        expect(actual).toStrictEqual(expectedRows);
        const inputRows: Record<string, string>[] = parse(csvOf(entities), { columns: true });
        expect(rows).toMatchObject(inputRows);
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
      growth_source: year?.detail?.growth.source ?? "",
      flags: (year?.detail?.flags ?? []).join(";"),
    });
  });

  test("reads and writes the columns of projections, budgets and ranges", async () => {
    const random = randomFrom(12);
    const entities = withMoreMembers(random, randomEntities(random, 40));
    const flags = ["--include", "overall,by_scope,climate_range", "--budget-scenario", "ndcs", "--convergence", "0.5"];
    const options = {
      include: ["overall", "by_scope", "climate_range", "budget"],
      budgetScenario: "ndcs",
      convergence: 0.5,
    } as const;
    const expected = (await libraryResult(entities, options)) as AlignmentAnswer;
    expect(JSON.parse(await runAlign("in.csv", csvOf(entities), "out.json", ...flags))).toStrictEqual(expected);
    const rows: Record<string, string>[] = parse(await runAlign("in.json", TEXTS.json(entities), "out.csv", ...flags), {
      columns: true,
    });
    const text = (value: string | number | null | undefined): string => String(value ?? "");
    const expectedRows = expected.results.flatMap(({ data, overall, blended = [], did_you_mean = {} }) =>
      data.map((year) => {
        const mean = blended.find((candidate) => candidate.year === year.year);
        return {
          label: text(year.label),
          coverage: text(year.coverage),
          did_you_mean: Object.entries(did_you_mean)
            .map(([member, name]) => `${member}=${name}`)
            .join(";"),
          blended: text(mean?.temperature_alignment),
          blended_range_high: text(mean?.range.high),
          climate_range_low: text(year.climate_range?.low),
          climate_range_high: text(year.climate_range?.high),
          by_scope_s1s2: text(year.by_scope?.s1s2),
          by_scope_s3: text(year.by_scope?.s3),
          budget_scenario: text(year.budget?.scenario),
          budget_allowed: text(year.budget?.allowed),
          budget_projected: text(year.budget?.projected),
          budget_overshoot: text(year.budget?.overshoot),
          budget_overshoot_pct: text(year.budget?.overshoot_pct),
          overall: text(overall?.temperature_alignment),
          overall_range_low: text(overall?.range.low),
          overall_years: text(overall?.years),
        };
      }),
    );
    expect(rows).toMatchObject(expectedRows);
    expect(rows.filter(({ blended }) => blended !== "").length).toBeGreaterThan(10);
    expect(parse(csvOf(entities), { columns: true })).toMatchObject(
      rows.map(({ revenue, label, probability, currency, price_year }) => ({
        revenue,
        label,
        probability,
        currency,
        price_year,
      })),
    );
  });

  test("writes blended temperatures only if the file has labels", async () => {
    const head = "name,asset_type,baseline_year,baseline_scope1,year,scope1";
    const without = await runAlign("in.csv", `${head}\nN,equity,2025,100,2040,50\n`, "out.csv");
    expect(without.split("\n")[0]).toBe(
      `${head},temperature_alignment,reason,range_low,range_high,coverage,flags,did_you_mean`,
    );
    const rows = ["N,equity,2025,100,2040,50,target", "N,equity,2025,100,2040,90,trend"];
    const text = await runAlign("in.csv", [`${head},label`, ...rows].join("\n"), "out.csv");
    expect(text.split("\n")[0]).toContain("did_you_mean,blended,blended_range_low,blended_range_high");
    const blended: Record<string, string>[] = parse(text, { columns: true });
    expect(blended[0]?.["blended"]).toBe(blended[1]?.["blended"]);
  });

  test.each([
    { flags: ["--include", "overal"], message: '"overal" must be one of by_scope, budget, climate_range, overall.' },
    { flags: ["--convergence", "0"], message: 'it must be a number greater than 0 and at most 1 (got "0").' },
    { flags: ["--convergence", "half"], message: "greater than 0 and at most 1" },
    {
      flags: ["--budget-scenario", "1.5"],
      message: "Allowed choices are net_zero_2050, below_2c, ndcs, current_policies",
    },
  ])("rejects $flags", async ({ flags, message }) => {
    const run = alignCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => undefined })
      .parseAsync([inFolder("none.csv"), ...flags], { from: "user" });
    await expect(run).rejects.toThrow(message);
  });

  test("returns the same results for a long file, which is read in chunks", async () => {
    const entities = randomEntities(randomFrom(5), 9000);
    const expected = await libraryResult(entities, { basis: "cumulative" });
    for (const from of FORMATS) {
      const text = await runAlign(`in.${from}`, TEXTS[from](entities), "out.json", "--basis", "cumulative");
      expect(JSON.parse(text)).toStrictEqual(expected);
    }
    expect(stdoutText()).toMatch(
      /^\d+ temperatures for 9000 entities in [\d.]+ s; no temperature: \d+ no_usable_scope, \d+ zero_baseline\n/,
    );
  });

  test("prints the summary as JSON", async () => {
    const zeroBaseline = { ...ENTITY, data: [{ year: 2023, emissions: { scope1: 0 } }] };
    await runAlign("in.json", JSON.stringify([ENTITY, zeroBaseline]), "out.json", "--json");
    expect(JSON.parse(stdoutText())).toStrictEqual({
      entities: 2,
      temperatures: 2,
      without: { no_usable_scope: 0, zero_baseline: 2 },
      seconds: expect.any(Number) as number,
    });
  });

  test("replaces an existing output only after success", async () => {
    const original = await runAlign("in.csv", csvOf([ENTITY]), "out.csv");
    await expect(runAlign("in.csv", csvOf([ENTITY]).replace("2050", "1950"), "out.csv")).rejects.toThrow(
      "in.csv: line 2, column year: year must be after",
    );
    expect(readFileSync(inFolder("out.csv"), "utf8")).toBe(original);
    expect(readdirSync(folder).toSorted()).toStrictEqual(["in.csv", "out.csv"]);
    const other = await runAlign("in.csv", csvOf([ENTITY]).replace('"2050"', '"2049"'), "out.csv");
    expect(other).not.toBe(original);
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
    expect(JSON.parse(stdout)).toMatchObject({ data: [{ year: 2050, temperature_alignment: 2.09 }, { year: 2030 }] });
    const failed = run(csvOf([ENTITY]).replaceAll("equity", "bond"));
    expect([failed.status, failed.stdout]).toStrictEqual([1, ""]);
    expect(failed.stderr).toContain("isotherm: standard input: line 2, column asset_type: asset_type must be equity");
  });
});
