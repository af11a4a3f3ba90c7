/**
 * Encodes results of the temperature alignment as JSON directly from columns, which takes half the time of building and
 * encoding an object per year. The output is identical to the JSON of `roundTemperatures(await alignTemperature(...))`.
 */
import {
  type AlignedEntities,
  alignValidEntities,
  entityFlagsOf,
  firstRowOf,
  reasonOf,
  yearFlagsOf,
} from "../../alignment/alignEntities.ts";
import { flagsOfMask, roundBudget, roundMean, roundRange, roundScopes } from "../../alignment/answer.ts";
import { DEFAULT_BENCHMARK } from "../../alignment/benchmarkNgfsPhase5.ts";
import { alignmentDetailsOf } from "../../alignment/detail.ts";
import type { AlignTemperatureOptions } from "../../alignment/options.ts";
import { budgetAt, entityEcho, rangeAt, scopesAt } from "../../alignment/alignTemperature.ts";
import { blendedOf, overallOf } from "../../alignment/summaries.ts";
import { ALIGNMENT_METHOD } from "../../contract/names.ts";
import type { AlignmentDetail, Entity } from "../../contract/wireTypes.ts";
import { encodeJson } from "../../text/json/json.ts";

/** Text before the results of all entities, and after them. */
export const ANSWER_OPENING = `{"method":"${ALIGNMENT_METHOD}","benchmark":"${DEFAULT_BENCHMARK.id}","results":[`;
export const ANSWER_CLOSING = "]}";

/** Encoded results of some entities, separated by commas. */
export interface EncodedResults {
  readonly text: string;
  /** Usage units: the number of temperatures that are not null. */
  readonly units: number;
}

/** Computes and encodes the results of valid entities. */
export async function encodeResults(
  entities: readonly Entity[],
  options: AlignTemperatureOptions,
): Promise<EncodedResults> {
  const aligned = await alignValidEntities(entities, options);
  let text = "";
  for (let index = 0; index < entities.length; index++) {
    if (index > 0) text += ",";
    text += resultText(aligned, index);
  }
  let units = 0;
  for (const temperatureC of aligned.rows.temperaturesC) if (!Number.isNaN(temperatureC)) units++;
  return { text, units };
}

function resultText(aligned: AlignedEntities, index: number): string {
  const { entities, classifications, included } = aligned;
  const entity = entities[index] as Entity;
  const didYouMean = classifications[index]?.didYouMean;
  const details = included.detail ? alignmentDetailsOf(aligned, index) : undefined;
  let text = `{"entity_info":${encodeJson(entityEcho(entity))}${flagsText(entityFlagsOf(aligned, index))}`;
  if (didYouMean !== undefined) text += `,"did_you_mean":${encodeJson(didYouMean)}`;
  text += ',"data":[';
  const firstRow = firstRowOf(aligned, index);
  const { projected_emissions: records } = entity;
  for (let i = 0; i < records.length; i++) {
    if (i > 0) text += ",";
    text += yearText(aligned, firstRow + i, records[i] as Entity["projected_emissions"][number], details?.[i]);
  }
  text += "]";
  if (included.overall) {
    const overall = overallOf(aligned, index);
    text += `,"overall":${encodeJson(overall === null ? null : roundMean(overall))}`;
  }
  // Only records with labels can be blended.
  const blended = records[0]?.label === undefined ? [] : blendedOf(aligned, index);
  if (blended.length > 0) text += `,"blended":${encodeJson(blended.map(roundMean))}`;
  return `${text}}`;
}

function yearText(
  aligned: AlignedEntities,
  row: number,
  { year, label }: Entity["projected_emissions"][number],
  detail: AlignmentDetail | undefined,
): string {
  const { rows, included } = aligned;
  const temperatureC = rows.temperaturesC[row] ?? NaN;
  const hasTemperature = !Number.isNaN(temperatureC);
  let text = `{"year":${year},"temperature_alignment":`;
  text += hasTemperature ? hundredthsText(temperatureC) : `null,"reason":"${reasonOf(aligned, row)}"`;
  if (label !== undefined) text += `,"label":${encodeJson(label)}`;
  const lowC = rows.rangeLowC[row] ?? NaN;
  const highC = rows.rangeHighC[row] ?? NaN;
  // As in the library, present where the kernel gives both ends, which it does for every temperature.
  if (!Number.isNaN(lowC) && !Number.isNaN(highC)) {
    text += `,"range":{"low":${hundredthsText(lowC)},"high":${hundredthsText(highC)}}`;
  }
  if (included.climateRange) {
    const range = rangeAt(rows.climateLowC, rows.climateHighC, row);
    if (range !== null) text += `,"climate_range":${encodeJson(roundRange(range))}`;
  }
  if (included.byScope) text += `,"by_scope":${encodeJson(roundScopes(scopesAt(aligned, row)))}`;
  const budget = budgetAt(aligned, row);
  if (budget !== null) text += `,"budget":${encodeJson(roundBudget(budget))}`;
  const coverage = rows.coverage[row] ?? NaN;
  if (!Number.isNaN(coverage)) text += `,"coverage":${coverage}`;
  text += flagsText(yearFlagsOf(aligned, row));
  if (detail !== undefined) text += `,"detail":${encodeJson(detail)}`;
  return `${text}}`;
}

/** Cache of encoded `flags` members by mask: a portfolio has few distinct masks. */
const flagsTexts = new Map<number, string>([[0, ""]]);
const CACHED_MASK_COUNT_MAX = 4096;

/** Returns the `flags` member for a mask, with a leading comma; an empty string if the mask has no flags. */
function flagsText(mask: number): string {
  const known = flagsTexts.get(mask);
  if (known !== undefined) return known;
  const text = `,"flags":${JSON.stringify(flagsOfMask(mask))}`;
  if (flagsTexts.size < CACHED_MASK_COUNT_MAX) flagsTexts.set(mask, text);
  return text;
}

/**
 * Texts of 0 to 9.99 in steps of 0.01: formatting a number takes longer than encoding everything else in the result of a
 * year.
 */
const HUNDREDTHS_TEXTS = Array.from({ length: 1000 }, (_, hundredths) => String(hundredths / 100));

/** Returns a temperature as JSON, rounded to two decimals. */
function hundredthsText(temperatureC: number): string {
  const hundredths = Math.round(100 * temperatureC);
  return HUNDREDTHS_TEXTS[hundredths] ?? String(hundredths / 100);
}
