/** The products in the hazard indicator store of OS-Climate that the recipe uses. */
import { BASELINE } from "../../hazard/hazards.ts";
import type { AqueductChoices } from "./aqueductNames.ts";
import { aqueductProvenance } from "./aqueductFloods.ts";
import type { OscArray } from "./oscStore.ts";
import { titleOfScenario } from "./scenarioMapping.ts";

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
