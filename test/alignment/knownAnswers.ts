/** The known answers of cases/alignment.json as requests, for the library, the command line and the HTTP service. */
import type { AlignTemperatureOptions } from "../../src/alignment/options.ts";
import { intensityOfIndustry } from "../../src/alignment/entityColumns.ts";
import type { AlignedYear, AlignmentResult, Entity, Pathway } from "../../src/contract/wireTypes.ts";
import { differencesOf } from "../oracle/alignment2/closeTo.ts";
import type { Scopes } from "../oracle/alignment2/figures.ts";
import { KNOWN_CASES, pointsOf, type RowInputs } from "../oracle/alignment2/knownCases.ts";

type Expected = Readonly<Record<string, unknown>>;

/** A known answer as a request. */
export interface KnownAnswer {
  readonly name: string;
  readonly entity: Entity;
  readonly options: Pick<AlignTemperatureOptions, "basis" | "convergence" | "scope3Weight">;
}

/** A known answer for one projected year. */
export interface KnownYear extends KnownAnswer {
  /** Index of the year in the entity. */
  readonly yearIndex: number;
  readonly expected: Expected;
}

/** A known answer for a whole entity: its element of `results`, unrounded. */
export interface KnownEntity extends KnownAnswer {
  readonly expected: Expected;
}

export const KNOWN_ENTITIES: readonly KnownEntity[] = KNOWN_CASES.entities.map(
  ({ name, options, request, expected }) => ({
    name,
    entity: request as unknown as Entity,
    options,
    expected,
  }),
);

/** Industry of each pathway in the list of industries. */
const INDUSTRY_OF_PATHWAY: Readonly<Record<Pathway, string>> = {
  economy: "Banks, major",
  power: "Electric utilities",
  energy_supply: "Coal mining",
  industry: "Iron and steel",
  transport: "Airlines",
  buildings: "Hotels, resorts and cruise lines",
};

export const KNOWN_YEARS: readonly KnownYear[] = KNOWN_CASES.cases.map(({ name, inputs, expected }) => {
  const { basis, gamma, w3 } = inputs;
  const points = pointsOf(inputs);
  return {
    name,
    entity: entityOfInputs(inputs, points),
    options: {
      ...(basis === undefined ? {} : { basis }),
      ...(gamma === undefined ? {} : { convergence: gamma }),
      ...(w3 === undefined ? {} : { scope3Weight: w3 }),
    },
    yearIndex: points.findIndex(({ year }) => year === inputs.year),
    expected,
  };
});

function entityOfInputs(inputs: RowInputs, points: NonNullable<RowInputs["points"]>): Entity {
  const { base_year, e0, sector = "economy", country, revenue, revenue_projected } = inputs;
  const convergenceRevenue = inputs.kappa === undefined ? undefined : revenueWithKappa(inputs);
  return {
    entity_info: {
      name: "known answer",
      asset_type: "equity",
      industry: INDUSTRY_OF_PATHWAY[sector],
      ...(country === undefined ? {} : { country }),
    },
    data: [
      {
        year: base_year,
        emissions: emissionsOf(e0),
        ...(revenue === undefined ? {} : { financials: { revenue } }),
        ...(convergenceRevenue === undefined
          ? {}
          : { financials: { revenue: convergenceRevenue, currency: "USD", price_year: 2022 } }),
      },
    ],
    projected_emissions: points.map(({ year, e }) => ({
      year,
      emissions: emissionsOf(e),
      ...(revenue_projected === undefined ? {} : { financials: { revenue: revenue_projected } }),
    })),
  };
}

/** Returns the revenue in USD of 2022 with which the entity has this ratio to the intensity of its industry. */
function revenueWithKappa({ e0, sector = "economy", kappa = NaN }: RowInputs): number {
  const intensity = intensityOfIndustry(INDUSTRY_OF_PATHWAY[sector], undefined);
  if (intensity === undefined) throw new Error(`${INDUSTRY_OF_PATHWAY[sector]} has no intensity.`);
  const { scope1TCO2ePerMUSD, scope2TCO2ePerMUSD, scope3TCO2ePerMUSD } = intensity;
  const emissions = e0.reduce<number>((sum, scope) => sum + (scope ?? NaN), 0);
  return (1e6 * emissions) / (kappa * (scope1TCO2ePerMUSD + scope2TCO2ePerMUSD + scope3TCO2ePerMUSD));
}

function emissionsOf([scope1, scope2, scope3]: Scopes): Entity["data"][number]["emissions"] {
  return {
    ...(scope1 === null ? {} : { scope1 }),
    ...(scope2 === null ? {} : { scope2 }),
    ...(scope3 === null ? {} : { scope3 }),
  };
}

/** Differences by more than 1e-6: tonnes relative to their size, all other figures absolutely. */
export function differences(expected: unknown, actual: unknown): ReturnType<typeof differencesOf> {
  return differencesOf(expected, actual, { tolerance: 1e-6, relative: ["allowed", "projected", "overshoot"] });
}

/** Differences of a year on the wire from a known answer. Figures that the year rounds are taken from its detail. */
export function yearDifferences(
  { expected }: KnownYear,
  year: AlignedYear | undefined,
): ReturnType<typeof differences> {
  const { detail, flags = [], reason, coverage } = year ?? {};
  if (detail === undefined) throw new Error("The year has no detail.");
  const figures: Readonly<Record<string, unknown>> = {
    ...detail,
    temperature_alignment: detail[`temperature_${detail.basis}`],
    flags,
    reason,
    coverage,
  };
  const names = Object.keys(expected);
  return differences(expected, Object.fromEntries(names.map((name) => [name, figures[name]])));
}

/**
 * Differences of a result on the wire from a known answer. Figures that a year rounds are taken from its detail, and must
 * be rounded to two decimals in the year. Overall and blended temperatures are compared after rounding.
 */
export function entityDifferences(
  { expected }: KnownEntity,
  { data, overall, blended, ...result }: AlignmentResult,
): ReturnType<typeof differences> {
  const { data: expectedData, overall: expectedOverall, blended: expectedBlended, ...expectedResult } = expected;
  const years = data.map(({ detail, ...year }) => {
    if (detail === undefined) throw new Error("The year has no detail.");
    const exact = {
      ...year,
      temperature_alignment: detail[`temperature_${detail.basis}`],
      ...(year.range === undefined ? {} : { range: detail.range }),
      ...(year.climate_range === undefined ? {} : { climate_range: detail.climate_range }),
      by_scope: detail.by_scope,
    };
    const { budget, ...others } = year;
    const { budget: _, ...exactOthers } = exact;
    return {
      ...exactOthers,
      ...(budget === undefined ? {} : { budget: detail.budget }),
      roundingErrors: differences(rounded({ ...exactOthers, coverage: 0 }), { ...others, coverage: 0 }),
    };
  });
  return differences(
    {
      ...expectedResult,
      ...(expectedOverall === undefined ? {} : { overall: rounded(expectedOverall) }),
      ...(expectedBlended === undefined ? {} : { blended: rounded(expectedBlended) }),
      data: (expectedData as readonly object[]).map((year) => ({ ...year, roundingErrors: [] })),
    },
    {
      ...result,
      ...(overall === undefined ? {} : { overall }),
      ...(blended === undefined ? {} : { blended }),
      data: years,
    },
  );
}

/** Rounds all numbers to two decimals. */
function rounded(value: unknown): unknown {
  if (typeof value === "number") return Math.round(100 * value) / 100;
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rounded(member)]));
}
