import type { Entity } from "../../src/contract/wireTypes.ts";

/** A valid entity. Its temperature in 2050 on the basis `intensity` is 2.089290 degrees C. */
export const ENTITY: Entity = {
  entity_info: {
    identifier: "42",
    name: "Example Oil plc",
    asset_type: "equity",
    country: "France",
    industry_classification_system: "sics",
    industry: "Oil & Gas - Refining & Marketing",
    sector: "Extractives",
  },
  data: [
    {
      year: 2023,
      emissions: { scope1: 5e5, scope2: 3e5, scope3: 1e6 },
      financials: { revenue: 1e9, ebitda: 2e8 },
    },
  ],
  projected_emissions: [
    { year: 2050, emissions: { scope1: 2e5, scope2: 1.5e5, scope3: 4e5 } },
    { year: 2030, emissions: { scope1: 8e5, scope2: 1e5, scope3: 5e5 } },
  ],
};
