/** Prints the report of an ingest, and what one would read and write (`--dry-run`). */
import type {
  CellCounts,
  GroupReport,
  IngestPreview,
  IngestReport,
  IngestTotals,
  PreviewHazard,
} from "../ingest/ingest.ts";
import { cellRate } from "./ingestProgress.ts";
import { formatTable } from "./textTable.ts";

/** Largest number of missing files that are listed by name. */
const LISTED_COUNT_MAX = 12;

/** Converts the report to JSON with snake_case members. */
export function ingestReportJson(report: IngestReport): Record<string, unknown> {
  const { groups, totals } = report;
  return {
    atlas: report.atlas,
    release: report.release,
    groups: groups.map(({ hazard, scenario, year, metrics, cells, largestRounding, replaced }) => ({
      hazard,
      scenario,
      year,
      metrics,
      cells: cellsJson(cells),
      largest_rounding: largestRounding,
      replaced,
    })),
    totals: {
      source_cells: totals.sourceCells,
      cells: cellsJson(totals.cells),
      largest_rounding: totals.largestRounding,
    },
    ignored_files: report.ignoredFiles,
    missing_files: report.missingFiles,
    seconds: report.durationMs / 1000,
  };
}

function cellsJson(cells: CellCounts): Record<string, number> {
  return {
    valid: cells.valid,
    nodata: cells.nodata,
    zero: cells.zero,
    clamped_negative: cells.clampedNegative,
    partly_missing: cells.partlyMissing,
    at_first_return_period: cells.reachedAtFirst,
    made_non_decreasing: cells.raised,
  };
}

export function formatIngestReport({
  atlas,
  release,
  groups,
  ignoredFiles,
  missingFiles,
  totals,
  durationMs,
}: IngestReport): string {
  const rows = groups.map((group) => {
    const { hazard, scenario, year, cells, largestRounding } = group;
    return [
      hazard,
      scenario,
      String(year),
      String(cells.valid),
      String(cells.zero),
      String(cells.nodata),
      roundingTexts(largestRounding).join("\n"),
      remarks(group).join("\n"),
    ];
  });
  const table = formatTable({
    head: ["hazard", "scenario", "year", "valid", "zero", "no data", "largest rounding", ""],
    rows,
    isNumeric: (column) => column >= 2 && column <= 5,
    hasRowLines: true,
  });
  const lines = [table, ...ignoredFileLines(ignoredFiles), ...missingFileLines(missingFiles)];
  lines.push(...totalLines(totals, durationMs));
  lines.push(`release ${release} of ${atlas} written in ${(durationMs / 1000).toFixed(1)} s`);
  return `${lines.join("\n")}\n`;
}

function totalLines({ sourceCells, cells, largestRounding }: IngestTotals, durationMs: number): readonly string[] {
  const { valid, zero, nodata, raised, clampedNegative, partlyMissing } = cells;
  const count = (value: number): string => value.toLocaleString("en");
  return [
    `${count(sourceCells)} source cells read, ${cellRate(sourceCells / (durationMs / 1000))}`,
    `${count(valid + nodata)} cells written: ${count(valid)} valid (${count(zero)} of them zero), ${count(nodata)} without data`,
    `${count(raised)} curves made non-decreasing, ${count(clampedNegative)} cells with values below 0 set to 0, ` +
      `${count(partlyMissing)} cells missing on some maps only`,
    `largest rounding errors: ${roundingTexts(largestRounding).join(", ")}`,
  ];
}

/** Returns the largest rounding error of each metric as text. */
function roundingTexts(largestRounding: IngestTotals["largestRounding"]): readonly string[] {
  return Object.entries(largestRounding).map(([metric, error]) => `${metric} ${error.toPrecision(2)}`);
}

function remarks({ cells, metrics, replaced }: GroupReport): readonly string[] {
  const lines: string[] = [];
  if (replaced) lines.push("replaced");
  if (!metrics.includes("probability")) lines.push("no probability: maps without return periods");
  if (cells.clampedNegative > 0) lines.push(`${cells.clampedNegative} cells with values below 0 set to 0`);
  if (cells.partlyMissing > 0) lines.push(`${cells.partlyMissing} cells set to no data because some maps lack them`);
  if (cells.raised > 0) lines.push(`${cells.raised} curves made non-decreasing`);
  if (cells.reachedAtFirst > 0) {
    lines.push(
      `${cells.reachedAtFirst} cells reach the threshold on the first map: their probability is a lower bound`,
    );
  }
  return lines;
}

/** Lists files of the product that are missing. */
function missingFileLines(missingFiles: readonly string[]): readonly string[] {
  if (missingFiles.length === 0) return [];
  const listed = missingFiles.slice(0, LISTED_COUNT_MAX).join(", ");
  const more = missingFiles.length > LISTED_COUNT_MAX ? ` and ${missingFiles.length - LISTED_COUNT_MAX} more` : "";
  return [`not among the sources: ${listed}${more}`];
}

/** Summarizes ignored files by reason, because a release of the product can have hundreds of them. */
function ignoredFileLines(ignoredFiles: IngestReport["ignoredFiles"]): readonly string[] {
  const reasons = [...new Set(ignoredFiles.map(({ reason }) => reason))];
  return reasons.map((reason) => {
    const files = ignoredFiles.filter((ignored) => ignored.reason === reason).map(({ file }) => file);
    const more = files.length > 1 ? ` and ${files.length - 1} more` : "";
    return `ignored: ${files[0]}${more}: ${reason}`;
  });
}

/** Converts the preview to JSON with snake_case members. */
export function ingestPreviewJson(preview: IngestPreview): Record<string, unknown> {
  return {
    dry_run: true,
    atlas: preview.atlas,
    current_release: preview.currentRelease ?? null,
    files: preview.files.map((file) => ({
      file: file.file,
      size_bytes: file.sizeBytes ?? null,
      row_count: file.rowCount,
      column_count: file.columnCount,
      cell_size_lat_deg: file.cellSizeLatDeg,
      cell_size_lon_deg: file.cellSizeLonDeg,
      crs: file.crs,
      number_type: file.numberType,
      band_count: file.bandCount,
    })),
    hazards: preview.hazards.map(({ hazard, grid, cellCount, sourceCellCount, bytesMax, stepsPerUnit, groups }) => ({
      hazard,
      grid: {
        north_deg: grid.northDeg,
        west_deg: grid.westDeg,
        cell_size_lat_deg: grid.cellSizeLatDeg,
        cell_size_lon_deg: grid.cellSizeLonDeg,
        row_count: grid.rowCount,
        column_count: grid.columnCount,
      },
      cells: cellCount,
      source_cells: sourceCellCount,
      bytes_max: bytesMax,
      steps_per_unit: stepsPerUnit,
      groups: groups.map(({ scenario, year, metrics, replaces, maps }) => ({
        scenario,
        year,
        metrics,
        replaces,
        maps: maps.map(({ file, band, model, returnPeriodYears, metric }) => ({
          file,
          band,
          ...(model === undefined ? {} : { model }),
          ...(returnPeriodYears === undefined ? {} : { return_period_years: returnPeriodYears }),
          ...(metric === undefined ? {} : { metric }),
        })),
      })),
    })),
    ignored_files: preview.ignoredFiles,
    missing_files: preview.missingFiles,
  };
}

export function formatIngestPreview({
  atlas,
  currentRelease,
  files,
  hazards,
  ignoredFiles,
  missingFiles,
}: IngestPreview): string {
  const fileTable = formatTable({
    head: ["file", "size", "rows x columns", "cell (degrees)", "type", "bands"],
    rows: files.map((file) => [
      file.file,
      file.sizeBytes === undefined ? "" : byteText(file.sizeBytes),
      `${file.rowCount} x ${file.columnCount}`,
      `${Number(file.cellSizeLatDeg.toPrecision(6))} x ${Number(file.cellSizeLonDeg.toPrecision(6))}`,
      file.numberType,
      String(file.bandCount),
    ]),
    hasRowLines: true,
  });
  const groupTable = formatTable({
    head: ["hazard", "scenario", "year", "metrics", "maps", ""],
    rows: hazards.flatMap(({ hazard, groups }) =>
      groups.map(({ scenario, year, metrics, maps, replaces }) => {
        const remark = replaces ? "replaces the existing layers" : "";
        return [hazard, scenario, String(year), metrics.join("\n"), String(maps.length), remark];
      }),
    ),
    hasRowLines: true,
  });
  const now = currentRelease === undefined ? "a new atlas" : `release ${currentRelease}`;
  const lines = [
    fileTable,
    groupTable,
    ...ignoredFileLines(ignoredFiles),
    ...missingFileLines(missingFiles),
    ...hazards.map(hazardLine),
    `dry run: nothing was written to ${atlas} (${now})`,
  ];
  return `${lines.join("\n")}\n`;
}

function hazardLine({ hazard, grid, cellCount, sourceCellCount, bytesMax, groups }: PreviewHazard): string {
  return (
    `${hazard}: reads ${sourceCellCount.toLocaleString("en")} source cells; writes ${groups.length} x ` +
    `${cellCount.toLocaleString("en")} cells into a grid of ${grid.rowCount} x ${grid.columnCount}, at most ${byteText(bytesMax)}`
  );
}

function byteText(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${units[power]}`;
}
