import Table from "cli-table3";
import { Command, Option } from "commander";
import { Fault } from "../errors.ts";
import type { AnalysisYearResult, Bound, HazardResult } from "../hazard/result.ts";
import { HAZARDS } from "../hazard/hazards.ts";
import { parseHazardParameters } from "../hazard/query.ts";
import { openAtlas } from "../openAtlas.ts";

/** The options as commander gives them: text, checked by the same rules as the parameters of the HTTP service. */
interface QueryOptions {
  readonly atlas?: string;
  readonly json?: boolean;
  readonly lat: string;
  readonly lon: string;
  readonly hazards: string;
  readonly years: string;
  readonly scenarios: string;
  readonly radius?: string;
  readonly method?: string;
  readonly totalHazard?: boolean;
  readonly anthropogenic?: boolean;
  readonly detail?: boolean;
}

const WHY: Readonly<Record<string, string>> = {
  outside_coverage: "outside the atlas",
  no_data: "no data in the source",
  layer_missing: "no such layer in the atlas",
};

/** `isotherm query`: one location, as a table or as JSON. */
export function queryCommand(): Command {
  return new Command("query")
    .description("hazards at one location, or within a radius of it")
    .addOption(
      new Option("--atlas <folder>", 'the atlas: a folder, or "demo"').env("ISOTHERM_ATLAS").makeOptionMandatory(),
    )
    .requiredOption("--lat <degrees>", "latitude, -90 to 90")
    .requiredOption("--lon <degrees>", "longitude, -180 to 180")
    .requiredOption("--hazards <list>", `separated by commas: ${Object.keys(HAZARDS).join(", ")}`)
    .requiredOption("--years <list>", "analysis years, separated by commas")
    .requiredOption("--scenarios <list>", "baseline, rcp2p6, rcp4p5, rcp6p0, rcp8p5")
    .option("--radius <km>", "0 to 100: all cells within this geodesic distance instead of the one at the location")
    .option("--method <name>", "how a radius is summed up: max (default) or mean")
    .option("--total-hazard", "add total_hazard, intensity x probability")
    .option("--anthropogenic", "the change since the baseline of 1980 instead of the value")
    .option("--detail", "with cells, source and rules of every number (JSON)")
    .option("--json", "the answer as the HTTP service gives it")
    .addHelpText(
      "after",
      "\nExample:\n  isotherm query --atlas demo --lat 11.6 --lon 43.1 --hazards riverine_floods,cyclones \\\n" +
        "    --years 2030,2050 --scenarios rcp4p5 --radius 10",
    )
    .action(async (options: QueryOptions) => {
      const query = parseHazardParameters(parametersOf(options));
      if (options.atlas === undefined) {
        throw new Fault("configuration_invalid", "Which atlas? Give --atlas or set ISOTHERM_ATLAS.");
      }
      const atlas = await openAtlas(options.atlas);
      try {
        const result = await atlas.hazardRisk(query);
        const isJson = options.json === true || options.detail === true;
        // The answer's own form has no place for it, and a pipe must get nothing else.
        if (isJson && atlas.synthetic) process.stderr.write(`SYNTHETIC: invented numbers (atlas ${atlas.release})\n`);
        process.stdout.write(isJson ? `${JSON.stringify(result, undefined, 2)}\n` : describe(result, atlas));
      } finally {
        await atlas.close();
      }
    });
}

function parametersOf(options: QueryOptions): string {
  const parameters: Record<string, string | undefined> = {
    latitude: options.lat,
    longitude: options.lon,
    hazards: options.hazards,
    analysis_years: options.years,
    scenarios: options.scenarios,
    radius: options.radius,
    aggregation_method: options.method,
    total_hazard: options.totalHazard === true ? "true" : undefined,
    anthropogenic: options.anthropogenic === true ? "true" : undefined,
    detail: options.detail === true ? "true" : undefined,
  };
  return Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join("&");
}

function describe(result: HazardResult, atlas: { readonly release: string; readonly synthetic: boolean }): string {
  const { location, aggregation } = result;
  const where = `latitude ${location.latitude}, longitude ${location.longitude}`;
  const how = aggregation === undefined ? "the cell there" : `${aggregation.method} within ${aggregation.radius_km} km`;
  const notice = atlas.synthetic ? "  SYNTHETIC: invented numbers\n" : "";
  const tables = result.results.map(({ hazard, scenarios }) => {
    const rows = scenarios.flatMap(({ scenario, analysis_years }) =>
      analysis_years.map((year) => ({ scenario, ...year })),
    );
    const metrics = Object.keys(rows[0]?.metrics ?? {});
    const units = new Map<string, string>(HAZARDS[hazard].metrics.map(({ metric, unit }) => [metric, unit]));
    const table = new Table({
      head: ["scenario", "year", ...metrics.map((metric) => heading(metric, units.get(metric)))],
      colAligns: ["left", "right", ...metrics.map(() => "right" as const)],
      style: { head: [], border: [], compact: true },
    });
    for (const row of rows) {
      table.push([row.scenario, String(row.analysis_year), ...metrics.map((metric) => cellOf(row, metric))]);
    }
    return `\n${hazard}\n${table.toString()}\n`;
  });
  return `${where}: ${how} (atlas ${atlas.release})\n${notice}${tables.join("")}${legendOf(result)}`;
}

function heading(metric: string, unit: string | undefined): string {
  return unit === undefined || unit === "1" ? metric : `${metric} [${unit}]`;
}

function cellOf(row: AnalysisYearResult, metric: string): string {
  const value = (row.metrics as Readonly<Record<string, number | null | undefined>>)[metric];
  if (value === null || value === undefined) return `- (${WHY[row.no_data ?? ""] ?? row.no_data ?? "missing"})`;
  const bound = (row.bounds as Readonly<Record<string, Bound | undefined>> | undefined)?.[metric];
  if (bound === undefined) return rounded(value);
  return bound.bound === "indeterminate" ? `${rounded(value)} ?` : `${SIGNS[bound.bound]} ${rounded(bound.limit)}`;
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(6)));
}

const SIGNS = { at_least: ">=", at_most: "<=" } as const;

/** Explains the signs of bounds that the tables contain. */
function legendOf({ results }: HazardResult): string {
  const years = results.flatMap(({ scenarios }) => scenarios.flatMap(({ analysis_years }) => analysis_years));
  const kinds = new Set(years.flatMap(({ bounds }) => (bounds === undefined ? [] : bounds.probability.bound)));
  const lines = [
    ...(kinds.has("at_least") || kinds.has("at_most")
      ? [">= and <= mark bounds: the return periods of the source maps reach no further."]
      : []),
    ...(kinds.has("indeterminate") ? ["? marks a change of two bounds: it may be more or less."] : []),
  ];
  return lines.map((line) => `\n${line}\n`).join("");
}
