import { describe, expect, test } from "vitest";
import { Fault } from "../../src/errors.ts";
import { checkOptionRanges, checkReprojectionOptions, type IngestOptions } from "../../src/ingest/options.ts";

const INVALID: readonly (readonly [string, Partial<IngestOptions>, string])[] = [
  ["release", { release: "-x" }, "The release name must be 1 to 100 letters"],
  ["checkpointSeconds", { checkpointSeconds: -1 }, "The time between checkpoints must be"],
  ["depthStepsPerMeter", { depthStepsPerMeter: 0.5 }, "The steps per meter of depths must be a number from 1 to 10000"],
  ["threads", { threads: 1.5 }, "The number of threads must be an integer from 0 to 64"],
  ["clampTolerance", { clampTolerance: 0, clampNegative: true }, "The clamp tolerance must be a finite number above 0"],
  ["bbox", { bbox: { westDeg: 5, southDeg: 0, eastDeg: 4, northDeg: 1 } }, "The box must be W,S,E,N"],
  ["cellSizeDeg", { cellSizeDeg: 11 }, "The cell size must be between 0.000001 and 10 degrees"],
  ["maxDistortion", { maxDistortion: 0 }, "The largest distortion must be"],
];

/** Returns the details of the fault that a check throws; none if it throws nothing. */
function errorsOf(check: () => void): readonly string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    expect(error.code).toBe("invalid_request");
    return error.items.map(({ detail }) => detail);
  }
}

describe("the ranges of the options of an ingest", () => {
  test.each(INVALID)("reject an invalid %s", (_name, options, beginning) => {
    const errors = errorsOf(() => checkOptionRanges({ out: "atlas", ...options }));
    expect(errors).toEqual([expect.stringContaining(beginning)]);
  });

  test("report all invalid options together", () => {
    const options = Object.assign({ out: "atlas" }, ...INVALID.map(([, invalid]) => invalid)) as IngestOptions;
    const errors = errorsOf(() => checkOptionRanges(options));
    expect(errors).toEqual(INVALID.map(([, , beginning]) => expect.stringContaining(beginning) as string));
  });

  test("reject a clamp tolerance without clampNegative", () => {
    expect(errorsOf(() => checkOptionRanges({ out: "atlas", clampTolerance: 1 }))).toEqual([
      expect.stringContaining("has no effect without --clamp-negative"),
    ]);
  });

  test("accept values at their limits", () => {
    const options = {
      threads: 64,
      depthStepsPerMeter: 10_000,
      cellSizeDeg: 10,
      maxDistortion: 1,
      checkpointSeconds: 0,
    };
    const bbox = { westDeg: 170, southDeg: -90, eastDeg: 190, northDeg: 90 };
    expect(errorsOf(() => checkOptionRanges({ out: "atlas", release: "a", bbox, ...options }))).toEqual([]);
  });

  test("of reprojection are checked before maps are opened", () => {
    expect(errorsOf(() => checkReprojectionOptions({ cellSizeDeg: 0, maxDistortion: Infinity }))).toHaveLength(2);
  });
});
