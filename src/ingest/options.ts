import type { FaultItem } from "../errors.ts";
import { checkOptions, quote, type ValueSchema } from "../schemaErrors.ts";
import type { IngestOptions } from "./plan.ts";

const DEGREES: ValueSchema = { type: "number" };

/** Every member of IngestOptions but `nodata`, which may be infinite. */
const MEMBERS: Readonly<Record<string, ValueSchema>> = {
  out: { type: "string" },
  bbox: {
    type: "object",
    properties: { westDeg: DEGREES, southDeg: DEGREES, eastDeg: DEGREES, northDeg: DEGREES },
    required: ["westDeg", "southDeg", "eastDeg", "northDeg"],
    additionalProperties: false,
  },
  holdFlat: { type: "boolean" },
  clampNegative: { type: "boolean" },
  clampTolerance: { type: "number" },
  assumeWgs84: { type: "boolean" },
  checkpointSeconds: { type: "number" },
  keepMeridian: { enum: ["west", "east"] },
  release: { type: "string" },
  signal: { type: "signal" },
  onProgress: { type: "function" },
};

/**
 * Checks the options of an ingest before any file is opened. Ranges that depend on the maps are checked later.
 *
 * @param own the members that only this ingest has; all of them are required
 * @throws Fault `invalid_request` with every unknown member and every value of the wrong type
 */
export function checkIngestOptions(options: IngestOptions, own: Readonly<Record<string, ValueSchema>>): void {
  const isObject = typeof options === "object" && options !== null;
  const { nodata, ...others }: Partial<IngestOptions> = isObject ? options : {};
  const items: FaultItem[] = [];
  if (nodata !== undefined && (typeof nodata !== "number" || Number.isNaN(nodata))) {
    const detail = `nodata must be a number, which may be infinite (got ${quote(nodata)}); NaN is always missing.`;
    items.push({ pointer: "/nodata", code: "wrong_type", detail });
  }
  const shape: ValueSchema = {
    type: "object",
    properties: { ...own, ...MEMBERS },
    required: ["out", ...Object.keys(own)],
    additionalProperties: false,
  };
  checkOptions(isObject ? others : options, shape, { code: "invalid_request", items });
}
