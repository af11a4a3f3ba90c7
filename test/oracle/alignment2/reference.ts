/**
 * Reference implementation of temperature alignment, method version 2, written from the method text alone. Slow on
 * purpose: one function per formula, no table precomputed. This file holds the parsed reference tables and the
 * loader; the formulas are in the files beside it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const PATHWAYS = ["power", "energy_supply", "industry", "transport", "buildings", "economy"] as const;
export type Pathway = (typeof PATHWAYS)[number];

/** One figure per anchor, from Net Zero 2050 (first) to Current Policies (last). */
export type PerAnchor = readonly [number, number, number, number];
/** Percentile of the climate response. */
export type Percentile = "p10" | "p50" | "p90";

/** Warming of one percentile, °C above 1850-1900. */
export interface Warming {
  /** T_s, in 2100. */
  readonly anchors: PerAnchor;
  /** N, in 2025. */
  readonly now: number;
  /** F, the lower bound. */
  readonly floor: number;
}

/** Values at ascending years. */
export interface Series {
  readonly years: readonly number[];
  readonly values: readonly number[];
}

export interface Benchmark {
  readonly scenarios: readonly [string, string, string, string];
  readonly warming: Readonly<Record<Percentile, Warming>>;
  /** Emissions index of each pathway by anchor, 2025 = 1. */
  readonly pathways: Readonly<Record<Pathway, readonly [Series, Series, Series, Series]>>;
}

/** Row of the country table with the columns that the method reads. */
interface Country {
  readonly iso3: string;
  readonly iso2: string;
  readonly name: string;
  readonly officialName: string;
  readonly aliases: readonly string[];
  readonly region: string;
}

/** Row of the industry table; factors in t CO2e per million USD of 2022 by scope. */
export interface Industry {
  readonly name: string;
  readonly alias: string;
  readonly factors: readonly [number, number, number];
}

/** Row of the table "Industry and sector to pathway" of the method text. Keys may contain words that end with `*`. */
interface IndustryKeys {
  readonly row: number;
  readonly pathway: Pathway;
  readonly keys: readonly string[];
}

export interface Reference {
  readonly benchmark: Benchmark;
  /** GDP index by ISO alpha-3 code or aggregate id. */
  readonly growth: ReadonlyMap<string, Series>;
  readonly countries: readonly Country[];
  /** Further names of countries in file order. */
  readonly countryNames: readonly { readonly iso3: string; readonly name: string }[];
  readonly industries: readonly Industry[];
  readonly industryKeys: readonly IndustryKeys[];
  /** US consumer prices by year. */
  readonly consumerPrices: ReadonlyMap<number, number>;
}

/**
 * Reads the tables from a folder that holds alignment-pathways.json, country-growth.csv, country-names.csv,
 * countries.csv and industries.csv. `methodText` is the path of the method's Markdown, which defines the industry keys.
 */
export function readReference(folder: string, methodText: string): Reference {
  const text = (name: string): string => readFileSync(join(folder, name), "utf8");
  const document = JSON.parse(text("alignment-pathways.json")) as PathwaysDocument;
  return {
    benchmark: benchmarkOf(document),
    growth: growthOf(parseCsv(text("country-growth.csv"))),
    countries: parseCsv(text("countries.csv")).map(countryOf),
    countryNames: parseCsv(text("country-names.csv")).map((row) => ({
      iso3: cell(row, "iso3"),
      name: cell(row, "name"),
    })),
    industries: parseCsv(text("industries.csv")).map(industryOf),
    industryKeys: industryKeysOf(readFileSync(methodText, "utf8")),
    consumerPrices: new Map(
      Object.entries(document.us_cpi_u_annual_average).map(([year, price]) => [Number(year), price]),
    ),
  };
}

interface PathwaysDocument {
  readonly anchors: readonly {
    readonly scenario: string;
    readonly temperature_2100_c: number;
    readonly temperature_2100_p10_c: number;
    readonly temperature_2100_p90_c: number;
  }[];
  readonly pathways: Readonly<Record<Pathway, { readonly years: number[]; readonly index: Record<string, number[]> }>>;
  readonly gsat_2025_p10_c: number;
  readonly gsat_2025_p50_c: number;
  readonly gsat_2025_p90_c: number;
  readonly floor_c: Readonly<Record<Percentile, number>>;
  readonly us_cpi_u_annual_average: Readonly<Record<string, number>>;
}

function benchmarkOf(document: PathwaysDocument): Benchmark {
  const scenarios = fourOf(document.anchors.map(({ scenario }) => scenario));
  return {
    scenarios,
    warming: {
      p10: {
        anchors: fourOf(document.anchors.map((anchor) => anchor.temperature_2100_p10_c)),
        now: document.gsat_2025_p10_c,
        floor: document.floor_c.p10,
      },
      p50: {
        anchors: fourOf(document.anchors.map((anchor) => anchor.temperature_2100_c)),
        now: document.gsat_2025_p50_c,
        floor: document.floor_c.p50,
      },
      p90: {
        anchors: fourOf(document.anchors.map((anchor) => anchor.temperature_2100_p90_c)),
        now: document.gsat_2025_p90_c,
        floor: document.floor_c.p90,
      },
    },
    pathways: Object.fromEntries(
      PATHWAYS.map((pathway) => {
        const { years, index } = document.pathways[pathway];
        return [pathway, fourOf(scenarios.map((scenario) => ({ years, values: index[scenario] ?? [] })))];
      }),
    ) as unknown as Benchmark["pathways"],
  };
}

function growthOf(rows: readonly CsvRow[]): ReadonlyMap<string, Series> {
  return new Map(
    rows.map((row) => {
      const columns = [...row.keys()].filter((name) => name.startsWith("gdp_ppp_index_"));
      const years = columns.map((name) => Number(name.slice("gdp_ppp_index_".length)));
      return [cell(row, "id"), { years, values: columns.map((name) => Number(cell(row, name))) }];
    }),
  );
}

function countryOf(row: CsvRow): Country {
  return {
    iso3: cell(row, "iso3"),
    iso2: cell(row, "iso2"),
    name: cell(row, "name"),
    officialName: cell(row, "official_name"),
    aliases: cell(row, "aliases")
      .split("|")
      .filter((alias) => alias !== ""),
    region: cell(row, "ngfs_r5"),
  };
}

function industryOf(row: CsvRow): Industry {
  const scope3 = Number(cell(row, "s3up_t_per_musd")) + Number(cell(row, "s3down_t_per_musd"));
  return {
    name: cell(row, "name"),
    alias: cell(row, "alias"),
    factors: [Number(cell(row, "s1_t_per_musd")), Number(cell(row, "s2_t_per_musd")), scope3],
  };
}

/** Parses the lines "| row | `pathway` | key, key, ... |" of the method text. */
function industryKeysOf(markdown: string): readonly IndustryKeys[] {
  return [...markdown.matchAll(/^\| (\d+) \| `(\w+)` \| (.+) \|$/gm)].flatMap(([, row, name, keys = ""]) => {
    const pathway = PATHWAYS.find((candidate) => candidate === name);
    return pathway === undefined ? [] : [{ row: Number(row), pathway, keys: keys.split(",").map((key) => key.trim()) }];
  });
}

type CsvRow = ReadonlyMap<string, string>;

function cell(row: CsvRow, column: string): string {
  const value = row.get(column);
  if (value === undefined) throw new Error(`column ${column} is missing`);
  return value;
}

/** Parses CSV with a header line, quoted fields and doubled quotes. */
function parseCsv(text: string): readonly CsvRow[] {
  const [header = [], ...rows] = [...text.replace(/^\uFEFF/, "").matchAll(/(?:"(?:[^"]|"")*"|[^\n"])+/g)].map(
    ([line]) => fieldsOf(line.replace(/\r$/, "")),
  );
  return rows.map((fields) => new Map(header.map((column, index) => [column, fields[index] ?? ""])));
}

function fieldsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain,
  );
}

function fourOf<T>(items: readonly T[]): readonly [T, T, T, T] {
  if (items.length !== 4) throw new Error(`a benchmark has four anchors (got ${items.length})`);
  return items as unknown as readonly [T, T, T, T];
}
