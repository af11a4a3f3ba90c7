/** The products in the hazard indicator store of OS-Climate that the recipe uses. */
import { BASELINE, type HazardName, type Scenario } from "../../hazard/hazards.ts";
import type { AqueductChoices } from "./aqueductNames.ts";
import { aqueductProvenance } from "./aqueductFloods.ts";
import { sspMappings, titleOfScenario } from "./scenarioMapping.ts";

/** The content of one array: all return periods of one climate model, scenario and year. */
export interface OscArray {
  readonly product: "aqueduct" | "jupiter";
  readonly hazard: HazardName & ("riverine_floods" | "coastal_floods" | "cyclones");
  readonly scenario: Scenario;
  /** The scenario of the store, if it is used as a proxy. */
  readonly theirScenario?: string;
  readonly year: number;
  readonly model: string;
}

const STORE = {
  recipe: "osc-zarr",
  store: "hazard indicator store of OS-Climate",
  url: "s3://os-climate-physical-risk/hazard-indicators/hazard.zarr",
} as const;

const JUPITER = {
  product: "Jupiter Intelligence, 1-minute winds",
  licence: "commercial (Jupiter Intelligence)",
  credit: "Jupiter Intelligence",
} as const;

/** The scenarios of the winds of Jupiter Intelligence. */
export const JUPITER_MAPPINGS = sspMappings(["ssp126", "ssp585"]);

/** Returns what the recipe states about the layers that an array becomes. */
export function oscProvenance(
  { product, hazard, scenario, theirScenario }: OscArray,
  choices: AqueductChoices,
): Readonly<Record<string, unknown>> {
  if (product === "aqueduct" && hazard !== "cyclones")
    return { ...aqueductProvenance(hazard, scenario, choices), ...STORE };
  return {
    ...JUPITER,
    ...STORE,
    ...(theirScenario === undefined || scenario === BASELINE.scenario
      ? {}
      : { proxy_of: titleOfScenario(theirScenario) }),
  };
}
