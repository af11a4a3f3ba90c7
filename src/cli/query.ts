import { Command, Option } from "commander";
import { Fault, type FaultItem } from "../errors.ts";
import type { Atlas } from "../hazard/answer.ts";
import { parseCurveParameters } from "../hazard/curveQuery.ts";
import { HAZARDS } from "../hazard/hazards.ts";
import { parseHazardParameters } from "../hazard/query.ts";
import { openAtlas } from "../openAtlas.ts";
import { parseNumber } from "../validation/parameters.ts";
import { formatCurves, formatMetrics } from "./queryTables.ts";
import { indentedJson, printError } from "./terminal.ts";

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
  readonly curve?: boolean;
  readonly threshold?: string;
  readonly returnPeriods?: string;
  readonly floor?: string;
  readonly damageCurve?: string;
}

/** Options that only `--curve` accepts, by the member of the query that they set. */
const CURVE_OPTIONS = {
  threshold: { name: "threshold", option: "--threshold" },
  return_periods: { name: "returnPeriods", option: "--return-periods" },
  floor: { name: "floor", option: "--floor" },
  damage_curve: { name: "damageCurve", option: "--damage-curve" },
} as const;

/** `isotherm query`: hazards or return-period curves at one location, as tables or as JSON. */
export function queryCommand(): Command {
  return new Command("query")
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
    .option("--curve", "report the value at each return period instead of the metrics; requires one hazard")
    .option("--threshold <value>", "with --curve: add the annual probability of reaching this value, in m or m/s")
    .option("--return-periods <list>", "with --curve: add the values at these return periods, in years")
    .option("--floor <value>", "with --curve: add the expected annual value above this value, in m or m/s")
    .option(
      "--damage-curve <points>",
      "with --curve: add the expected annual damage; points as value:share, such as 0:0,1:0.4,3:0.8",
    )
    .option("--detail", "include the cells, source and rules of every value (JSON)")
    .option("--json", "print JSON as the HTTP service returns it")
    .addHelpText(
      "after",
      "\nExample:\n  isotherm query --atlas demo --lat 11.6 --lon 43.1 --hazards riverine_floods,cyclones \\\n" +
        "    --years 2030,2050 --scenarios rcp4p5 --radius 10\n" +
        "  isotherm query --atlas data/atlas --lat 11.6 --lon 43.1 --hazards riverine_floods --years 2050 \\\n" +
        "    --scenarios rcp8p5 --curve --threshold 0.3",
    )
    .action(async (options: QueryOptions) => {
      const answer = queryOf(options);
      if (options.atlas === undefined) {
        throw new Fault("configuration_invalid", "no atlas given; set --atlas or ISOTHERM_ATLAS.");
      }
      const atlas = await openAtlas(options.atlas);
      try {
        const { result, text } = await answer(atlas);
        const isJson = options.json === true || options.detail === true;
        // The JSON document has no member for this notice, and standard output must contain only the document.
        if (isJson && atlas.synthetic) printError(`SYNTHETIC: not real data (atlas ${atlas.release})`);
        process.stdout.write(isJson ? indentedJson(result) : text);
      } finally {
        await atlas.close();
      }
    });
}

interface Answer {
  readonly result: object;
  /** The result as tables. */
  readonly text: string;
}

/** Validates the options and returns the function that answers the query. @throws Fault `invalid_request` */
function queryOf(options: QueryOptions): (atlas: Atlas) => Promise<Answer> {
  const parameters = parametersOf(options);
  if (options.curve === true) {
    const { threshold, returnPeriods, floor, damageCurve } = options;
    const queryText = queryTextOf({ ...parameters, threshold, return_periods: returnPeriods, floor });
    const points = damageCurve === undefined ? {} : { damage_curve: damagePointsOf(damageCurve) };
    const query = parseCurveParameters(queryText, points);
    return async (atlas) => {
      const result = await atlas.curve(query);
      return { result, text: formatCurves(result, atlas) };
    };
  }
  checkCurveOptions(options);
  const query = parseHazardParameters(queryTextOf(parameters));
  return async (atlas) => {
    const result = await atlas.hazardRisk(query);
    return { result, text: formatMetrics(result, atlas) };
  };
}

/** Rejects options that have no effect without `--curve`. @throws Fault `invalid_request` with all of them */
function checkCurveOptions(options: QueryOptions): void {
  const items = Object.entries(CURVE_OPTIONS).flatMap(([member, { name }]): FaultItem[] => {
    if (options[name] === undefined) return [];
    return [{ parameter: member, code: "not_expected", detail: `${member} requires --curve.` }];
  });
  if (items.length > 0) {
    const names = items.map(({ parameter = "" }) => CURVE_OPTIONS[parameter as keyof typeof CURVE_OPTIONS].option);
    throw new Fault("invalid_request", `${names.join(", ")} can be used only with --curve.`, { items });
  }
}

/** Parses points such as "0:0,1:0.4". Text that is not a number is kept, for the validation to reject. */
function damagePointsOf(text: string): readonly object[] {
  return text.split(",").map((point) => {
    const [value = "", ...shares] = point.split(":");
    return {
      value: parseNumber(value),
      ...(shares.length === 0 ? {} : { damage_share: parseNumber(shares.join(":")) }),
    };
  });
}

function parametersOf(options: QueryOptions): Readonly<Record<string, string | undefined>> {
  return {
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
}

function queryTextOf(parameters: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join("&");
}
