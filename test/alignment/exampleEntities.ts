import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import type { AlignTemperatureOptions } from "../../src/alignment/options.ts";
import type { AlignedYear, Entity } from "../../src/contract/wireTypes.ts";

export type Emissions = Entity["data"][number]["emissions"];
type EntityInfo = Entity["entity_info"];

/** Creates an entity with one baseline and some later years; a number means scope 1 emissions only. */
export function entityOf(spec: {
  readonly info?: Partial<EntityInfo>;
  readonly baselineYear?: number;
  readonly baseline: number | Emissions;
  readonly revenue?: number;
  readonly years: Readonly<Record<number, number | Emissions>>;
}): Entity {
  const emissionsOf = (value: number | Emissions): Emissions => (typeof value === "number" ? { scope1: value } : value);
  return {
    entity_info: { name: "Example", asset_type: "equity", ...spec.info },
    data: [
      {
        year: spec.baselineYear ?? 2025,
        emissions: emissionsOf(spec.baseline),
        ...(spec.revenue === undefined ? {} : { financials: { revenue: spec.revenue } }),
      },
    ],
    projected_emissions: Object.entries(spec.years).map(([year, value]) => ({
      year: Number(year),
      emissions: emissionsOf(value),
    })),
  };
}

/** Aligns one entity with `detail` and returns its first year. */
export async function yearOf(entity: Entity, options: AlignTemperatureOptions = {}): Promise<AlignedYear> {
  const { results } = await alignTemperature([entity], { detail: true, ...options });
  const year = results[0]?.data[0];
  if (year === undefined) throw new Error("The entity has no projected year.");
  return year;
}
