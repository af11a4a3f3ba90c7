/** Prints what a run of `isotherm portfolio` did or would do. */
import type { PlacePreview } from "../places/run/previewPlaceFile.ts";
import type { PlaceReport } from "../places/run/placeReport.ts";
import { SCORE_STATUSES } from "../hazard/scoring/scoreRequest.ts";
import { quote } from "../validation/schemaErrors.ts";
import { printable, printError } from "./terminal.ts";
import { formatTable } from "./textTable.ts";

/** Invalid rows and omissions that are printed; the report has more. */
const LISTED_COUNT_MAX = 5;

export function formatPlaceReport(report: PlaceReport): string {
  const { output, place_count, invalid_row_count, row_count, value_count, timing, atlas, shard } = report;
  const { seconds } = timing;
  const lines = [statusTable(report), ...invalidRowLines(report), ...omissionLines(report)];
  if (timing.resumed_place_count > 0) {
    lines.push(`continued a run that had finished ${count(timing.resumed_place_count)} places`);
  }
  const part = shard === null ? "" : ` (part ${shard.index} of ${shard.count})`;
  lines.push(
    `${count(place_count)} places${part}, ${count(invalid_row_count)} of them invalid; ${count(row_count)} rows and ` +
      `${count(value_count)} values written in ${timing.duration_seconds.toFixed(1)} s`,
    `${count(timing.places_per_second)} places/s, ${count(timing.values_per_second)} values/s; ` +
      `reading ${seconds.reading.toFixed(1)} s, engine ${seconds.engine.toFixed(1)} s, ` +
      `encoding ${seconds.encoding.toFixed(1)} s, writing ${seconds.writing.toFixed(1)} s`,
    `release ${printable(atlas.release)}; ${printable(output.path)}: ${count(output.size_bytes)} bytes, SHA-256 ${output.sha256}`,
  );
  return `${lines.join("\n")}\n`;
}

/** Prints a warning if the values are not real, as those of the demo. */
export function warnIfSynthetic({
  synthetic,
  atlas,
}: {
  readonly synthetic: boolean;
  readonly atlas: { readonly release: string };
}): void {
  if (synthetic) printError(`SYNTHETIC: not real data (atlas ${atlas.release})`);
}

function statusTable({ statuses }: PlaceReport): string {
  const names = SCORE_STATUSES.filter((status) => Object.values(statuses).some((counts) => (counts[status] ?? 0) > 0));
  return formatTable({
    head: ["hazard", ...names.map((name) => name.replaceAll("_", " "))],
    rows: Object.entries(statuses).map(([hazard, counts]) => [
      hazard,
      ...names.map((name) => count(counts[name] ?? 0)),
    ]),
    isNumeric: (column) => column > 0,
    hasRowLines: true,
  });
}

function invalidRowLines({ invalid_rows: { by_reason, first }, invalid_row_count }: PlaceReport): readonly string[] {
  const reasons = Object.entries(by_reason).map(([reason, number]) => `${count(number)} ${reason}`);
  if (reasons.length === 0) return [];
  return [
    `invalid rows: ${reasons.join(", ")}`,
    ...first.slice(0, LISTED_COUNT_MAX).map(({ row, message }) => `  row ${row}: ${printable(message)}`),
    ...(invalid_row_count > LISTED_COUNT_MAX
      ? [
          `  and ${count(invalid_row_count - LISTED_COUNT_MAX)} more: rows of the output with the status invalid_row and the ` +
            "reason in the column error",
        ]
      : []),
  ];
}

function omissionLines({
  omissions,
  omitted_columns: columns,
}: Pick<PlaceReport, "omissions" | "omitted_columns">): readonly string[] {
  const lines = omissions.slice(0, LISTED_COUNT_MAX).map(({ detail }) => `left out: ${detail}`);
  if (omissions.length > LISTED_COUNT_MAX) {
    lines.push(`left out: ${omissions.length - LISTED_COUNT_MAX} more, see the report`);
  }
  if (columns.length > 0) {
    const names = columns.slice(0, LISTED_COUNT_MAX).map((name) => printable(quote(name)));
    const more = columns.length > LISTED_COUNT_MAX ? ` and ${columns.length - LISTED_COUNT_MAX} more` : "";
    lines.push(
      `left out: the columns ${names.join(", ")}${more} of the input, which have lists, structures or a type that is not supported`,
    );
  }
  return lines;
}

export function formatPlacePreview(preview: PlacePreview): string {
  const { columns_found: found, groups, columns, place_count, is_place_count_exact } = preview;
  const location =
    found.geometry === undefined
      ? `latitude ${nameText(found.latitude)}, longitude ${nameText(found.longitude)}`
      : `geometry ${nameText(found.geometry)}`;
  const byHazard = new Map<string, string[]>();
  for (const { hazard, scenario, analysisYear } of groups) {
    byHazard.set(hazard, [...(byHazard.get(hazard) ?? []), `${scenario} ${analysisYear}`]);
  }
  const lines = [
    `${printable(preview.input)}: ${is_place_count_exact ? "" : "about "}${count(place_count)} places, ${count(preview.input_size_bytes)} bytes`,
    `columns found: ${location}, identifier ${nameText(found.id)}, radius ${nameText(found.radiusKm)}`,
    ...[...byHazard].map(([hazard, layers]) => `${hazard}: ${layers.join(", ")}`),
    ...omissionLines(preview),
    `${printable(preview.output)} (${preview.output_format}): about ${count(preview.estimated_row_count)} rows, ` +
      `${count(preview.estimated_size_bytes)} bytes; columns: ${columns.map(({ name }) => printable(name)).join(", ")}`,
    `${count(preview.invalid_row_count)} of the first ${count(preview.checked_place_count)} rows are invalid`,
  ];
  return `${lines.join("\n")}\n`;
}

/** Returns the name of a column that was found, if any. */
function nameText(name: string | undefined): string {
  return name === undefined ? "none" : printable(name);
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}
