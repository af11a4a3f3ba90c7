import { interpolateYearly } from "./yearlySeries.ts";

const TEMPERATURE_YEARS = [2020, 2025, 2030, 2035, 2040, 2045, 2050, 2055, 2060, 2070, 2080, 2090, 2100] as const;

/**
 * Global mean surface temperature above 1850-1900, degrees C, one line per path.
 *
 * NGFS: Climate Scenarios Phase V (November 2024), MAGICC v7.5.3, median, over MESSAGEix-GLOBIOM 2.0. SSP: IPCC AR6 WGI
 * table SPM.1, best estimates. C1 to C8: IPCC AR6 WGIII table SPM.2, medians, in 2050 those of the matching SSP. IPCC
 * values between the years of those tables are interpolated linearly.
 */
const TEMPERATURE_TABLE = `
NGFS_BELOW_2C|1.227 1.377 1.492 1.602 1.685 1.728 1.772 1.777 1.788 1.775 1.739 1.71 1.687
NGFS_CURRENT_POLICIES|1.227 1.376 1.47 1.587 1.702 1.802 1.922 2.011 2.112 2.286 2.425 2.58 2.754
NGFS_DELAYED_TRANSITION|1.228 1.375 1.471 1.61 1.715 1.775 1.835 1.841 1.856 1.846 1.807 1.776 1.751
NGFS_FRAGMENTED_WORLD|1.227 1.375 1.47 1.602 1.716 1.804 1.894 1.94 1.981 2.025 2.04 2.072 2.109
NGFS_LOW_DEMAND|1.228 1.377 1.5 1.601 1.661 1.678 1.697 1.679 1.667 1.607 1.536 1.491 1.466
NGFS_NDC|1.228 1.376 1.474 1.596 1.701 1.764 1.836 1.866 1.903 1.953 1.972 2.002 2.029
NGFS_NET_ZERO_2050|1.227 1.377 1.501 1.598 1.653 1.67 1.69 1.668 1.655 1.599 1.53 1.484 1.455
IPCC_SSP1_19|1.23 1.365 1.5 1.525 1.55 1.575 1.6 1.575 1.55 1.5 1.45 1.4 1.4
IPCC_SSP1_26|1.23 1.365 1.5 1.55 1.6 1.65 1.7 1.712 1.725 1.75 1.775 1.8 1.8
IPCC_SSP2_45|1.23 1.365 1.5 1.625 1.75 1.875 2 2.087 2.175 2.35 2.525 2.7 2.7
IPCC_SSP3_70|1.23 1.365 1.5 1.65 1.8 1.95 2.1 2.288 2.475 2.85 3.225 3.6 3.6
IPCC_SSP5_85|1.23 1.415 1.6 1.8 2 2.2 2.4 2.65 2.9 3.4 3.9 4.4 4.4
IPCC_C1|1.23 1.365 1.5 1.525 1.55 1.575 1.6 1.57 1.54 1.48 1.42 1.36 1.3
IPCC_C2|1.23 1.365 1.5 1.55 1.6 1.65 1.7 1.67 1.64 1.58 1.52 1.46 1.4
IPCC_C3|1.23 1.365 1.5 1.55 1.6 1.65 1.7 1.69 1.68 1.66 1.64 1.62 1.6
IPCC_C4|1.23 1.365 1.5 1.575 1.65 1.725 1.8 1.8 1.8 1.8 1.8 1.8 1.8
IPCC_C5|1.23 1.365 1.5 1.6 1.7 1.8 1.9 1.92 1.94 1.98 2.02 2.06 2.1
IPCC_C6|1.23 1.365 1.5 1.625 1.75 1.875 2 2.07 2.14 2.28 2.42 2.56 2.7
IPCC_C7|1.23 1.365 1.5 1.65 1.8 1.95 2.1 2.24 2.38 2.66 2.94 3.22 3.5
IPCC_C8|1.23 1.415 1.6 1.8 2 2.2 2.4 2.58 2.76 3.12 3.48 3.84 4.2
`;

const BY_PATH: ReadonlyMap<string, Float64Array> = new Map(
  TEMPERATURE_TABLE.trim()
    .split("\n")
    .map((line) => {
      const [path = "", values = ""] = line.split("|");
      return [path, interpolateYearly(TEMPERATURE_YEARS, values.split(" ").map(Number))];
    }),
);

/** Returns the global warming above 1850-1900, degrees C, by year from 2020. */
export function warmingOf(path: string): Float64Array {
  const warming = BY_PATH.get(path);
  if (warming === undefined) throw new Error(`Unknown temperature path ${path}.`);
  return warming;
}
