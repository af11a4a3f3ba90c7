import type { HazardQueryInput, HazardResult } from "../contract/wireTypes.ts";
import { isFault } from "../errors.ts";
import type { LocalAtlas, RefusedElement } from "../hazard/answer.ts";
import type { SampleRequest, SampleResult } from "../hazard/sampleRequest.ts";
import { type PackedError, packError, unpackError } from "../threads/errorTransfer.ts";
import { handle, type TaskHandlers, type TaskKind } from "./taskKinds.ts";

/** Samples layers at many locations. Locations and output arrays share one buffer, which is moved to the worker and back. */
export const SAMPLE: TaskKind<Omit<SampleRequest, "signal" | "onProgress">, SampleResult> = { name: "sample" };

/** Answers the queries of a batch. */
export const QUERIES: TaskKind<readonly HazardQueryInput[], readonly PackedElement[]> = { name: "queries" };

type PackedElement = HazardResult | { readonly refused: PackedError };

/** Restores an element of a batch result from a worker. */
export function unpackElement(element: PackedElement): HazardResult | RefusedElement {
  if (!("refused" in element)) return element;
  const error = unpackError(element.refused);
  if (!isFault(error)) throw error;
  return { error };
}

/** Returns the handlers of the library's tasks. */
export function atlasTasks(atlas: LocalAtlas): TaskHandlers {
  return new Map([
    handle(SAMPLE, async (payload, { signal, timeSlice }) => {
      const { values, reasons } = await atlas.sample({ ...payload, signal }, timeSlice);
      const buffers = new Set([values.buffer as ArrayBuffer, reasons.buffer as ArrayBuffer]); // usually the same buffer
      return { result: { values, reasons }, transfer: [...buffers] };
    }),
    handle(QUERIES, async (queries, { signal, timeSlice }) => {
      const results = await atlas.hazardRiskBatch(queries, { signal }, { timeSlice });
      return {
        result: results.map((element) => ("error" in element ? { refused: packError(element.error) } : element)),
      };
    }),
  ]);
}
