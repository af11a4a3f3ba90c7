import { describe, expect, test } from "vitest";
import { alignTemperature } from "../../../src/alignment/alignTemperature.ts";
import { roundTemperatures } from "../../../src/alignment/answer.ts";
import type { AlignTemperatureOptions } from "../../../src/alignment/options.ts";
import { ALIGNMENT_INCLUDES, BUDGET_SCENARIOS } from "../../../src/contract/names.ts";
import type { Entity } from "../../../src/contract/wireTypes.ts";
import { ANSWER_CLOSING, ANSWER_OPENING, encodeResults } from "../../../src/host/routes/alignmentText.ts";
import { randomEntity } from "../../oracle/alignment2/randomEntities.ts";
import { describeWithSharedMethod, sharedReference } from "../../oracle/alignment2/sharedMethod.ts";
import { randomFrom } from "../../seededRandom.ts";

const ENTITY: Entity = {
  entity_info: { name: 'Quoted "name"\n\u{1f600}', asset_type: "equity", country: "Germny", industry: "Stel" },
  data: [{ year: 2024, emissions: { scope1: 100, scope3: 900 }, financials: { revenue: 1e9 } }],
  projected_emissions: [
    { year: 2030, label: 'a "label"', emissions: { scope1: 90, scope3: 850 } },
    { year: 2030, label: "b", emissions: { scope1: 0 }, financials: { revenue: 3e9 } },
    { year: 2040, label: "b", emissions: { scope2: 5 } },
  ],
};

async function expectSameText(entities: readonly Entity[], options: AlignTemperatureOptions): Promise<void> {
  const answer = roundTemperatures(await alignTemperature(entities, options));
  const { text, units } = await encodeResults(entities, options);
  expect(`${ANSWER_OPENING}${text}${ANSWER_CLOSING}`).toBe(JSON.stringify(answer));
  const values = answer.results.flatMap(({ data }) => data.filter((year) => year.temperature_alignment !== null));
  expect(units).toBe(values.length);
}

describe("the text of a response", () => {
  test.each<AlignTemperatureOptions>([
    {},
    { detail: true },
    { basis: "cumulative", include: ["overall"] },
    ...ALIGNMENT_INCLUDES.map((member) => ({ include: [member] })),
    ...BUDGET_SCENARIOS.map((budgetScenario) => ({ include: ["budget"] as const, budgetScenario })),
  ])("is the JSON of the library's answer with %j", async (options) => {
    await expectSameText([ENTITY, { ...ENTITY, entity_info: { name: "", asset_type: "equity" } }], options);
  });
});

describeWithSharedMethod("the text of a response for random entities", () => {
  test("is the JSON of the library's answer", async () => {
    const random = randomFrom(8);
    for (let seed = 0; seed < 60; seed++) {
      const { options } = randomEntity(sharedReference(), seed);
      const entities = Array.from(
        { length: 1 + random.below(8) },
        (_, i) => randomEntity(sharedReference(), 1000 * seed + i).request as unknown as Entity,
      );
      const include = ALIGNMENT_INCLUDES.filter(() => random.chance(0.5));
      await expectSameText(entities, { ...options, include, detail: random.chance(0.2) });
    }
  });
});
