import type { AlignmentRule } from "../kernel/alignment.ts";
import { SCOPES } from "../kernel/alignmentColumns.ts";
import type { AlignmentFigures, AlignmentRowDetail } from "../kernel/alignmentDetail.ts";
import { flagBit } from "./answer.ts";
import { type Benchmark, growthIndex } from "./benchmark.ts";
import type { EntityClassification } from "./classification.ts";
import { ALIGNMENT_FLAGS } from "../contract/alignmentNames.ts";
import type { AlignmentDetail, Entity, Pathway } from "../contract/wireTypes.ts";

/** Builds the `detail` of one year from the figures of the kernel. */
export function alignmentDetailOf(
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

/** Returns the basis of the figures in a detail. The cumulative basis shows those of `intensity`. */
export function detailBasis({ basis }: AlignmentRule): "intensity" | "emissions" {
  return basis === "emissions" ? "emissions" : "intensity";
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

type Scope = (typeof SCOPES)[number];

function byScope<Value>(
  usable: readonly Scope[],
  valueOf: (scope: Scope, index: number) => Value,
): Partial<Record<Scope, Value>> {
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
