import fc from "fast-check";
import { Fault } from "../../src/errors.ts";
import { HAZARD_NAMES, HAZARDS } from "../../src/hazard/hazards.ts";
import type { HazardQueryInput } from "../../src/contract/wireTypes.ts";

/** A valid query, of which tests use modified copies. */
export const VALID_QUERY = {
  latitude: 11.5,
  longitude: 43.1,
  hazards: ["riverine_floods", "cyclones"],
  analysis_years: [2030, 2050],
  scenarios: ["baseline", "rcp8p5"],
} as const satisfies HazardQueryInput;

/** Arbitrary valid queries: hazards in any order, with years and scenarios that all of them offer. */
export const validQueries: fc.Arbitrary<HazardQueryInput> = fc
  .shuffledSubarray([...HAZARD_NAMES], { minLength: 1 })
  .chain((hazards) => {
    const offered = hazards.map((hazard) => HAZARDS[hazard]);
    const [first] = offered;
    const years = (first?.years ?? []).filter((year) => offered.every((spec) => spec.years.includes(year)));
    const scenarios = (first?.scenarios ?? []).filter((one) => offered.every((spec) => spec.scenarios.includes(one)));
    return fc.record(
      {
        latitude: fc.double({ min: -90, max: 90, noNaN: true }),
        longitude: fc.double({ min: -180, max: 180, noNaN: true }),
        hazards: fc.constant(hazards),
        analysis_years: fc.shuffledSubarray(years, { minLength: 1 }),
        scenarios: fc.shuffledSubarray(scenarios, { minLength: 1 }),
        radius: fc.double({ min: 0, max: 100, noNaN: true }),
        aggregation_method: fc.constantFrom("max" as const, "mean" as const),
        total_hazard: fc.boolean(),
        anthropogenic: fc.boolean(),
        detail: fc.boolean(),
      },
      { requiredKeys: ["latitude", "longitude", "hazards", "analysis_years", "scenarios"] },
    );
  });

/** Returns the URL parameters of a query. */
export function parametersOf(query: object): Map<string, string> {
  return new Map(Object.entries(query).map(([name, value]) => [name, String(value)]));
}

export function queryTextOf(parameters: ReadonlyMap<string, string>): string {
  return [...parameters].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

/** An invalid value for a parameter of any valid query. */
export interface InvalidParameter {
  readonly parameter: string;
  readonly text: string;
}

const NUMBERS = ["", "abc", "0x10", "1,5", ".5", "5.", "1e", " 1", "+1", "NaN", "Infinity", "1e400", "-1e400", "1_000"];

/** Texts that are invalid for their parameter regardless of the other values. */
export const invalidParameters: fc.Arbitrary<InvalidParameter> = fc.constantFrom(
  ...[...NUMBERS, "90.001", "-91"].map((text) => ({ parameter: "latitude", text })),
  ...[...NUMBERS, "180.1", "-181"].map((text) => ({ parameter: "longitude", text })),
  ...[...NUMBERS, "-0.1", "100.5"].map((text) => ({ parameter: "radius", text })),
  ...["", ",", "cyclones,", "hail", "CYCLONES", "cyclones,cyclones", "cyclones,hail"].map((text) => ({
    parameter: "hazards",
    text,
  })),
  ...["", "2050,", "x", "2050.5", "2050,2050", "1e400"].map((text) => ({ parameter: "analysis_years", text })),
  ...["", "rcp85", "baseline,baseline", "baseline,,rcp8p5"].map((text) => ({ parameter: "scenarios", text })),
  ...["", "median", "MAX", "max,mean"].map((text) => ({ parameter: "aggregation_method", text })),
  ...["total_hazard", "anthropogenic", "detail"].flatMap((parameter) =>
    ["", "1", "TRUE", "yes"].map((text) => ({ parameter, text })),
  ),
  { parameter: "Latitude", text: "1" },
  { parameter: "key", text: "value" },
  { parameter: "__proto__", text: "1" },
);

/** Returns the Fault that a call throws, or undefined if it throws nothing. */
export function rejectionOf(read: () => unknown): Fault | undefined {
  try {
    read();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  return undefined;
}

/** Returns the Fault that a call throws. @throws Error if it throws none */
export function faultOf(read: () => unknown): Fault {
  const fault = rejectionOf(read);
  if (fault === undefined) throw new Error("no fault was thrown");
  return fault;
}
