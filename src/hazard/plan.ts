import type { FieldLayer } from "../atlas/cachedField.ts";
import type { LayerSet } from "../atlas/layerSet.ts";
import type { Sampler } from "../atlas/sampler.ts";
import type { PlannedLayer } from "./plannedLayer.ts";
import { probabilityLimitsOf, type PlannedBounds, type PlannedSide } from "./bounds.ts";
import { BASELINE, type HazardName, HAZARDS, layerOf, type MetricName, type Scenario } from "./hazards.ts";
import { changeCaveats, type NamedSource, sourceOf } from "./provenance.ts";
import { templateOf, type HazardQuery } from "./query.ts";

/** The layers to sample for a query's hazard, scenarios and years. The plan does not depend on the location. */
export interface Plan {
  /** Undefined if the atlas has none of the layers. */
  readonly set: LayerSet | undefined;
  readonly scenarios: readonly PlannedScenario[];
}

export interface PlannedScenario {
  readonly scenario: Scenario;
  readonly years: readonly PlannedYear[];
}

export interface PlannedYear {
  readonly year: number;
  /** Source of the year's layers; undefined if the atlas does not have them. */
  readonly source: NamedSource | undefined;
  /** Source of the baseline; undefined if no change is requested or the atlas has no baseline. */
  readonly baselineSource: NamedSource | undefined;
  /** Why the change reflects more than climate; empty if no change is requested. */
  readonly caveats: readonly string[];
  /** Rules of the hazard in this atlas, and the return periods of the source maps. */
  readonly rules: Readonly<Record<string, unknown>>;
  readonly metrics: readonly PlannedMetric[];
  /** Undefined if no probability can be only a bound. */
  readonly bounds: PlannedBounds | undefined;
}

export interface PlannedMetric {
  readonly metric: MetricName;
  readonly own: PlannedLayer | undefined;
  /** Baseline layer of a change; undefined if no change is requested or the atlas does not have it. */
  readonly reference: PlannedLayer | undefined;
}

/** Maximum number of cached plans. Portfolios send the same query for many locations. */
const PLAN_COUNT_MAX = 256;

/** Caches the query plans of an atlas. */
export class PlanCache {
  readonly #sampler: Sampler;
  readonly #plans = new Map<string, Plan>();
  /** Plans by query template and hazard. Queries parsed from a URL have a template and need no text key. */
  readonly #byTemplate = new WeakMap<object, Map<HazardName, Plan>>();

  constructor(sampler: Sampler) {
    this.#sampler = sampler;
  }

  /** Returns the plan of a query for one hazard. */
  get(hazard: HazardName, query: HazardQuery): Plan {
    const template = templateOf(query);
    if (template === undefined) return this.#byKey(hazard, query);
    let plans = this.#byTemplate.get(template);
    if (plans === undefined) {
      plans = new Map();
      this.#byTemplate.set(template, plans);
    }
    let plan = plans.get(hazard);
    if (plan === undefined) {
      plan = this.#byKey(hazard, query);
      plans.set(hazard, plan);
    }
    return plan;
  }

  #byKey(hazard: HazardName, query: HazardQuery): Plan {
    const { scenarios, analysis_years, total_hazard, anthropogenic } = query;
    const key = `${hazard} ${scenarios.join()} ${analysis_years.join()} ${total_hazard} ${anthropogenic}`;
    let plan = this.#plans.get(key);
    if (plan === undefined) {
      plan = makePlan(this.#sampler, hazard, query);
      if (this.#plans.size >= PLAN_COUNT_MAX) this.#plans.clear();
      this.#plans.set(key, plan);
    }
    return plan;
  }
}

function makePlan(sampler: Sampler, hazard: HazardName, query: HazardQuery): Plan {
  const sampled = sampler.hazards.get(hazard);
  const layers: FieldLayer[] = [];
  /** Each stored layer has one position, even if it serves several scenarios and years. */
  const positions = new Map<string, PlannedLayer>();
  const layerFor = (stored: StoredAt, metric: MetricName): PlannedLayer | undefined => {
    const group = sampled?.group(stored.scenario, stored.year);
    const layer = group?.entry.layers.findIndex((entry) => entry.metric === metric) ?? -1;
    const entry = group?.entry.layers[layer];
    if (group === undefined || entry === undefined) return undefined;
    const name = `${stored.scenario} ${stored.year} ${metric}`;
    let planned = positions.get(name);
    if (planned === undefined) {
      planned = { entry, position: layers.push({ source: group.source, group: group.group, layer, entry }) - 1 };
      positions.set(name, planned);
    }
    return planned;
  };
  const metrics = HAZARDS[hazard].metrics.filter(({ metric }) => metric !== "total_hazard" || query.total_hazard);
  const sourceAt = (stored: StoredAt): NamedSource | undefined => {
    const entry = sampled?.group(stored.scenario, stored.year)?.entry;
    return entry && sourceOf(hazard, entry);
  };
  const baselineSource = query.anthropogenic ? sourceAt(BASELINE) : undefined;
  const scenarios = query.scenarios.map((scenario) => ({
    scenario,
    years: query.analysis_years.map((year): PlannedYear => {
      const stored = layerOf(scenario, year);
      const source = sourceAt(stored);
      const planned = metrics.map(({ metric }) => ({
        metric,
        own: layerFor(stored, metric),
        reference: query.anthropogenic ? layerFor(BASELINE, metric) : undefined,
      }));
      const periods = source?.returnPeriodsYears;
      return {
        year,
        source,
        baselineSource,
        caveats: source === undefined || baselineSource === undefined ? [] : changeCaveats(source, baselineSource),
        rules: { ...sampled?.rules, ...(periods === undefined ? {} : { return_periods_years: periods }) },
        metrics: planned,
        bounds: boundsFor(planned, source, { baselineSource, isChange: query.anthropogenic }),
      };
    }),
  }));
  // All layers are in one set, so that exactly the requested layers are interleaved in memory.
  const set = sampled === undefined || layers.length === 0 ? undefined : sampler.layerSet(sampled, layers);
  return { set, scenarios };
}

function boundsFor(
  metrics: readonly PlannedMetric[],
  source: NamedSource | undefined,
  { baselineSource, isChange }: { readonly baselineSource: NamedSource | undefined; readonly isChange: boolean },
): PlannedBounds | undefined {
  const own = sideOf(metrics, "own", source);
  const reference = isChange ? sideOf(metrics, "reference", baselineSource) : undefined;
  if (own === undefined || (isChange && reference === undefined)) return undefined;
  return own.limits === undefined && reference?.limits === undefined ? undefined : { own, reference };
}

function sideOf(
  metrics: readonly PlannedMetric[],
  side: "own" | "reference",
  source: NamedSource | undefined,
): PlannedSide | undefined {
  const layerAt = (name: MetricName): PlannedLayer | undefined => metrics.find(({ metric }) => metric === name)?.[side];
  const probability = layerAt("probability");
  if (probability === undefined) return undefined;
  return {
    probability,
    limits: probabilityLimitsOf(probability, source?.returnPeriodsYears),
    isModelMean: (source?.models.length ?? 0) > 1,
    intensity: layerAt("intensity"),
    total: layerAt("total_hazard"),
  };
}

type StoredAt = ReturnType<typeof layerOf>;
