import type { CurveQueryInput, CurveResult, HazardQueryInput, HazardResult } from "../contract/wireTypes.ts";
import { isFault } from "../errors.ts";
import type { LocalAtlas } from "../hazard/answer.ts";
import type { RefusedElement } from "../hazard/batch.ts";
import type { SampleRequest, SampleResult } from "../hazard/sampleRequest.ts";
import type { PartialScoreRequest } from "../hazard/scoring/scoreRequest.ts";
import type { ValueTileRequest } from "../hazard/valueTiles.ts";
import type { ValueTile } from "../tiles/valueTile.ts";
import { type PackedError, packError, unpackError } from "../concurrency/errorTransfer.ts";
import { handle, type TaskHandlers, type TaskKind } from "./taskKinds.ts";

/** Samples layers at many locations. Locations and output arrays share one buffer, which is moved to the worker and back. */
export const SAMPLE: TaskKind<Omit<SampleRequest, "signal" | "onProgress">, SampleResult> = { name: "sample" };

/** Scores places into shared memory. */
export const SCORE: TaskKind<Omit<PartialScoreRequest, "signal" | "onBusy">, void> = { name: "score" };

/** Computes a map tile. */
export const VALUE_TILE: TaskKind<ValueTileRequest, ValueTile> = { name: "valueTile" };

/** Answers the queries of a batch. */
export const QUERIES: TaskKind<readonly HazardQueryInput[], readonly PackedElement<HazardResult>[]> = {
  name: "queries",
};

/** Answers the queries of a batch of curves. */
export const CURVES: TaskKind<readonly CurveQueryInput[], readonly PackedElement<CurveResult>[]> = { name: "curves" };

export type PackedElement<Result> = Result | { readonly refused: PackedError };

function packElement<Result extends object>(element: Result | RefusedElement): PackedElement<Result> {
  return isRefusedElement(element) ? { refused: packError(element.error) } : element;
}

function isRefusedElement(element: object): element is RefusedElement {
  return "error" in element;
}

/** Restores an element of a batch result from a worker. */
export function unpackElement<Result extends object>(element: PackedElement<Result>): Result | RefusedElement {
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
    handle(SCORE, async (payload, { signal, timeSlice }) => {
      await atlas.score({ ...payload, signal }, timeSlice);
      return { result: undefined };
    }),
    handle(VALUE_TILE, async (request, { signal, timeSlice }) => {
      const tile = await atlas.valueTile(request, { signal, timeSlice });
      return { result: tile, transfer: [tile.steps.buffer as ArrayBuffer] };
    }),
    handle(QUERIES, async (queries, { signal, timeSlice }) => {
      const results = await atlas.hazardRiskBatch(queries, { signal }, { timeSlice });
      return { result: results.map(packElement) };
    }),
    handle(CURVES, async (queries, { signal, timeSlice }) => {
      const results = await atlas.curveBatch(queries, { signal }, { timeSlice });
      return { result: results.map(packElement) };
    }),
  ]);
}
