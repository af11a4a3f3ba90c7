import { PATHWAYS } from "../contract/names.ts";
import type { Pathway } from "../contract/wireTypes.ts";
import type { Benchmark, CurrentWarming, GrowthSeries, IndexByYear } from "./benchmark.ts";
import { ANCHOR_ROWS } from "./data/anchors.generated.ts";
import { COUNTRY_GROWTH_ROWS, type CountryGrowthRow } from "./data/countryGrowth.generated.ts";
import { PATHWAY_ROWS, type PathwayRow } from "./data/pathways.generated.ts";
import { WARMING_PERCENTILE_ROWS } from "./data/warmingPercentiles.generated.ts";

const PATHWAY_COLUMNS = {
  2025: "index_2025",
  2030: "index_2030",
  2035: "index_2035",
  2040: "index_2040",
  2045: "index_2045",
  2050: "index_2050",
  2055: "index_2055",
  2060: "index_2060",
} as const satisfies Record<number, keyof PathwayRow>;

const GROWTH_COLUMNS = {
  2015: "gdp_ppp_index_2015",
  2020: "gdp_ppp_index_2020",
  2025: "gdp_ppp_index_2025",
  2030: "gdp_ppp_index_2030",
  2035: "gdp_ppp_index_2035",
  2040: "gdp_ppp_index_2040",
  2045: "gdp_ppp_index_2045",
  2050: "gdp_ppp_index_2050",
  2055: "gdp_ppp_index_2055",
  2060: "gdp_ppp_index_2060",
} as const satisfies Record<number, keyof CountryGrowthRow>;

/**
 * NGFS Phase V. Sectors: CO2 of OECD and EU plus Asia; `economy`: all Kyoto gases worldwide; `energy_supply` excludes
 * electricity. Growth: GDP at purchasing power parity by country, without climate damage.
 */
export const NGFS_PHASE5: Benchmark = {
  id: "ngfs-phase5-message-r12/2",
  credit:
    "NGFS Climate Scenarios Phase V (November 2024), IIASA NGFS Scenario Explorer; MESSAGEix-GLOBIOM 2.0-M-R12-NGFS, MAGICC v7.5.3",
  anchors: four(ANCHOR_ROWS),
  warming: { p10: currentWarmingOf("p10"), p50: currentWarmingOf("p50"), p90: currentWarmingOf("p90") },
  baseYear: 2025,
  horizonYear: 2030,
  pathwayYears: yearsOf(PATHWAY_COLUMNS),
  pathways: Object.fromEntries(PATHWAYS.map((pathway) => [pathway, linesOf(pathway)])) as Benchmark["pathways"],
  growthYears: yearsOf(GROWTH_COLUMNS),
  growth: COUNTRY_GROWTH_ROWS.map(growthSeriesOf),
  pooledGrowthId: "POOL",
};

/**
 * Used where the caller selects no benchmark.
 * @alias
 */
export const DEFAULT_BENCHMARK = NGFS_PHASE5;

function yearsOf(columns: Readonly<Record<number, string>>): readonly number[] {
  return Object.keys(columns).map(Number);
}

function linesOf(pathway: Pathway): Benchmark["pathways"][Pathway] {
  return four(
    ANCHOR_ROWS.map(({ scenario }): IndexByYear => {
      const row = PATHWAY_ROWS.find((candidate) => candidate.pathway === pathway && candidate.scenario === scenario);
      if (row === undefined) throw new Error(`The table of pathways has no row ${pathway}, ${scenario}.`);
      return Object.values(PATHWAY_COLUMNS).map((column) => row[column]);
    }),
  );
}

function growthSeriesOf(row: CountryGrowthRow): GrowthSeries {
  const { id, kind } = row;
  if (kind !== "country" && kind !== "aggregate") throw new Error(`The growth series ${id} has the kind "${kind}".`);
  return { id, kind, index: Object.values(GROWTH_COLUMNS).map((column) => row[column]) };
}

function currentWarmingOf(percentile: string): CurrentWarming {
  const row = WARMING_PERCENTILE_ROWS.find((candidate) => candidate.percentile === percentile);
  if (row === undefined) throw new Error(`The table of warming has no row ${percentile}.`);
  return { baseYearC: row.gsat_2025_c, lowerBoundC: row.floor_c };
}

function four<Item>(items: readonly Item[]): readonly [Item, Item, Item, Item] {
  const [first, second, third, fourth, ...rest] = items;
  if (first === undefined || second === undefined || third === undefined || fourth === undefined || rest.length > 0) {
    throw new Error(`A benchmark has four anchors (got ${items.length}).`);
  }
  return [first, second, third, fourth];
}
