import Table from "cli-table3";
import { Command, Option } from "commander";
import { Fault } from "../errors.ts";
import { HAZARDS } from "../hazard/hazards.ts";
import { parseHazardParameters } from "../hazard/query.ts";
import { openAtlas } from "../openAtlas.ts";
import type { AnalysisYearResult, Bound, HazardResult } from "../contract/wireTypes.ts";

/** Options as text from commander, validated by the same rules as the HTTP parameters. */
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

const NO_DATA_TEXTS: Readonly<Record<string, string>> = {
  outside_coverage: "outside the atlas",
  no_data: "no data in the source",
  layer_missing: "no such layer in the atlas",
};

/** `isotherm query`: hazards at one location, as a table or as JSON. */
export function queryCommand(): Command {
  return new Command("query")
    .description("query the hazards at one location, or within a radius of it")
    .addOption(
      new Option("--atlas <folder>", 'atlas: a folder, an http(s) address, or "demo"')
        .env("ISOTHERM_ATLAS")
        .makeOptionMandatory(),
    )
    .requiredOption("--lat <degrees>", "latitude, -90 to 90")
    .requiredOption("--lon <degrees>", "longitude, -180 to 180")
    .requiredOption("--hazards <list>", `hazards, separated by commas: ${Object.keys(HAZARDS).join(", ")}`)
    .requiredOption("--years <list>", "analysis years, separated by commas")
    .requiredOption("--scenarios <list>", "scenarios, separated by commas: baseline, rcp2p6, rcp4p5, rcp6p0, rcp8p5")
    .option("--radius <km>", "aggregate all cells within this geodesic distance, 0 to 100, instead of the single cell")
    .option("--method <name>", "aggregation within the radius: max (default) or mean")
    .option("--total-hazard", "add total_hazard, intensity x probability")
    .option("--anthropogenic", "report the change since the 1980 baseline instead of the value")
    .option("--detail", "include the cells, source and rules of every value (JSON)")
    .option("--json", "print JSON as the HTTP service returns it")
    .addHelpText(
      "after",
      "\nExample:\n  isotherm query --atlas demo --lat 11.6 --lon 43.1 --hazards riverine_floods,cyclones \\\n" +
        "    --years 2030,2050 --scenarios rcp4p5 --radius 10",
    )
    .action(async (options: QueryOptions) => {
      const query = parseHazardParameters(parametersOf(options));
      if (options.atlas === undefined) {
        throw new Fault("configuration_invalid", "no atlas given; set --atlas or ISOTHERM_ATLAS.");
      }
      const atlas = await openAtlas(options.atlas);
      try {
        const result = await atlas.hazardRisk(query);
        const isJson = options.json === true || options.detail === true;
        // The JSON document has no member for this notice, and standard output must contain only the document.
        if (isJson && atlas.synthetic) process.stderr.write(`SYNTHETIC: not real data (atlas ${atlas.release})\n`);
        process.stdout.write(isJson ? `${JSON.stringify(result, undefined, 2)}\n` : formatResult(result, atlas));
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

function formatResult(result: HazardResult, atlas: { readonly release: string; readonly synthetic: boolean }): string {
  const { location, aggregation } = result;
  const locationText = `latitude ${location.latitude}, longitude ${location.longitude}`;
  const selection =
    aggregation === undefined ? "single cell" : `${aggregation.method} within ${aggregation.radius_km} km`;
  const notice = atlas.synthetic ? "  SYNTHETIC: not real data\n" : "";
  const tables = result.results.map(({ hazard, scenarios }) => {
    const rows = scenarios.flatMap(({ scenario, analysis_years }) =>
      analysis_years.map((year) => ({ scenario, ...year })),
    );
    const metrics = Object.keys(rows[0]?.metrics ?? {});
    const units = new Map<string, string>(HAZARDS[hazard].metrics.map(({ metric, unit }) => [metric, unit]));
    const table = new Table({
      head: ["scenario", "year", ...metrics.map((metric) => metricHeading(metric, units.get(metric)))],
      colAligns: ["left", "right", ...metrics.map(() => "right" as const)],
      style: { head: [], border: [], compact: true },
    });
    for (const row of rows) {
      table.push([row.scenario, String(row.analysis_year), ...metrics.map((metric) => formatMetric(row, metric))]);
    }
    return `\n${hazard}\n${table.toString()}\n`;
  });
  return `${locationText}: ${selection} (atlas ${atlas.release})\n${notice}${tables.join("")}${formatLegend(result)}`;
}

function metricHeading(metric: string, unit: string | undefined): string {
  return unit === undefined || unit === "1" ? metric : `${metric} [${unit}]`;
}

function formatMetric(row: AnalysisYearResult, metric: string): string {
  const value = (row.metrics as Readonly<Record<string, number | null | undefined>>)[metric];
  if (value === null || value === undefined)
    return `- (${NO_DATA_TEXTS[row.no_data ?? ""] ?? row.no_data ?? "missing"})`;
  const bound = (row.bounds as Readonly<Record<string, Bound | undefined>> | undefined)?.[metric];
  if (bound === undefined) return formatNumber(value);
  return bound.bound === "indeterminate"
    ? `${formatNumber(value)} ?`
    : `${BOUND_SIGNS[bound.bound]} ${formatNumber(bound.limit)}`;
}

function formatNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}

const BOUND_SIGNS = { at_least: ">=", at_most: "<=" } as const;

/** Explains the bound signs that occur in the tables. */
function formatLegend({ results }: HazardResult): string {
  const years = results.flatMap(({ scenarios }) => scenarios.flatMap(({ analysis_years }) => analysis_years));
  const boundKinds = new Set(years.flatMap(({ bounds }) => (bounds === undefined ? [] : bounds.probability.bound)));
  const lines = [
    ...(boundKinds.has("at_least") || boundKinds.has("at_most")
      ? [">= and <= mark bounds: the source maps have no return periods beyond them."]
      : []),
    ...(boundKinds.has("indeterminate")
      ? ["? marks the difference of two bounds: the actual change may be larger or smaller."]
      : []),
  ];
  return lines.map((line) => `\n${line}\n`).join("");
}
