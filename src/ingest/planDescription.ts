/** Plans in a form that can be sent to threads: with descriptions of rasters instead of open ones. */
import type { GroupPlan, HazardPlan } from "./plan.ts";
import type { Raster, RasterSpec } from "./raster.ts";

/** A plan whose rasters are replaced by indices into a list of descriptions. */
export interface PlanDescription {
  readonly plan: unknown;
  readonly specs: readonly RasterSpec[];
}

/** Returns the description of a plan, without its provenance. */
export function describePlan(plan: HazardPlan): PlanDescription {
  const indices = new Map<Raster, number>();
  const described = replaceRasters(plan, (raster) => {
    const index = indices.get(raster) ?? indices.size;
    indices.set(raster, index);
    return index as unknown as Raster;
  });
  return { plan: described, specs: [...indices.keys()].map(({ spec }) => spec) };
}

/** Returns the plan of a description, with rasters that the caller opened from its `specs`. */
export function restorePlan({ plan }: PlanDescription, rasters: readonly Raster[]): HazardPlan {
  return replaceRasters(plan as HazardPlan, (index) => rasters[index as unknown as number] as Raster);
}

function replaceRasters(plan: HazardPlan, replace: (raster: Raster) => Raster): HazardPlan {
  const replaced = <Source extends { readonly raster: Raster }>(source: Source): Source => ({
    ...source,
    raster: replace(source.raster),
  });
  const contentOf = (content: GroupPlan["content"]): GroupPlan["content"] => {
    if (content.kind === "curves") {
      return { ...content, models: content.models.map((model) => ({ ...model, maps: model.maps.map(replaced) })) };
    }
    const metrics = Object.entries(content.metrics).map(([metric, source]) => [metric, replaced(source)]);
    return { ...content, metrics: Object.fromEntries(metrics) as (typeof content)["metrics"] };
  };
  return {
    ...plan,
    groups: plan.groups.map((group) => ({ ...group, provenance: {}, content: contentOf(group.content) })),
  };
}
