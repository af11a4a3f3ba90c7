import { describe, expect, test } from "vitest";
import { readEntities } from "../../src/alignment/entity.ts";
import { isFault } from "../../src/errors.ts";

interface LabelMembers {
  readonly label?: unknown;
  readonly probability?: unknown;
}

function entityWith(records: readonly LabelMembers[]): unknown {
  return {
    entity_info: { name: "Labeled", asset_type: "equity" },
    data: [{ year: 2025, emissions: { scope1: 100 } }],
    projected_emissions: records.map((members) => ({ year: 2030, emissions: { scope1: 50 }, ...members })),
  };
}

/** Returns the pointer into the records, the code and the detail of each error. */
function errorsOf(records: readonly LabelMembers[]): string[] {
  try {
    readEntities([entityWith(records)]);
    return [];
  } catch (error) {
    if (!isFault(error, "invalid_request")) throw error;
    return error.items.map(
      ({ pointer, code, detail }) => `${(pointer ?? "").replace("/0/projected_emissions", "")} ${code}: ${detail}`,
    );
  }
}

describe("labels and probabilities", () => {
  test.each([
    { name: "no labels", records: [{}, {}] },
    { name: "labels without probabilities", records: [{ label: "a" }, { label: "b" }, { label: "a" }] },
    {
      name: "the same probability in all records of a label",
      records: [
        { label: "a", probability: 0.4 },
        { label: "b", probability: 0 },
        { label: "a", probability: 0.4 },
      ],
    },
    { name: "a label of 64 characters outside the BMP", records: [{ label: "\u{1f600}".repeat(64) }] },
    { name: "a single label", records: [{ label: "a", probability: 1 }] },
  ])("accepts $name", ({ records }) => {
    expect(errorsOf(records)).toEqual([]);
  });

  test.each([
    { name: "an empty label", records: [{ label: "" }], errors: ["/0/label out_of_range"] },
    {
      name: "a blank label",
      records: [{ label: "  " }, { label: "a" }],
      errors: ["/0/label empty"],
    },
    { name: "a label of 65 characters", records: [{ label: "x".repeat(65) }], errors: ["/0/label out_of_range"] },
    { name: "a label that is not text", records: [{ label: 5 }], errors: ["/0/label wrong_type"] },
    {
      name: "a probability outside 0 to 1",
      records: [
        { label: "a", probability: -0.1 },
        { label: "b", probability: 1.1 },
      ],
      errors: ["/0/probability out_of_range", "/1/probability out_of_range"],
    },
    {
      name: "a probability that is not a number",
      records: [{ label: "a", probability: "0.5" }],
      errors: ["/0/probability wrong_type"],
    },
    {
      name: "a label on some records only",
      records: [{ label: "a" }, {}, { label: "a" }, {}],
      errors: ["/1/label missing", "/3/label missing"],
    },
    { name: "a probability without a label", records: [{ probability: 1 }], errors: ["/0/probability not_expected"] },
    {
      name: "different probabilities of a label",
      records: [{ label: "a", probability: 0.5 }, { label: "a", probability: 0.6 }, { label: "a" }],
      errors: ["/1/probability not_allowed", "/2/probability missing"],
    },
    {
      name: "a probability in a later record of a label only",
      records: [{ label: "a" }, { label: "a", probability: 0.5 }],
      errors: ["/1/probability not_expected"],
    },
    {
      name: "probabilities for some labels only",
      records: [{ label: "a", probability: 0.5 }, { label: "b" }, { label: "c" }],
      errors: ["/1/probability missing", "/2/probability missing"],
    },
    {
      name: "probabilities that are all 0",
      records: [
        { label: "a", probability: 0 },
        { label: "b", probability: 0 },
      ],
      errors: ["/0/probability out_of_range"],
    },
  ])("rejects $name", ({ records, errors }) => {
    expect(errorsOf(records).map((error) => error.split(":")[0])).toEqual(errors);
  });

  test("are explained with what is accepted", () => {
    const records = [
      { label: "a", probability: 0.5 },
      { label: "a", probability: 0.6 },
      { label: "" },
      {},
      { label: "b" },
      { label: " " },
    ];
    expect(errorsOf(records)).toEqual([
      "/2/label out_of_range: label must be text of 1 to 64 characters (got 0 characters).",
      '/1/probability not_allowed: probability must be 0.5, as in the first record with the label "a" (got 0.6).',
      "/3/label missing: label must be given in all records of an entity or in none.",
      "/5/label empty: label must not be blank.",
      "/4/probability missing: probability must be given for all labels of an entity or for none.",
    ]);
  });

  test("are not compared with values that are invalid by themselves", () => {
    const codesOf = (records: readonly LabelMembers[]): readonly (string | undefined)[] =>
      errorsOf(records).map((error) => error.split(":")[0]);
    expect(codesOf([{ label: "a" }, { label: null }])).toEqual(["/1/label wrong_type"]);
    expect(codesOf([{ label: 5, probability: 1 }])).toEqual(["/0/label wrong_type"]);
    expect(
      codesOf([
        { label: "a", probability: 2 },
        { label: "a", probability: 0 },
        { label: "b", probability: 0 },
      ]),
    ).toEqual(["/0/probability out_of_range"]);
  });

  test("are checked in each entity of a long list, and at most 100 errors are reported", () => {
    const wrong = entityWith(Array.from({ length: 60 }, (_, i) => (i === 0 ? { label: "a" } : {})));
    try {
      readEntities([entityWith([{}]), wrong, wrong]);
      expect.unreachable();
    } catch (error) {
      if (!isFault(error)) throw error;
      expect(error.items).toHaveLength(100);
      expect(error.items[0]?.pointer).toBe("/1/projected_emissions/1/label");
      expect(error.items[99]?.pointer).toBe("/2/projected_emissions/41/label");
    }
  });
});
