/** Titles of the scenarios of the company views. */

/** Scenarios of the NGFS, with the titles that the NGFS gives them. */
export const NGFS_TITLES = {
  NGFS_NET_ZERO_2050: "Net Zero 2050",
  NGFS_BELOW_2C: "Below 2 °C",
  NGFS_LOW_DEMAND: "Low Demand",
  NGFS_DELAYED_TRANSITION: "Delayed Transition",
  NGFS_NDC: "Nationally Determined Contributions (NDCs)",
  NGFS_FRAGMENTED_WORLD: "Fragmented World",
  NGFS_CURRENT_POLICIES: "Current Policies",
} as const;

const TITLES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(NGFS_TITLES),
  ...["C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8"].map(
    (category) => [`IPCC_${category}`, `IPCC ${category}`] as const,
  ),
  ["IPCC_SSP1_19", "IPCC SSP1-1.9"],
  ["IPCC_SSP1_26", "IPCC SSP1-2.6"],
  ["IPCC_SSP2_45", "IPCC SSP2-4.5"],
  ["IPCC_SSP3_70", "IPCC SSP3-7.0"],
  ["IPCC_SSP5_85", "IPCC SSP5-8.5"],
  ["IPCC_NET_ZERO", "IPCC net zero (C1)"],
]);

/** Returns the title of a transition scenario, or its id if it has none. */
export function transitionScenarioTitle(id: string): string {
  return TITLES.get(id) ?? id;
}
