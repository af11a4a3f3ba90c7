/** Prints the files that an ingest would read and the layers that it would write (`--dry-run`). */
import type { IngestPreview, PreviewHazard } from "../ingest/ingest.ts";
import { ignoredFileLines, missingFileLines } from "./ingestReport.ts";
import { formatTable } from "./textTable.ts";

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
