import { alignTemperature, alignValidEntities, entityEcho } from "../../alignment/alignTemperature.ts";
import { roundTemperatures, roundTemperature } from "../../alignment/answer.ts";
import type { Entity } from "../../contract/wireTypes.ts";
import type { WholeBulkRoute } from "../bulkRoute.ts";
import { encodeJson } from "../http/json.ts";
import { alignment, type ParsedAlignmentRequest, countTemperatures } from "./alignment.ts";

/** Projected years per chunk, which takes a fraction of a time slice. */
const YEARS_PER_CHUNK = 2048;
/** A year with detail is about ten times as long as one without, and takes about ten times as much time. */
const DETAILED_YEARS_PER_CHUNK = 128;
const encoder = new TextEncoder();

/** Encoded results of some entities, separated by commas. */
interface EncodedResults {
  readonly text: string;
  /** Number of temperatures that are not null. */
  readonly units: number;
}

/** Answers an alignment of many entities chunk by chunk, with the same bytes as `alignment`. */
export const bulkAlignment: WholeBulkRoute<ParsedAlignmentRequest> = {
  kind: "whole",
  route: alignment,
  async answer({ entities, parameters }, { timeSlice, reportProgress }) {
    const isDetailed = parameters.detail === true;
    const encode = isDetailed ? encodeDetailedResults : encodeResults;
    const parts: Uint8Array[] = [];
    let units = 0;
    let doneCount = 0;
    let partialResultBytes = 0;
    const add = (text: string): void => {
      const part = encoder.encode(text);
      parts.push(part);
      partialResultBytes += part.length;
    };
    for (const chunk of chunksOf(entities, isDetailed ? DETAILED_YEARS_PER_CHUNK : YEARS_PER_CHUNK)) {
      await timeSlice.yield();
      const encoded = await encode(chunk, parameters);
      add((doneCount === 0 ? '{"results":[' : ",") + encoded.text);
      units += encoded.units;
      doneCount += chunk.length;
      reportProgress({ doneCount, totalCount: entities.length, partialResultBytes });
    }
    add("]}");
    return { parts, units, headers: {} };
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

async function encodeDetailedResults(
  entities: readonly Entity[],
  parameters: ParsedAlignmentRequest["parameters"],
): Promise<EncodedResults> {
  const answer = roundTemperatures(await alignTemperature(entities, parameters));
  return { text: answer.results.map(encodeJson).join(","), units: countTemperatures(answer) };
}

/** Encodes results directly from columns, which takes half the time of building and encoding objects. */
async function encodeResults(
  entities: readonly Entity[],
  { basis }: ParsedAlignmentRequest["parameters"],
): Promise<EncodedResults> {
  const { starts, temperaturesC, reasonOf } = await alignValidEntities(entities, { basis });
  let text = "";
  let units = 0;
  for (let index = 0; index < entities.length; index++) {
    const entity = entities[index] as Entity;
    const firstRow = starts[index] ?? 0;
    text += `${index === 0 ? "" : ","}{"entity_info":${encodeJson(entityEcho(entity))},"data":[`;
    const { projected_emissions } = entity;
    for (let i = 0; i < projected_emissions.length; i++) {
      const temperatureC = temperaturesC[firstRow + i] ?? NaN;
      text += `${i === 0 ? "" : ","}{"year":${projected_emissions[i]?.year},"temperature_alignment":`;
      if (Number.isNaN(temperatureC)) text += `null,"reason":"${reasonOf(firstRow + i)}"}`;
      else {
        text += `${roundTemperature(temperatureC)}}`;
        units++;
      }
    }
    text += "]}";
  }
  return { text, units };
}
