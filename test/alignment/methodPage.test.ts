/** The tables of docs/methods/alignment.md that are marked as executed. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { roundTemperatures } from "../../src/alignment/answer.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { ALIGNMENT_FLAGS } from "../../src/contract/names.ts";
import type { AlignmentBasis, Entity } from "../../src/contract/wireTypes.ts";

const PAGE = readFileSync(new URL("../../docs/methods/alignment.md", import.meta.url), "utf8");

type Cells = readonly string[];

/** Returns the cells of the header and of each row of the first table after a text. */
function tableAfter(text: string): { readonly header: Cells; readonly rows: readonly Cells[] } {
  const start = PAGE.indexOf(text);
  if (start < 0) throw new Error(`The page does not contain "${text}".`);
  const lines = PAGE.slice(start + text.length).split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  const length = lines.slice(first).findIndex((line) => !line.startsWith("|"));
  const [header = [], _rule, ...rows] = lines.slice(first, first + length).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return { header, rows };
}

/** Parses years with emissions of scope 1, such as "2030: 50, 2040: 20". */
function recordsOf(text: string): Entity["projected_emissions"] {
  return text.split(", ").map((record) => {
    const [year, scope1] = record.split(": ").map(Number);
    return { year: year ?? NaN, emissions: { scope1: scope1 ?? NaN } };
  });
}

function entityOf([names = "", baselineYear = "", emissions = ""]: readonly string[]): Entity {
  const [industry = "", country] = names.split("; ");
  return {
    entity_info: { name: names, asset_type: "equity", industry, ...(country === undefined ? {} : { country }) },
    data: [{ year: Number(baselineYear), emissions: { scope1: 100 } }],
    projected_emissions: recordsOf(emissions),
  };
}

describe("the method page", () => {
  const { rows: examples } = tableAfter("<!-- executed: examples -->");

  test.each(examples)("shows the temperature of %s, %s, %s, %s", async (...cells) => {
    const [, , , basis = "", temperature, range, flags] = cells;
    const answer = await alignTemperature([entityOf(cells)], { basis: basis as AlignmentBasis });
    const year = roundTemperatures(answer).results[0]?.data.at(-1);
    const text = (value: number | undefined): string => (value ?? NaN).toFixed(2);
    expect([
      text(year?.temperature_alignment ?? undefined),
      `${text(year?.range?.low)} to ${text(year?.range?.high)}`,
      (year?.flags ?? []).map((flag) => `\`${flag}\``).join(", "),
    ]).toEqual([temperature, range, flags]);
  });

  test("has examples of every basis", () => {
    expect(new Set(examples.map(([, , , basis]) => basis))).toEqual(new Set(["intensity", "emissions", "cumulative"]));
  });

  const flatEmissions = tableAfter("<!-- executed: growth -->");

  test.each(flatEmissions.rows)("shows the temperatures of flat emissions in %s", async (...cells) => {
    const [, ...countries] = flatEmissions.header;
    const [industry = "", ...values] = cells;
    expect(values).toHaveLength(countries.length);
    for (const [i, country] of countries.entries()) {
      const names = country === "no country" ? industry : `${industry}; ${country}`;
      const entity = entityOf([names, "2023", "2030: 100, 2040: 100, 2050: 100"]);
      const { results } = roundTemperatures(await alignTemperature([entity]));
      const temperatures = results[0]?.data.map(({ temperature_alignment }) => temperature_alignment?.toFixed(2));
      expect(temperatures?.join(" / "), country).toBe(values[i]);
    }
  });

  test("lists the anchors of the benchmark", () => {
    const rows = tableAfter("## Benchmark").rows.slice(0, 4);
    expect(rows.map(([, scenario, ...figures]) => [scenario, ...figures.map(Number)])).toEqual(
      NGFS_PHASE5.anchors.map((anchor) => [
        anchor.scenario,
        anchor.temperature_2100_c,
        anchor.temperature_2100_p10_c,
        anchor.temperature_2100_p90_c,
      ]),
    );
  });

  test("lists all flags in their order", () => {
    const { rows } = tableAfter("lists without flags are absent.");
    expect(rows.map(([flag]) => flag)).toEqual(ALIGNMENT_FLAGS.map((flag) => `\`${flag}\``));
  });
});
