import type { Kernel } from "../kernel/instance.ts";
import { type GroupRows, PartComputer, type PartKey, type PartOptions } from "./partComputer.ts";
import type { HazardPlan } from "./plan.ts";
import { SupplementComputer } from "./supplementComputer.ts";

/** Returns what computes the parts of a plan: of its metrics, or of a supplement. */
export function createPartComputer(
  kernel: Kernel,
  plan: HazardPlan,
  options: PartOptions,
): { compute(key: PartKey): Promise<GroupRows> } {
  return plan.supplement === undefined
    ? new PartComputer(kernel, plan, options)
    : new SupplementComputer(kernel, plan, options);
}
