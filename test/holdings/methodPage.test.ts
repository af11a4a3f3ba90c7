/** The tables of docs/methods/portfolio.md that are marked as executed. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Holding, PortfolioOptions, TemperatureRange } from "../../src/contract/wireTypes.ts";
import { alignPortfolio, roundPortfolio } from "../../src/holdings/alignPortfolio.ts";

const PAGE = readFileSync(new URL("../../docs/methods/portfolio.md", import.meta.url), "utf8");
const MILLION = 1e6;

type Row = Readonly<Record<string, string>>;

/** Returns the rows of the table after a mark, by the names of its columns. */
function rowsOf(mark: string): readonly Row[] {
  const start = PAGE.indexOf(`<!-- executed: ${mark} -->`);
  if (start < 0) throw new Error(`The page has no mark ${mark}.`);
  const table = PAGE.slice(PAGE.indexOf("|", start), PAGE.indexOf("\n\n", PAGE.indexOf("|", start)));
  const [header = [], _rule, ...rows] = table.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return rows.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ""])));
}

const HOLDINGS = rowsOf("holdings").map((row): Holding => {
  const number = (name: string): number => Number(row[name]);
  const money = (name: string): number => MILLION * number(name);
  return {
    id: row["id"] ?? "",
    value: money("value"),
    temperature: { s1s2s3: { t: number("t"), low: number("low"), high: number("high") } },
    scope1: number("scope1"),
    scope3: number("scope3"),
    market_cap: money("market_cap"),
    enterprise_value: money("enterprise_value"),
    cash: money("cash"),
    total_assets: money("total_assets"),
    revenue: money("revenue"),
    data_quality: { s1s2: number("data_quality") },
  };
});

async function answerOf(holdings: readonly Holding[], options: PortfolioOptions = {}) {
  const answer = roundPortfolio(await alignPortfolio(holdings, options));
  const [result] = answer.results;
  if (result === undefined) throw new Error("There is no result.");
  return { ...answer, result };
}

const rangeText = (range: TemperatureRange | undefined): string => `${range?.low} to ${range?.high}`;

describe("the method page", () => {
  test.each(rowsOf("methods"))("shows the figures of $method", async (row) => {
    const { result } = await answerOf(HOLDINGS, { methods: [row["method"] as "WATS"] });
    const [a, b] = result.contributions ?? [];
    expect({
      method: result.method,
      "weight of A": String(a?.weight),
      "weight of B": String(b?.weight),
      temperature: String(result.temperature),
      range: rangeText(result.range),
      independent: rangeText(result.range_independent),
    }).toEqual(row);
  });

  test.each(rowsOf("missing"))("shows the figures where $case", async (row) => {
    const isMissing = row["case"]?.startsWith("B has none") === true;
    const holdings = HOLDINGS.map((holding) =>
      isMissing && holding.id === "B" ? { ...holding, temperature: {} } : holding,
    );
    const options = row["case"]?.endsWith("default 3.2") === true ? { default_score: 3.2 } : {};
    const { result } = await answerOf(holdings, options);
    expect({
      case: row["case"],
      temperature: String(result.temperature),
      "coverage of value": String(result.coverage.value),
      bounds: rangeText(result.bounds),
      "default share": String(result.default_share ?? ""),
      uncovered: result.uncovered.map(({ id }) => id).join(", "),
    }).toEqual(row);
  });

  test("shows the financed emissions", async () => {
    const { financed } = await answerOf(HOLDINGS);
    const text = (value: number | null): string => (value === null ? "" : String(Number(value.toPrecision(12))));
    const figures = [
      financed.financed_emissions,
      financed.intensity_per_million,
      financed.data_quality,
      { s1s2: financed.waci_per_million, s3: null },
    ].map(({ s1s2, s3 }) => [text(s1s2), text(s3)]);
    expect(figures).toEqual(rowsOf("financed").map((row) => [row["scopes 1 and 2"], row["scope 3"]]));
  });
});
