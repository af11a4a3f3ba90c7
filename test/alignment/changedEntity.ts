/** An entity of which a table of edge cases changes members. */
import type { Entity } from "../../src/contract/wireTypes.ts";

type Scopes = Readonly<Record<string, unknown>>;

/** An entity of which a row changes members; its values may be invalid. */
export interface Parts {
  readonly info?: Readonly<Record<string, unknown>>;
  readonly baseline?: Scopes;
  readonly baselineYear?: unknown;
  readonly financials?: Readonly<Record<string, unknown>>;
  /** Projection records by year, or as they are. */
  readonly records?: readonly (readonly [year: unknown, emissions: Scopes, rest?: Readonly<Record<string, unknown>>])[];
}

/** Returns the request of one entity. */
export function entity({
  info = {},
  baseline = { scope1: 100 },
  baselineYear = 2025,
  financials,
  records,
}: Parts): Entity {
  return {
    entity_info: { name: "Company", asset_type: "equity", industry: "Consulting services", ...info },
    data: [{ year: baselineYear, emissions: baseline, ...(financials === undefined ? {} : { financials }) }],
    projected_emissions: (records ?? [[2030, { scope1: 100 }]]).map(([year, emissions, rest = {}]) => ({
      year,
      emissions,
      ...rest,
    })),
  } as unknown as Entity;
}
