/** Known answers of temperature alignment, method version 2, against the reference implementation. */
import { expect, it } from "vitest";
import { differencesOf } from "./closeTo.ts";
import { scoreEntity } from "./entity.ts";
import { type EntityCase, KNOWN_CASES, pointsOf, type RowInputs } from "./knownCases.ts";
import { growthSeriesOf } from "./names.ts";
import type { Reference } from "./reference.ts";
import { entityElement, yearElement } from "./response.ts";
import { scoreRow } from "./row.ts";
import type { Row } from "./row.ts";
import { describeWithSharedMethod, sharedReference } from "./sharedMethod.ts";

/** Tonnes are compared relative to their size, all other figures absolutely. */
const COMPARISON = { tolerance: 1e-6, relative: ["allowed", "projected", "overshoot"] };

describeWithSharedMethod("known answers of temperature alignment, method version 2", () => {
  it("include 48 rows and 15 entities", () => {
    expect([KNOWN_CASES.cases.length, KNOWN_CASES.entities.length]).toEqual([48, 15]);
  });

  it.each(KNOWN_CASES.cases)("scores the row: $name", ({ inputs, expected }) => {
    const scored = scoreRow(sharedReference(), rowOf(sharedReference(), inputs));
    // The list of flags is compared in full: an absent list in the answer means none.
    const actual = {
      ...yearElement(scored),
      flags: scored.flags,
      evaluated_year: scored.evaluatedYear,
      ...(scored.anchors === null
        ? {}
        : {
            emissions_ratio_q: scored.ratio,
            benchmark_ratio_at_anchors: scored.anchors,
            growth_factor: scored.growth?.factor ?? 1,
          }),
    };
    expect(differencesOf(expected, actual, COMPARISON)).toEqual([]);
  });

  it.each(KNOWN_CASES.entities)("scores the entity: $name", ({ request, options, expected, ...rest }) => {
    const factors = rest.industry_factors_t_per_musd;
    const reference = factors === undefined ? sharedReference() : withFactors(sharedReference(), factors);
    const { entity_info: _, ...expectedElement } = expected;
    const actual = entityElement(scoreEntity(reference, request, options));
    expect(differencesOf(expectedElement, actual, COMPARISON)).toEqual([]);
  });
});

function rowOf(reference: Reference, inputs: RowInputs): Row {
  return {
    basis: inputs.basis ?? "intensity",
    pathway: inputs.sector ?? "economy",
    growthSeries: inputs.country === undefined ? null : growthSeriesOf(reference, inputs.country),
    weights: [1, 1, inputs.w3 ?? 1],
    baselineYear: inputs.base_year,
    baseline: inputs.e0,
    year: inputs.year,
    projected: inputs.e1,
    points: pointsOf(inputs).map(({ year, e }) => ({ year, emissions: e })),
    revenue: inputs.revenue ?? null,
    projectedRevenue: inputs.revenue_projected ?? null,
    convergence:
      inputs.kappa === undefined || inputs.gamma === undefined ? null : { gamma: inputs.gamma, kappa: inputs.kappa },
    isDuplicateYear: false,
  };
}

/** The tables with the industry factors that the answer was computed with. */
function withFactors(reference: Reference, factors: NonNullable<EntityCase["industry_factors_t_per_musd"]>): Reference {
  const { scope1, scope2, scope3 } = factors;
  return {
    ...reference,
    industries: reference.industries.map((industry) => ({ ...industry, factors: [scope1, scope2, scope3] })),
  };
}
