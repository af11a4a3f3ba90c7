/** Caches the plans of stored scenarios and years, which do not depend on the location of a query. */
import type { Sampler } from "../atlas/sampler.ts";
import type { HazardName, StoredLayer } from "./hazards.ts";

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
