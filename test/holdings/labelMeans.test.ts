/** Scores and budgets of entities with several labeled projections. */
import { describe, expect, it } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import type { Entity, PortfolioOptions } from "../../src/contract/wireTypes.ts";
import { alignPortfolio } from "../../src/holdings/alignPortfolio.ts";

type ProjectionRecord = Entity["projected_emissions"][number];

const TARGET = { label: "target", probability: 0.25 };
const TREND = { label: "trend", probability: 0.75 };

function recordOf(year: number, scope1: number, members: Partial<ProjectionRecord> = {}): ProjectionRecord {
  return { year, emissions: { scope1 }, ...members };
}

function entityOf(records: readonly ProjectionRecord[]): Entity {
  return {
    entity_info: { name: "Example Cement AG", asset_type: "equity", country: "Germany", industry: "Cement" },
    data: [{ year: 2023, emissions: { scope1: 1000 } }],
    projected_emissions: [...records],
  };
}

/** Returns the holding of an entity, its score and its budget in a portfolio that contains nothing else. */
async function holdingOf(records: readonly ProjectionRecord[], options: PortfolioOptions = {}) {
  const holding = { id: "E", value: 100, evic: 100, entity: entityOf(records) };
  const { results, financed, entities } = await alignPortfolio([holding], options);
  const [entity] = entities;
  if (entity === undefined || "error" in entity) throw new Error("The entity was not scored.");
  return { temperature: results[0]?.temperature, uncovered: results[0]?.uncovered, budget: financed.budget, entity };
}

/** Returns the temperature and the budget of each record. */
async function yearsOf(records: readonly ProjectionRecord[]) {
  const { results } = await alignTemperature([entityOf(records)], { include: ["budget"] });
  return (results[0]?.data ?? []).map(({ temperature_alignment: temperature, budget }) => ({
    temperature: temperature ?? NaN,
    projected: budget?.projected ?? NaN,
  }));
}

describe("the score in a year", () => {
  it("is the mean over the labels by probability", async () => {
    const records = [recordOf(2040, 300, TARGET), recordOf(2040, 900, TREND)];
    const [target, trend] = await yearsOf(records);
    const { temperature, entity } = await holdingOf(records, { year: 2040 });
    expect(temperature).toBeCloseTo(0.25 * (target?.temperature ?? NaN) + 0.75 * (trend?.temperature ?? NaN), 12);
    expect(entity).not.toHaveProperty("excluded_labels");
  });

  it("is based on the last record of each label", async () => {
    const records = [recordOf(2040, 300, TARGET), recordOf(2040, 900, TREND), recordOf(2040, 500, TARGET)];
    const [, trend, target] = await yearsOf(records);
    const { temperature } = await holdingOf(records, { year: 2040 });
    expect(temperature).toBeCloseTo(0.25 * (target?.temperature ?? NaN) + 0.75 * (trend?.temperature ?? NaN), 12);
  });

  it("names a label whose last record has no temperature", async () => {
    const withoutScope: ProjectionRecord = { year: 2040, emissions: { scope2: 5 }, ...TARGET };
    const records = [recordOf(2040, 300, TARGET), withoutScope, recordOf(2040, 900, TREND)];
    const [, , trend] = await yearsOf(records);
    const { temperature, entity } = await holdingOf(records, { year: 2040 });
    expect(temperature).toBeCloseTo(trend?.temperature ?? NaN, 12);
    expect(entity.excluded_labels).toEqual({ s1s2s3: ["target"], budget: ["target"] });
  });

  it("names a label that has no record of the year, and the other labels are weighted among themselves", async () => {
    const records = [
      recordOf(2040, 300, { label: "low", probability: 0.2 }),
      recordOf(2040, 900, { label: "high", probability: 0.3 }),
      recordOf(2030, 600, { label: "short", probability: 0.5 }),
    ];
    const [low, high] = await yearsOf(records);
    const { temperature, entity } = await holdingOf(records, { year: 2040 });
    expect(temperature).toBeCloseTo(0.4 * (low?.temperature ?? NaN) + 0.6 * (high?.temperature ?? NaN), 12);
    expect(entity.excluded_labels).toEqual({ s1s2s3: ["short"], budget: ["short"] });
  });

  it("names the labels for each scope", async () => {
    const all = { scope1: 500, scope2: 50, scope3: 700 };
    const entity: Entity = {
      ...entityOf([]),
      data: [{ year: 2023, emissions: { scope1: 1000, scope2: 100, scope3: 900 } }],
      projected_emissions: [
        { year: 2040, emissions: all, ...TARGET },
        { year: 2040, emissions: { scope1: 500 }, ...TREND },
      ],
    };
    const { entities } = await alignPortfolio([{ id: "E", value: 1, entity }], {
      year: 2040,
      scopes: ["s1s2", "s3", "s1s2s3"],
    });
    expect(entities).toMatchObject([{ excluded_labels: { s3: ["trend"] } }]);
    expect(entities[0]).not.toHaveProperty("excluded_labels.s1s2");
  });

  it("is missing if the last record of the year has no temperature, or if its label has the probability 0", async () => {
    const withoutScope: ProjectionRecord = { year: 2040, emissions: { scope2: 5 } };
    const unlabeled = await holdingOf([recordOf(2040, 300), withoutScope], { year: 2040 });
    expect(unlabeled.uncovered).toEqual([{ id: "E", reason: "score_missing" }]);
    const records = [
      recordOf(2040, 300, { label: "never", probability: 0 }),
      recordOf(2050, 300, { label: "sure", probability: 1 }),
    ];
    const improbable = await holdingOf(records, { year: 2040 });
    expect(improbable.uncovered).toEqual([{ id: "E", reason: "score_missing" }]);
    expect(improbable.entity).not.toHaveProperty("excluded_labels");
  });
});

describe("the overall score", () => {
  it("names a label without any temperature", async () => {
    const withoutScope: ProjectionRecord = { year: 2040, emissions: { scope2: 5 }, ...TARGET };
    const { entity } = await holdingOf([withoutScope, recordOf(2040, 900, TREND)]);
    expect(entity.excluded_labels).toEqual({ s1s2s3: ["target"], budget: ["target"] });
  });
});

describe("the budget", () => {
  it("names a label that ends before the last year", async () => {
    const records = [recordOf(2030, 600, TARGET), recordOf(2030, 950, TREND), recordOf(2050, 900, TREND)];
    const [, , trend] = await yearsOf(records);
    const { budget, entity } = await holdingOf(records);
    expect(budget?.projected).toBeCloseTo(trend?.projected ?? NaN, 6);
    expect(entity.excluded_labels).toEqual({ budget: ["target"] });
  });

  it("is the mean over the labels by probability up to the year of the scores", async () => {
    const records = [recordOf(2030, 600, TARGET), recordOf(2030, 950, TREND), recordOf(2050, 900, TREND)];
    const [target, trend] = await yearsOf(records);
    const { budget, entity } = await holdingOf(records, { year: 2030 });
    expect(budget?.projected).toBeCloseTo(0.25 * (target?.projected ?? NaN) + 0.75 * (trend?.projected ?? NaN), 6);
    expect(entity).not.toHaveProperty("excluded_labels");
  });
});
