import type { LayerSet } from "../atlas/layerSet.ts";
import type { Sampler } from "../atlas/sampler.ts";
import { HazardPlanner, type PlannedYear } from "./hazardPlanner.ts";
import { type HazardName, HAZARDS, type Scenario } from "./hazards.ts";
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
