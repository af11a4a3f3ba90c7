/** Plans which layers of a hazard to sample for scenarios and years, and how their values are computed. */
import type { FieldLayer } from "../atlas/cachedField.ts";
import type { LayerSet, SampledHazard } from "../atlas/layerSet.ts";
import type { Sampler } from "../atlas/sampler.ts";
import { type PlannedBounds, type PlannedSide, probabilityLimitsOf } from "./bounds.ts";
import {
  BASELINE,
  type HazardName,
  HAZARDS,
  layerOf,
  type MetricName,
  type Scenario,
  type StoredLayer,
} from "./hazards.ts";
import { changeCaveats, type NamedSource, sourceOf } from "./provenance.ts";
import { CheckedQuery, type HazardQuery } from "./query.ts";
import type { PlannedLayer } from "./sampledLayers.ts";

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

/** Plans the years of one hazard. Each stored layer is sampled once, even if it serves several scenarios and years. */
export class HazardPlanner {
  readonly #sampler: Sampler;
  readonly #hazard: HazardName;
  readonly #sampled: SampledHazard | undefined;
  readonly #layers: FieldLayer[] = [];
  readonly #positions = new Map<string, PlannedLayer>();

  constructor(sampler: Sampler, hazard: HazardName) {
    this.#sampler = sampler;
    this.#hazard = hazard;
    this.#sampled = sampler.hazards.get(hazard);
  }

  /** The layers of all planned years, as one set, so that exactly these layers are interleaved in memory; undefined if none. */
  get set(): LayerSet | undefined {
    if (this.#sampled === undefined || this.#layers.length === 0) return undefined;
    return this.#sampler.layerSet(this.#sampled, this.#layers);
  }

  /** Plans a year. @param metrics in the order of the result; bounds are planned if they contain `probability` */
  plan(
    { scenario, year }: { readonly scenario: Scenario; readonly year: number },
    metrics: readonly MetricName[],
    { isChange }: { readonly isChange: boolean },
  ): PlannedYear {
    const stored = layerOf(scenario, year);
    const source = this.#sourceAt(stored);
    const baselineSource = isChange ? this.#sourceAt(BASELINE) : undefined;
    const planned = metrics.map((metric) => ({
      metric,
      own: this.#layerFor(stored, metric),
      reference: isChange ? this.#layerFor(BASELINE, metric) : undefined,
    }));
    const periods = source?.returnPeriodsYears;
    return {
      year,
      source,
      baselineSource,
      caveats: source === undefined || baselineSource === undefined ? [] : changeCaveats(source, baselineSource),
      rules: { ...this.#sampled?.rules, ...(periods === undefined ? {} : { return_periods_years: periods }) },
      metrics: planned,
      bounds: boundsFor(planned, source, { baselineSource, isChange }),
    };
  }

  #layerFor(stored: StoredAt, metric: MetricName): PlannedLayer | undefined {
    const group = this.#sampled?.group(stored.scenario, stored.year);
    const layer = group?.entry.layers.findIndex((entry) => entry.metric === metric) ?? -1;
    const entry = group?.entry.layers[layer];
    if (group === undefined || entry === undefined) return undefined;
    const name = `${stored.scenario} ${stored.year} ${metric}`;
    let planned = this.#positions.get(name);
    if (planned === undefined) {
      const position = this.#layers.push({ source: group.source, group: group.group, layer, entry }) - 1;
      planned = { entry, position };
      this.#positions.set(name, planned);
    }
    return planned;
  }

  #sourceAt(stored: StoredAt): NamedSource | undefined {
    const entry = this.#sampled?.group(stored.scenario, stored.year)?.entry;
    return entry && sourceOf(this.#hazard, entry);
  }
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

/** The layers to sample for a query's hazard, scenarios and years. The plan does not depend on the location. */
interface Plan {
  /** Undefined if the atlas has none of the layers. */
  readonly set: LayerSet | undefined;
  readonly scenarios: readonly PlannedScenario[];
}

export interface PlannedScenario {
  readonly scenario: Scenario;
  readonly years: readonly PlannedYear[];
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
    const template = CheckedQuery.templateOf(query);
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
  const planner = new HazardPlanner(sampler, hazard);
  const metrics = HAZARDS[hazard].metrics
    .map(({ metric }) => metric)
    .filter((metric) => metric !== "total_hazard" || query.total_hazard);
  const scenarios = query.scenarios.map((scenario) => ({
    scenario,
    years: query.analysis_years.map((year) =>
      planner.plan({ scenario, year }, metrics, { isChange: query.anthropogenic }),
    ),
  }));
  return { set: planner.set, scenarios };
}

type PlanOf<Plan> = (sampler: Sampler, hazard: HazardName, layer: StoredLayer) => Plan | undefined;

/** Returns a function with the results of `makePlan`, which is called once for each open atlas, hazard, scenario and year. */
export function cachedPlans<Plan>(makePlan: PlanOf<Plan>): PlanOf<Plan> {
  const plansBySampler = new WeakMap<Sampler, Map<string, Plan | undefined>>();
  return (sampler, hazard, layer) => {
    let plans = plansBySampler.get(sampler);
    if (plans === undefined) {
      plans = new Map();
      plansBySampler.set(sampler, plans);
    }
    const name = `${hazard} ${layer.scenario} ${layer.year}`;
    if (!plans.has(name)) plans.set(name, makePlan(sampler, hazard, layer));
    return plans.get(name);
  };
}
