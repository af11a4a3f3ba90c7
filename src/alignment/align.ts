import { Fault } from "../errors.ts";
import { unknownMembers } from "../explain.ts";
import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  type AlignmentBasis,
  type AlignmentRule,
  alignColumns as alignColumnsInKernel,
  EMISSIONS_MAX,
} from "../kernel/alignment.ts";
import {
  type AlignedColumns,
  type EntityColumns,
  findInvalidColumn,
  PATHWAY_INDEX,
} from "../kernel/alignmentColumns.ts";
import {
  type AlignmentTables,
  GROWTH_REGION_COUNT,
  makeAlignmentTables,
  PATHWAY_COUNT,
} from "../kernel/alignmentTables.ts";
import { type AlignmentFigures, type AlignmentRowDetail, alignDetail } from "../kernel/alignmentDetail.ts";
import { Kernel } from "../kernel/instance.ts";
import { type Anchor, type Benchmark, growthIndex, NGFS_PHASE5, type Pathway, tabulateByYear } from "./benchmark.ts";
import { ngfsRegionOf } from "./growthRegions.ts";
import { countProjections, type Entity, readEntities } from "./entity.ts";
import { intensityOfIndustry } from "./industryIntensities.ts";
import { type AlignColumnsOptions, type AlignTemperatureOptions, readColumnsOptions, readOptions } from "./options.ts";
import { isKnownClassification, matchSector, type SectorMatch } from "./sectorPathways.ts";

export {
  ALIGNMENT_BASES,
  type AlignColumnsOptions,
  type AlignmentOptions,
  type AlignTemperatureOptions,
} from "./options.ts";

/** What an answer may want its reader to know, in the order of the bits of a flag column. */
export const ALIGNMENT_FLAGS = [
  "unknown_industry",
  "unknown_country",
  "unknown_classification",
  "scope_missing",
  "no_usable_scope",
  "zero_baseline",
  "negative_scope",
  "revenue_unusable",
  "beyond_table",
  "early_baseline",
  "duplicate_year",
  "check_units",
  "short_horizon",
  "anchors_close",
] as const;
export type AlignmentFlag = (typeof ALIGNMENT_FLAGS)[number];

/** Why a temperature is null. */
export type AlignmentReason = "no_usable_scope" | "zero_baseline";

/** The entity as the caller described it; what was not given is absent. */
export type EntityEcho = Pick<
  Entity["entity_info"],
  "name" | "asset_type" | "country" | "industry_classification_system" | "industry" | "sector"
>;

export interface AlignmentAnswer {
  /** One element an entity, in the order submitted. */
  readonly results: readonly AlignmentResult[];
}

export interface AlignmentResult {
  readonly entity_info: EntityEcho;
  /** One element a projected year, in the order submitted. */
  readonly data: readonly AlignedYear[];
}

export interface AlignedYear {
  readonly year: number;
  /** Implied warming in 2100, degrees C, 1.3 to 6; null where there is none. */
  readonly temperature_alignment: number | null;
  /** There exactly when the temperature is null. */
  readonly reason?: AlignmentReason;
  readonly detail?: AlignmentDetail;
}

type ByScope<Value> = Partial<Readonly<Record<"scope1" | "scope2" | "scope3", Value>>>;

/** How a year's temperature came about, unrounded. A figure that does not exist is null. */
export interface AlignmentDetail {
  readonly benchmark: string;
  readonly credit: string;
  readonly basis: AlignmentBasis;
  /** The temperature in each basis. */
  readonly temperature_intensity: number | null;
  readonly temperature_emissions: number | null;
  readonly temperature_cumulative: number | null;
  readonly pathway: Pathway;
  readonly matched: Omit<SectorMatch, "pathway">;
  /** What each usable scope is compared with. */
  readonly scope_pathways: ByScope<Pathway>;
  /** Over the usable scopes: those given in the baseline and in this year. */
  readonly emissions: { readonly baseline: number | null; readonly projected: number | null };
  readonly emissions_ratio: number | null;
  /** Growth of the benchmark's economy over growth of the entity's own. */
  readonly growth_factor: number | null;
  /** What is compared with the anchors, in the year evaluated. */
  readonly emissions_ratio_q: number | null;
  readonly evaluated_year: number;
  readonly anchors: readonly Anchor[];
  readonly benchmark_ratio_at_anchors: readonly number[] | null;
  /** Between which anchors, and how far from the lower to the upper one. */
  readonly between: { readonly below: string | null; readonly above: string | null; readonly weight: number } | null;
  readonly growth_region: string;
  readonly revenue: { readonly baseline: number | null; readonly projected: number | null };
  readonly intensity: { readonly baseline: number | null; readonly projected: number | null };
  readonly convergence: { readonly kappa: number; readonly gamma: number } | null;
  /** Each usable scope alone, in the basis `emissions` where that is asked for, else `intensity`; they do not add up. */
  readonly temperature_by_scope: ByScope<number | null>;
  readonly flags: readonly AlignmentFlag[];
}

/**
 * Implied temperature rise of entities: to which world of the benchmark do their emissions of each projected year
 * belong? docs/methods/alignment.md is the method.
 *
 * @returns temperatures unrounded; `roundTemperatures` gives them as they go over the wire
 * @throws Fault `asset_type_unsupported` or `invalid_request` with everything that is wrong, `invalid_request` for an
 *   option out of range
 */
export async function alignTemperature(
  entities: readonly Entity[],
  options: AlignTemperatureOptions = {},
): Promise<AlignmentAnswer> {
  const rule = readOptions(options);
  const read = readEntities(entities);
  const benchmark = options.benchmark ?? NGFS_PHASE5;
  const tables = tablesOf(benchmark);
  const classifications = read.map((entity) => classifyEntity(entity, benchmark));
  const columns = columnsOf(read, classifications);
  const kernel = await sharedKernel();
  const { temperaturesC, flags } = runKernel(kernel, tables, columns, { rule });

  const results = read.map((entity, index) => {
    const firstRow = columns.starts[index] ?? 0;
    const classification = classifications[index];
    if (classification === undefined) throw new Error(`Entity ${index} has no classification.`);
    const details =
      options.detail === true
        ? alignDetail(kernel, tables, columns, { ...rule, basis: detailBasis(rule), entity: index })
        : [];
    const data = entity.projected_emissions.map(({ year }, i): AlignedYear => {
      const rowFlags = (flags[firstRow + i] ?? 0) | classification.flags;
      const row = details[i];
      return {
        year,
        ...valueOf(temperaturesC[firstRow + i] ?? NaN, rowFlags),
        ...(row === undefined
          ? {}
          : { detail: detailOf(row, { rule, benchmark, entity, classification, year, rowFlags }) }),
      };
    });
    return { entity_info: echoOf(entity), data };
  });
  return { results };
}

/** The answer as it goes over the wire: temperatures to two decimals, details as they are. */
export function roundTemperatures({ results }: AlignmentAnswer): AlignmentAnswer {
  const rounded = (temperature: number | null): number | null =>
    temperature === null ? null : Math.round(100 * temperature) / 100;
  return {
    results: results.map(({ entity_info, data }) => ({
      entity_info,
      data: data.map((year) => ({ ...year, temperature_alignment: rounded(year.temperature_alignment) })),
    })),
  };
}

/**
 * The same for columns: a million entities without an object for each.
 *
 * - `starts` u32[entities + 1]: entity i has the rows `starts[i]` up to, not with, `starts[i + 1]`
 * - an entity: `baselineYears` i32, `pathways` u8 (`PATHWAY_INDEX`), `regions` u8 (index into the benchmark's `growth`,
 *   0 where the country is not known), `baselineScope1` to `3` f64, and, if wanted, `revenues` f64
 * - a row: `years` i32, `scope1` to `3` f64
 * - emissions in any one unit, at most 1e15 in size; NaN = not given
 * - the convergence needs `revenues` (million USD of 2022) and `references`, t CO2e per million USD of the entity's
 *   industry, f64 by scope, NaN = not known
 *
 * @returns `temperaturesC` f64[row], degrees C, NaN = none; `flags` u16[row], bit i is `ALIGNMENT_FLAGS[i]`; the first
 *   three, which are about names, are the caller's
 * @throws Fault `invalid_request` naming the column and the place of the first value that cannot be, or with every
 *   option that is wrong
 */
export async function alignColumns(columns: EntityColumns, options: AlignColumnsOptions = {}): Promise<AlignedColumns> {
  const rule = readColumnsOptions(options);
  checkColumnNames(columns);
  const invalid = findInvalidColumn(columns);
  if (invalid !== undefined) throw columnFault(`/${invalid.name}`, invalid.detail);
  if (rule.gamma > 0 && (columns.revenues === undefined || columns.references === undefined)) {
    throw columnFault("/references", "The convergence needs the columns revenues and references.");
  }
  const { into } = options;
  const rowCount = columns.years.length;
  if (into !== undefined && !isValidOutput(into, rowCount)) {
    throw columnFault(
      "/into",
      `into must have a Float64Array temperaturesC and a Uint16Array flags of ${rowCount} elements.`,
    );
  }
  return runKernel(await sharedKernel(), tablesOf(options.benchmark ?? NGFS_PHASE5), columns, { rule, into });
}

function isValidOutput({ temperaturesC, flags }: AlignedColumns, rowCount: number): boolean {
  if (!(temperaturesC instanceof Float64Array && flags instanceof Uint16Array)) return false;
  return temperaturesC.length === rowCount && flags.length === rowCount;
}

function runKernel(
  kernel: Kernel,
  tables: AlignmentTables,
  columns: EntityColumns,
  { rule, into }: { readonly rule: AlignmentRule; readonly into?: AlignedColumns | undefined },
): AlignedColumns {
  const outcome = alignColumnsInKernel(kernel, tables, columns, rule, into);
  if (outcome.kind === "refused") throw explainKernelRefusal(columns, outcome);
  const { temperaturesC, flags } = outcome;
  return { temperaturesC, flags };
}

// One kernel for all: its memory is scratch between calls, and calls never overlap.
let loading: Promise<Kernel> | undefined;

function sharedKernel(): Promise<Kernel> {
  loading ??= Kernel.load();
  return loading;
}

const tablesOfBenchmarks = new WeakMap<Benchmark, AlignmentTables>();

function tablesOf(benchmark: Benchmark): AlignmentTables {
  const tables = tablesOfBenchmarks.get(benchmark) ?? makeAlignmentTables(tabulateByYear(benchmark));
  tablesOfBenchmarks.set(benchmark, tables);
  return tables;
}

const COLUMN_NAMES = [
  "starts",
  "baselineYears",
  "pathways",
  "regions",
  "baselineScope1",
  "baselineScope2",
  "baselineScope3",
  "years",
  "scope1",
  "scope2",
  "scope3",
  "revenues",
  "references",
] as const satisfies readonly (keyof EntityColumns)[];

/** @throws Fault `invalid_request` for columns that do not exist, and for those that are missing */
function checkColumnNames(columns: EntityColumns): void {
  if (typeof columns !== "object" || columns === null) {
    throw columnFault("", `The columns must be an object with ${COLUMN_NAMES.join(", ")}.`);
  }
  const items = unknownMembers(columns, { known: COLUMN_NAMES });
  const [first] = items;
  if (first !== undefined) throw new Fault("invalid_request", first.detail, { items });
}

function columnFault(pointer: string, detail: string): Fault {
  return new Fault("invalid_request", detail, { items: [{ pointer, code: "out_of_range", detail }] });
}

/** Which value it is that the kernel has refused. */
function explainKernelRefusal(
  columns: EntityColumns,
  { entity, row }: { readonly entity: number; readonly row: number | undefined },
): Fault {
  const baselineYear = columns.baselineYears[entity] ?? NaN;
  const suspects =
    row === undefined
      ? [
          { column: "baselineYears", value: baselineYear, least: ALIGNMENT_YEAR_MIN, most: ALIGNMENT_YEAR_MAX },
          { column: "pathways", value: columns.pathways[entity], least: 0, most: PATHWAY_COUNT - 1 },
          { column: "regions", value: columns.regions[entity], least: 0, most: GROWTH_REGION_COUNT - 1 },
          { column: "baselineScope1", value: columns.baselineScope1[entity] },
          { column: "baselineScope2", value: columns.baselineScope2[entity] },
          { column: "baselineScope3", value: columns.baselineScope3[entity] },
        ]
      : [
          { column: "years", value: columns.years[row], least: baselineYear + 1, most: ALIGNMENT_YEAR_MAX },
          { column: "scope1", value: columns.scope1[row] },
          { column: "scope2", value: columns.scope2[row] },
          { column: "scope3", value: columns.scope3[row] },
        ];
  for (const { column, value = NaN, least = -EMISSIONS_MAX, most = EMISSIONS_MAX } of suspects) {
    if (!(value < least || value > most)) continue;
    return columnFault(
      `/${column}/${row ?? entity}`,
      `${column}[${row ?? entity}] must be from ${least} to ${most}, not ${value}.`,
    );
  }
  throw new Error(`The kernel refused entity ${entity}, row ${row}, which is right.`);
}

/** What the names of an entity say. */
interface EntityClassification {
  readonly match: SectorMatch;
  /** Index of the growth region, 0 where the country does not say. */
  readonly region: number;
  readonly flags: number;
}

function classifyEntity({ entity_info }: Entity, benchmark: Benchmark): EntityClassification {
  const { country, industry, sector, industry_classification_system } = entity_info;
  const match = matchSector({ industry, sector });
  const ngfsRegion = country === undefined ? undefined : ngfsRegionOf(country);
  const region = benchmark.growth.findIndex(({ regions }) => ngfsRegion !== undefined && regions.includes(ngfsRegion));
  return {
    match,
    region: Math.max(region, 0),
    flags:
      (match.on === null ? flagBit("unknown_industry") : 0) |
      (ngfsRegion === undefined ? flagBit("unknown_country") : 0) |
      (industry_classification_system === undefined || isKnownClassification(industry_classification_system)
        ? 0
        : flagBit("unknown_classification")),
  };
}

function flagBit(flag: AlignmentFlag): number {
  return 1 << ALIGNMENT_FLAGS.indexOf(flag);
}

function columnsOf(entities: readonly Entity[], classifications: readonly EntityClassification[]): EntityColumns {
  const entityCount = entities.length;
  const rowCount = countProjections(entities);
  const perEntity = (): Float64Array => new Float64Array(entityCount).fill(NaN);
  const perRow = (): Float64Array => new Float64Array(rowCount).fill(NaN);
  const columns = {
    baselineYears: new Int32Array(entityCount),
    pathways: Uint8Array.from(classifications, ({ match }) => PATHWAY_INDEX[match.pathway]),
    regions: Uint8Array.from(classifications, ({ region }) => region),
    baselineScope1: perEntity(),
    baselineScope2: perEntity(),
    baselineScope3: perEntity(),
    starts: new Uint32Array(entityCount + 1),
    years: new Int32Array(rowCount),
    scope1: perRow(),
    scope2: perRow(),
    scope3: perRow(),
    revenues: perEntity(),
    references: { scope1: perEntity(), scope2: perEntity(), scope3: perEntity() },
  };
  let row = 0;
  for (const [index, { entity_info, data, projected_emissions }] of entities.entries()) {
    const [baseline] = data;
    if (baseline === undefined) throw new Error(`Entity ${index} has no baseline.`);
    const { emissions, financials } = baseline;
    columns.baselineYears[index] = baseline.year;
    columns.baselineScope1[index] = emissions.scope1 ?? NaN;
    columns.baselineScope2[index] = emissions.scope2 ?? NaN;
    columns.baselineScope3[index] = emissions.scope3 ?? NaN;
    columns.revenues[index] = financials?.revenue ?? NaN;
    const reference = entity_info.industry === undefined ? undefined : intensityOfIndustry(entity_info.industry);
    if (reference !== undefined) {
      columns.references.scope1[index] = reference.scope1TCO2ePerMUSD;
      columns.references.scope2[index] = reference.scope2TCO2ePerMUSD;
      columns.references.scope3[index] = reference.scope3TCO2ePerMUSD;
    }
    for (const { year, emissions: projected } of projected_emissions) {
      columns.years[row] = year;
      columns.scope1[row] = projected.scope1 ?? NaN;
      columns.scope2[row] = projected.scope2 ?? NaN;
      columns.scope3[row] = projected.scope3 ?? NaN;
      row++;
    }
    columns.starts[index + 1] = row;
  }
  return columns;
}

function echoOf({ entity_info }: Entity): EntityEcho {
  const { name, asset_type, country, industry_classification_system, industry, sector } = entity_info;
  return {
    name,
    asset_type,
    ...(country === undefined ? {} : { country }),
    ...(industry_classification_system === undefined ? {} : { industry_classification_system }),
    ...(industry === undefined ? {} : { industry }),
    ...(sector === undefined ? {} : { sector }),
  };
}

function valueOf(temperatureC: number, flags: number): Pick<AlignedYear, "temperature_alignment" | "reason"> {
  if (!Number.isNaN(temperatureC)) return { temperature_alignment: temperatureC };
  const hasNoScope = (flags & flagBit("no_usable_scope")) !== 0;
  return { temperature_alignment: null, reason: hasNoScope ? "no_usable_scope" : "zero_baseline" };
}

const SCOPES = ["scope1", "scope2", "scope3"] as const;

function detailOf(
  row: AlignmentRowDetail,
  of: {
    readonly rule: AlignmentRule;
    readonly benchmark: Benchmark;
    readonly entity: Entity;
    readonly classification: EntityClassification;
    readonly year: number;
    readonly rowFlags: number;
  },
): AlignmentDetail {
  const { rule, benchmark, entity, classification, year, rowFlags } = of;
  const [baseline] = entity.data;
  const region = benchmark.growth[classification.region] ?? benchmark.growth[0];
  const { pathway, ...matched } = classification.match;
  const figures = row[detailBasis(rule)];
  const usable = SCOPES.filter((_, scope) => figures.usableScopes[scope] === true);

  const revenueBaseline = baseline?.financials?.revenue;
  const hasRevenue = (rowFlags & flagBit("revenue_unusable")) === 0 && revenueBaseline !== undefined;
  const growth = growthIndex(benchmark, region, year) / growthIndex(benchmark, region, baseline?.year ?? year);
  const revenueProjected = hasRevenue ? revenueBaseline * growth : NaN;
  const hasBaseline = (rowFlags & flagBit("zero_baseline")) === 0;
  return {
    benchmark: benchmark.id,
    credit: benchmark.credit,
    basis: rule.basis,
    temperature_intensity: finiteOrNull(row.intensity.temperatureC),
    temperature_emissions: finiteOrNull(row.emissions.temperatureC),
    temperature_cumulative: finiteOrNull(row.cumulative.temperatureC),
    pathway,
    matched,
    scope_pathways: byScope(usable, (scope) => pathwayOfScope(scope, pathway)),
    emissions: { baseline: finiteOrNull(figures.baseline), projected: finiteOrNull(figures.projected) },
    emissions_ratio: hasBaseline ? finiteOrNull(Math.max(figures.projected, 0) / figures.baseline) : null,
    growth_factor: finiteOrNull(figures.growthFactor),
    emissions_ratio_q: finiteOrNull(figures.ratioQ),
    evaluated_year: figures.evaluatedYear,
    anchors: benchmark.anchors,
    benchmark_ratio_at_anchors: figures.anchors.some(Number.isNaN) ? null : figures.anchors,
    between: betweenOf(figures, benchmark),
    growth_region: region.id,
    revenue: { baseline: revenueBaseline ?? null, projected: finiteOrNull(revenueProjected) },
    intensity: {
      baseline: hasRevenue ? finiteOrNull(figures.baseline / revenueBaseline) : null,
      projected: finiteOrNull(figures.projected / revenueProjected),
    },
    convergence: Number.isNaN(figures.kappa) ? null : { kappa: figures.kappa, gamma: rule.gamma },
    temperature_by_scope: byScope(usable, (_, index) => finiteOrNull(row.byScope[index]?.temperatureC ?? NaN)),
    flags: ALIGNMENT_FLAGS.filter((_, bit) => ((rowFlags >> bit) & 1) === 1),
  };
}

/** The form that a detail's figures belong to: the cumulative one has none of its own. */
function detailBasis({ basis }: AlignmentRule): "intensity" | "emissions" {
  return basis === "emissions" ? "emissions" : "intensity";
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

type Scope = (typeof SCOPES)[number];

function byScope<Value>(usable: readonly Scope[], valueOf: (scope: Scope, index: number) => Value): ByScope<Value> {
  return Object.fromEntries(usable.map((scope) => [scope, valueOf(scope, SCOPES.indexOf(scope))]));
}

function pathwayOfScope(scope: Scope, pathway: Pathway): Pathway {
  if (scope === "scope1") return pathway;
  if (scope === "scope2") return "power";
  return pathway === "transport" || pathway === "buildings" ? pathway : "economy";
}

function betweenOf({ segment, weight }: AlignmentFigures, { anchors }: Benchmark): AlignmentDetail["between"] {
  if (Number.isNaN(segment)) return null;
  return { below: anchors[segment - 1]?.scenario ?? null, above: anchors[segment]?.scenario ?? null, weight };
}
