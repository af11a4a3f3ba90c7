/** The reference tables that the company method reads, parsed from CSV. Members carry the names of the columns. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";

export type Row = Readonly<Record<string, string>>;

type Archetype = string;
type Scaling = "economy" | "grid" | "price_level" | "none";
type ProductChannel = "fuel_world" | "fuel" | "durable" | "none";

/** Columns with numbers that sections 1 to 6 name. */
export const INDUSTRY_NUMBERS = [
  "s1_t_per_musd",
  "s2_t_per_musd",
  "s3up_t_per_musd",
  "s3down_t_per_musd",
  "theta_s1",
  "s1_range",
  "s2_range",
  "s3_range",
  "va_share",
  "pass_through",
  "pass_through_long",
  "abatement_backstop_usd_t",
  "abatement_years",
  "abatement_max_share",
  "demand_elasticity",
  "tangible_share",
  "heat_sensitivity",
  "asset_vol",
  "ebitda_margin",
  "assets_to_revenue",
  "debt_to_assets",
] as const;

export interface Industry extends Readonly<Record<(typeof INDUSTRY_NUMBERS)[number], number>> {
  readonly id: string;
  readonly name: string;
  readonly alias: string;
  readonly archetype: Archetype;
  readonly s1_scaling: Scaling;
  readonly product_channel: ProductChannel;
  readonly factor_quality: string;
}

/** Columns with numbers that sections 1 to 6 name, and that have no gaps. */
export const COUNTRY_NUMBERS = [
  "ei_t_per_musd_nominal_2022",
  "ci_ratio_us",
  "price_level_rel_us",
  "grid_ratio_us",
  "warming_ratio",
  "t0_c",
] as const;

export interface Country extends Readonly<Record<(typeof COUNTRY_NUMBERS)[number], number>> {
  readonly iso3: string;
  readonly iso2: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly ngfs_r5: string;
  readonly tier: "A" | "B" | "C";
  /** Used only to weight damages by GDP; null where the table has none. */
  readonly gdp_usd: number | null;
  readonly fallbacks: readonly string[];
  /** Average yearly loss as a fraction of capital; null where the table has none. */
  readonly aal_flood: number | null;
  readonly aal_wind: number | null;
  readonly aal_surge: number | null;
}

export interface Scenario {
  readonly scenario_id: string;
  readonly family: string;
  readonly vintage: string;
  readonly narrative: string;
  readonly price_path: string;
  readonly temperature_path: string;
}

/** A value of a table for one year. */
export interface YearValue {
  readonly year: number;
  readonly value: number;
}

export type Quantile = "price_usd2022" | "p25_usd2022" | "p75_usd2022";

/** Integrated assessment model, or the ensemble of AR6. */
export type PriceModel = "remind" | "messageix" | "gcam" | "ar6";

/** Prices of one path, model and region, ascending by year. */
export interface PriceSeries {
  readonly path: string;
  readonly model: PriceModel;
  readonly region: string;
  readonly quantiles: Readonly<Record<Quantile, readonly YearValue[]>>;
  /** Some prices are not published but constructed (column `provenance`). */
  readonly isConstructed: boolean;
}

export interface Tables {
  readonly industries: readonly Industry[];
  readonly countries: readonly Country[];
  /** Further names of countries, for matching. */
  readonly countryNames: readonly { readonly iso3: string; readonly name: string }[];
  readonly scenarios: readonly Scenario[];
  /** By `path|model|region`. */
  readonly prices: ReadonlyMap<string, PriceSeries>;
  /** Global warming by temperature path. */
  readonly temperatures: ReadonlyMap<string, readonly YearValue[]>;
  /** `parameters.csv`: value by symbol, as text. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Reads the tables from a folder of CSV files named as in the method's text. */
export function loadTables(folder: string): Tables {
  return tablesFrom((table) => parse(readFileSync(join(folder, `${table}.csv`), "utf8"), { columns: true, bom: true }));
}

/** Builds the tables from the rows of each CSV file; `rowsOf` takes a file name without `.csv`. */
export function tablesFrom(rowsOf: (table: string) => readonly Row[]): Tables {
  return {
    industries: rowsOf("industries").map(industryFrom),
    countries: rowsOf("countries").map(countryFrom),
    countryNames: rowsOf("country-names").map((row) => ({ iso3: text(row, "iso3"), name: text(row, "name") })),
    scenarios: rowsOf("scenarios").map((row) => ({
      scenario_id: text(row, "scenario_id"),
      family: text(row, "family"),
      vintage: text(row, "vintage"),
      narrative: text(row, "narrative"),
      price_path: text(row, "price_path"),
      temperature_path: text(row, "temperature_path"),
    })),
    prices: pricesFrom(rowsOf("carbon_prices")),
    temperatures: temperaturesFrom(rowsOf("temperatures")),
    parameters: new Map(rowsOf("parameters").map((row) => [text(row, "symbol"), text(row, "value")])),
  };
}

function text(row: Row, column: string): string {
  const value = row[column];
  if (value === undefined) throw new Error(`missing column ${column}`);
  return value;
}

/** NaN where the cell is empty (a tier C country). */
function number(row: Row, column: string): number {
  const value = text(row, column);
  return value === "" ? Number.NaN : Number(value);
}

function nullableNumber(row: Row, column: string): number | null {
  return text(row, column) === "" ? null : number(row, column);
}

function numbers<const Column extends string>(row: Row, columns: readonly Column[]): Record<Column, number> {
  return Object.fromEntries(columns.map((column) => [column, number(row, column)])) as Record<Column, number>;
}

function industryFrom(row: Row): Industry {
  return {
    ...numbers(row, INDUSTRY_NUMBERS),
    id: text(row, "id"),
    name: text(row, "name"),
    alias: text(row, "alias"),
    archetype: text(row, "archetype"),
    s1_scaling: text(row, "s1_scaling") as Scaling,
    product_channel: text(row, "product_channel") as ProductChannel,
    factor_quality: text(row, "factor_quality"),
  };
}

function countryFrom(row: Row): Country {
  return {
    ...numbers(row, COUNTRY_NUMBERS),
    iso3: text(row, "iso3"),
    iso2: text(row, "iso2"),
    name: text(row, "name"),
    aliases: listOf(text(row, "aliases"), "|"),
    ngfs_r5: text(row, "ngfs_r5"),
    tier: text(row, "tier") as Country["tier"],
    gdp_usd: nullableNumber(row, "gdp_usd"),
    fallbacks: listOf(text(row, "fallbacks"), ";"),
    aal_flood: nullableNumber(row, "aal_flood"),
    aal_wind: nullableNumber(row, "aal_wind"),
    aal_surge: nullableNumber(row, "aal_surge"),
  };
}

function listOf(cell: string, separator: string): string[] {
  return cell
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function pricesFrom(rows: readonly Row[]): Map<string, PriceSeries> {
  const groups = Map.groupBy(rows, (row) => seriesKey(text(row, "scenario_id"), modelFrom(row), text(row, "region")));
  const seriesOf = (group: readonly Row[]): PriceSeries => {
    const first = group[0] as Row;
    const quantile = (column: Quantile): YearValue[] =>
      ascending(
        group
          .filter((row) => text(row, column) !== "")
          .map((row) => ({ year: number(row, "year"), value: number(row, column) })),
      );
    return {
      path: text(first, "scenario_id"),
      model: modelFrom(first),
      region: text(first, "region"),
      quantiles: {
        price_usd2022: quantile("price_usd2022"),
        p25_usd2022: quantile("p25_usd2022"),
        p75_usd2022: quantile("p75_usd2022"),
      },
      isConstructed: group.some((row) => text(row, "provenance").startsWith("NOT PUBLISHED")),
    };
  };
  return new Map([...groups].map(([key, group]) => [key, seriesOf(group)]));
}

function temperaturesFrom(rows: readonly Row[]): Map<string, readonly YearValue[]> {
  const groups = Map.groupBy(rows, (row) => text(row, "scenario_id"));
  return new Map(
    [...groups].map(([path, group]) => [
      path,
      ascending(group.map((row) => ({ year: number(row, "year"), value: number(row, "gsat_c_vs_1850_1900") }))),
    ]),
  );
}

/** The short name of the model: "REMIND-MAgPIE 3.3-4.8" is remind. */
function modelFrom(row: Row): PriceModel {
  const name = text(row, "model").toLowerCase();
  const found = (["remind", "messageix", "gcam", "ar6"] as const).find((model) => name.startsWith(model));
  if (found === undefined) throw new Error(`unknown model ${name}`);
  return found;
}

function ascending(values: readonly YearValue[]): YearValue[] {
  return values.toSorted((a, b) => a.year - b.year);
}

export function seriesKey(path: string, model: PriceModel, region: string): string {
  return `${path}|${model}|${region}`;
}

/** Section 0: linear between the years of a table; the first or last value outside them. */
export function interpolate(values: readonly YearValue[], year: number): number {
  const first = values[0] as YearValue;
  const last = values.at(-1) as YearValue;
  if (year <= first.year) return first.value;
  if (year >= last.year) return last.value;
  const after = values.findIndex((point) => point.year >= year);
  const right = values[after] as YearValue;
  const left = values[after - 1] as YearValue;
  return left.value + ((right.value - left.value) * (year - left.year)) / (right.year - left.year);
}

/** clamp(x, a, b) = max(a, min(b, x)). */
export function clamp(x: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, x));
}
