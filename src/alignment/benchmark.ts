import type { Anchor, Pathway } from "../contract/wireTypes.ts";
import type { NgfsRegion } from "../reference/countries.ts";
import { PATHWAY_INDEX } from "../kernel/alignmentColumns.ts";
import { ANCHOR_COUNT, GROWTH_REGION_COUNT, PATHWAY_COUNT, type YearlyBenchmark } from "../kernel/alignmentTables.ts";

/**
 * Emissions pathways of four scenarios by sector. Benchmarks are pure data: another vintage or another set of scenarios
 * is another object of this type.
 */
export interface Benchmark {
  /** Shown in every detailed answer, because results of different benchmarks are not comparable. */
  readonly id: string;
  readonly credit: string;
  /** Four scenarios in ascending order of warming; the last one is current policies. */
  readonly anchors: readonly [Anchor, Anchor, Anchor, Anchor];
  /** Year in which every pathway is 1, and the warming of that year above 1850-1900. */
  readonly baseYear: number;
  readonly baseTemperatureC: number;
  /** Earlier years are evaluated at this year, because the scenarios have not yet diverged enough. */
  readonly horizonYear: number;
  /** Years of the pathways, ascending from the base year; linear in between, constant outside. */
  readonly pathwayYears: readonly number[];
  /** Emissions index by pathway, anchor and year, 1 in the base year. */
  readonly pathways: Readonly<Record<Pathway, readonly [IndexByYear, IndexByYear, IndexByYear, IndexByYear]>>;
  /** Years of the growth indices, ascending; linear in between, constant outside. */
  readonly growthYears: readonly number[];
  /** GDP index by region and year, 1 in the base year. The pathways are pooled over the first region. */
  readonly growth: readonly [GrowthRegion, GrowthRegion, GrowthRegion];
}

/** One value for each of the corresponding years. */
export type IndexByYear = readonly number[];

/** Countries that are assumed to have the same economic growth. */
export interface GrowthRegion {
  readonly id: string;
  /** NGFS regions it covers; countries of regions not listed anywhere belong to the first growth region. */
  readonly regions: readonly NgfsRegion[];
  readonly index: IndexByYear;
}

/**
 * NGFS Phase V. Sectors: CO2 of OECD and EU plus Asia; `economy`: all Kyoto gases worldwide; `energy_supply` excludes
 * electricity. Growth: GDP at purchasing power parity, without climate damage.
 */
export const NGFS_PHASE5: Benchmark = {
  id: "ngfs-phase5-message-r12/1",
  credit:
    "NGFS Climate Scenarios Phase V (November 2024), IIASA NGFS Scenario Explorer; MESSAGEix-GLOBIOM 2.0-M-R12-NGFS, MAGICC v7.5.3 median",
  anchors: [
    { scenario: "Net Zero 2050", temperature_2100_c: 1.454509 },
    { scenario: "Below 2°C", temperature_2100_c: 1.686509 },
    { scenario: "Nationally Determined Contributions (NDCs)", temperature_2100_c: 2.028517 },
    { scenario: "Current Policies", temperature_2100_c: 2.753858 },
  ],
  baseYear: 2025,
  baseTemperatureC: 1.3765,
  horizonYear: 2030,
  pathwayYears: [2025, 2030, 2035, 2040, 2045, 2050, 2055, 2060],
  pathways: {
    economy: [
      [1, 0.728207, 0.552005, 0.421619, 0.325407, 0.244758, 0.182743, 0.13397],
      [1, 0.842426, 0.725483, 0.610234, 0.497303, 0.39922, 0.323296, 0.278825],
      [1, 0.946694, 0.863523, 0.754093, 0.667107, 0.579788, 0.511753, 0.470286],
      [1, 0.992171, 1.00285, 0.997617, 0.992841, 0.966437, 0.960214, 0.963303],
    ],
    power: [
      [1, 0.512091, 0.18804, 0.035251, 0.017745, 0.007457, 0, 0],
      [1, 0.798046, 0.601414, 0.439041, 0.262119, 0.119469, 0.021516, 0.004708],
      [1, 1.068719, 0.970898, 0.809878, 0.690867, 0.535613, 0.413949, 0.369113],
      [1, 1.106328, 1.177211, 1.215729, 1.198013, 1.037183, 0.97052, 1.021086],
    ],
    energy_supply: [
      [1, 0.812466, 0.605946, 0.344892, 0.119174, -0.053946, -0.506391, -0.604453],
      [1, 0.809246, 0.636905, 0.46569, 0.260305, 0.11617, 0.055988, 0.003318],
      [1, 0.92119, 0.860985, 0.718056, 0.573178, 0.413016, 0.391326, 0.321248],
      [1, 0.89834, 0.87982, 0.818576, 0.741227, 0.652113, 0.664005, 0.647201],
    ],
    industry: [
      [1, 0.852315, 0.726247, 0.623933, 0.504614, 0.413772, 0.327775, 0.253759],
      [1, 0.914826, 0.821822, 0.711982, 0.638976, 0.561677, 0.488245, 0.417088],
      [1, 1.018488, 0.986778, 0.919341, 0.882075, 0.835683, 0.771305, 0.715818],
      [1, 1.035477, 1.035846, 1.007912, 1.001575, 1.017048, 1.04131, 1.0594],
    ],
    transport: [
      [1, 0.835338, 0.656825, 0.50502, 0.366451, 0.264835, 0.19768, 0.132364],
      [1, 0.912495, 0.786521, 0.644122, 0.515588, 0.429535, 0.397313, 0.396003],
      [1, 0.918027, 0.844889, 0.707322, 0.590068, 0.5146, 0.476656, 0.490625],
      [1, 0.909748, 0.958037, 0.964864, 0.981104, 0.990112, 0.982723, 0.939317],
    ],
    buildings: [
      [1, 0.658258, 0.501872, 0.361638, 0.280357, 0.191159, 0.144609, 0.106224],
      [1, 0.707097, 0.574309, 0.437207, 0.347061, 0.281719, 0.228306, 0.184097],
      [1, 0.766185, 0.657823, 0.551449, 0.477711, 0.398238, 0.312146, 0.255526],
      [1, 0.798058, 0.750037, 0.701379, 0.71257, 0.714822, 0.649512, 0.591523],
    ],
  },
  growthYears: [2020, 2025, 2030, 2035, 2040, 2045, 2050, 2055, 2060],
  growth: [
    {
      id: "world_proxy_oecd_asia",
      regions: ["R5LAM", "R5MAF", "R5REF"],
      index: [0.830279, 1, 1.170174, 1.336555, 1.495792, 1.657841, 1.822048, 1.987414, 2.158026],
    },
    {
      id: "oecd_eu",
      regions: ["R5OECD"],
      index: [0.900679, 1, 1.093603, 1.182534, 1.270249, 1.35784, 1.444943, 1.531854, 1.619442],
    },
    {
      id: "asia",
      regions: ["R5ASIA"],
      index: [0.770382, 1, 1.235323, 1.467601, 1.687692, 1.913092, 2.142901, 2.375019, 2.616272],
    },
  ],
};

/**
 * Used where the caller selects no benchmark.
 * @alias
 */
export const DEFAULT_BENCHMARK = NGFS_PHASE5;

/** Returns the GDP index of a region, linear between the benchmark's years and constant outside them. */
export function growthIndex(benchmark: Benchmark, region: GrowthRegion, year: number): number {
  return interpolate({ years: benchmark.growthYears, values: region.index, year });
}

/** Tabulates a benchmark by year in the layout of the kernel tables. */
export function tabulateByYear(benchmark: Benchmark): YearlyBenchmark {
  const { pathwayYears, growthYears, pathways, growth, baseYear, horizonYear } = benchmark;
  const firstYear = Math.min(pathwayYears[0] ?? NaN, growthYears[0] ?? NaN);
  const lastYear = pathwayYears.at(-1) ?? NaN;
  const yearCount = lastYear - firstYear + 1;
  const index = new Float64Array(yearCount * PATHWAY_COUNT * ANCHOR_COUNT);
  const sizes = new Float64Array(yearCount * GROWTH_REGION_COUNT);
  for (let year = firstYear; year <= lastYear; year++) {
    for (const [pathway, anchors] of Object.entries(pathways)) {
      const at = ((year - firstYear) * PATHWAY_COUNT + PATHWAY_INDEX[pathway as Pathway]) * ANCHOR_COUNT;
      anchors.forEach((values, anchor) => (index[at + anchor] = interpolate({ years: pathwayYears, values, year })));
    }
    growth.forEach((region, i) => {
      sizes[(year - firstYear) * GROWTH_REGION_COUNT + i] = growthIndex(benchmark, region, year);
    });
  }
  return {
    firstYear,
    lastYear,
    baseYear,
    horizonYear,
    anchorTemperaturesC: benchmark.anchors.map(({ temperature_2100_c }) => temperature_2100_c),
    currentTemperatureC: benchmark.baseTemperatureC,
    index,
    growth: sizes,
  };
}

function interpolate(line: {
  readonly years: readonly number[];
  readonly values: readonly number[];
  readonly year: number;
}): number {
  const { years, values, year } = line;
  if (values.length !== years.length)
    throw new Error(`The benchmark has ${values.length} values for ${years.length} years.`);
  const after = years.findIndex((known) => known >= year);
  if (after === 0) return values[0] ?? NaN;
  if (after < 0) return values.at(-1) ?? NaN;
  const [fromYear = NaN, toYear = NaN] = [years[after - 1], years[after]];
  const [from = NaN, to = NaN] = [values[after - 1], values[after]];
  return year === toYear ? to : from + ((to - from) * (year - fromYear)) / (toYear - fromYear);
}
