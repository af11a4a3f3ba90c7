import { expect, test } from "vitest";
import { alignColumns } from "../../src/alignment/alignColumns.ts";
import { columnsOf } from "./entities.ts";
import { describeWithReference, readShared } from "./sharedReference.ts";
import { type Emissions, entityOf, yearOf } from "./exampleEntities.ts";

interface KnownCase {
  readonly name: string;
  readonly inputs: {
    readonly base_year: number;
    readonly e0: readonly (number | null)[];
    readonly year: number;
    readonly e1: readonly (number | null)[];
    readonly sector?: string;
    readonly country?: string;
    readonly country_region?: string;
    readonly kappa?: number;
    readonly gamma?: number;
  };
  readonly expected: {
    readonly temperature_alignment: number;
    readonly emissions_ratio_q: number;
    readonly benchmark_ratio_at_anchors: readonly number[];
    readonly evaluated_year: number;
  };
}

/** An industry name for each pathway. */
const SECTOR_NAMES: Readonly<Record<string, string>> = {
  power: "Electricity",
  energy_supply: "Oil and gas",
  industry: "Cement",
  transport: "Airlines",
  buildings: "Real estate",
};

function emissionsOfCase(scopes: readonly (number | null)[]): Emissions {
  const given = scopes.map((value, i) => [`scope${i + 1}`, value] as const).filter(([, value]) => value !== null);
  return Object.fromEntries(given);
}

const known = readShared("cases/alignment.json") as { readonly cases?: readonly KnownCase[] };

describeWithReference("known answers", () => {
  const cases = known.cases ?? [];

  test("are not empty", () => {
    expect(cases.length).toBeGreaterThan(20);
  });

  test.each(cases)("$name", async ({ inputs, expected }) => {
    const { base_year, e0, year, e1, sector, country, country_region, kappa, gamma } = inputs;
    // The cases give kappa, so the industry intensity is that of the entity divided by kappa.
    const industry = sector === undefined ? undefined : SECTOR_NAMES[sector];
    const entity = entityOf({
      info: { ...(industry === undefined ? {} : { industry }), ...(country === undefined ? {} : { country }) },
      baselineYear: base_year,
      baseline: emissionsOfCase(e0),
      years: { [year]: emissionsOfCase(e1) },
    });
    if (kappa !== undefined && gamma !== undefined) {
      const columns = columnsOf([
        {
          baselineYear: base_year,
          baseline: e0.map((value) => value ?? undefined),
          pathway: sector ?? "economy",
          region: 0,
          revenue: 1,
          reference: [(e0[0] ?? NaN) / kappa, 0, 0],
          projections: [{ year, emissions: e1.map((value) => value ?? undefined) }],
        },
      ]);
      const { temperaturesC } = await alignColumns(columns, { convergence: { gamma } });
      expect(temperaturesC[0]).toBeCloseTo(expected.temperature_alignment, 6);
      return;
    }
    // Without a country the growth is pooled, so that both point bases give the same result.
    const { temperature_alignment, detail } = await yearOf(entity);
    expect(Math.abs((temperature_alignment ?? NaN) - expected.temperature_alignment)).toBeLessThanOrEqual(1e-6);
    expect(Math.abs((detail?.emissions_ratio_q ?? NaN) - expected.emissions_ratio_q)).toBeLessThanOrEqual(1e-6);
    expect(detail?.evaluated_year).toBe(expected.evaluated_year);
    expect(detail?.pathway).toBe(sector ?? "economy");
    expect(detail?.growth_region).toBe(country_region ?? "world_proxy_oecd_asia");
    for (const [i, ratio] of expected.benchmark_ratio_at_anchors.entries()) {
      expect(Math.abs((detail?.benchmark_ratio_at_anchors?.[i] ?? NaN) - ratio)).toBeLessThanOrEqual(1e-4);
    }
  });
});
