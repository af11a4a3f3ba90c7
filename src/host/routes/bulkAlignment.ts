import type { Entity } from "../../contract/wireTypes.ts";
import type { WholeBulkRoute } from "../bulkRoute.ts";
import { jsonReply } from "../route.ts";
import { alignment, optionsOf, type ParsedAlignmentRequest } from "./alignment.ts";
import { ANSWER_CLOSING, ANSWER_OPENING, encodeResults } from "./alignmentText.ts";

/** Projected years per chunk, which takes a fraction of a time slice. */
const YEARS_PER_CHUNK = 2048;
/** A year with detail is about ten times as long as one without, and takes about ten times as much time. */
const DETAILED_YEARS_PER_CHUNK = 128;
const encoder = new TextEncoder();

/** Answers an alignment of many entities chunk by chunk, with the same bytes as `alignment`. */
export const bulkAlignment: WholeBulkRoute<ParsedAlignmentRequest> = {
  kind: "whole",
  route: alignment,
  async answer(request, { timeSlice, reportProgress }) {
    const { entities, parameters } = request;
    const options = optionsOf(request);
    const parts: Uint8Array[] = [];
    let units = 0;
    let doneCount = 0;
    let partialResultBytes = 0;
    const add = (text: string): void => {
      const part = encoder.encode(text);
      parts.push(part);
      partialResultBytes += part.length;
    };
    const yearCountMax = parameters.detail === true ? DETAILED_YEARS_PER_CHUNK : YEARS_PER_CHUNK;
    for (const chunk of chunksOf(entities, yearCountMax)) {
      await timeSlice.yield();
      const encoded = await encodeResults(chunk, options);
      add((doneCount === 0 ? ANSWER_OPENING : ",") + encoded.text);
      units += encoded.units;
      doneCount += chunk.length;
      reportProgress({ doneCount, totalCount: entities.length, partialResultBytes });
    }
    add(ANSWER_CLOSING);
    return jsonReply(parts, units);
  },
};

/** Divides entities into chunks of a limited number of projected years; an entity is never divided. */
function* chunksOf(entities: readonly Entity[], yearCountMax: number): Generator<readonly Entity[]> {
  let start = 0;
  let yearCount = 0;
  for (const [i, { projected_emissions }] of entities.entries()) {
    if (i > start && yearCount + projected_emissions.length > yearCountMax) {
      yield entities.slice(start, i);
      start = i;
      yearCount = 0;
    }
    yearCount += projected_emissions.length;
  }
  yield entities.slice(start);
}
