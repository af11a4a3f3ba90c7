/** Describes what an ingest would read and write, without reading cells or writing anything. */
import { stat } from "node:fs/promises";
import { readCatalog } from "../atlas/writer.ts";
import { type HazardName, HAZARDS, type MetricName, type Scenario } from "../hazard/hazards.ts";
import { checkOptionRanges, type IngestOptions } from "./options.ts";
import { type GroupPlan, type HazardPlan, layersOfGroup, mapCountOf, mapsOf, type IgnoredFile } from "./plan.ts";
import { partsOf, type Raster } from "./raster.ts";
import { archivePathOf } from "./readers/zip.ts";
import { checkReleaseName, groupKey } from "./catalogUpdate.ts";
import { checkSupplements, layerCountOf, supplementPlans } from "./supplementPlan.ts";
import { type IngestTarget, resolveTargets } from "./target.ts";

const BYTES_PER_STEP = 2;
/** Stored size of the pyramid as a share of that of the cells: block maxima and row totals, each 2 or 4 bytes. */
const PYRAMID_SHARE = 1 / 64 + 2 / 64;

/** A source file as an ingest would read it. */
export interface PreviewFile {
  readonly file: string;
  /** Undefined for a file at an address. */
  readonly sizeBytes: number | undefined;
  readonly rowCount: number;
  readonly columnCount: number;
  readonly cellSizeLatDeg: number;
  readonly cellSizeLonDeg: number;
  readonly crs: string;
  /** Type of the stored numbers of the first band. */
  readonly numberType: string;
  readonly bandCount: number;
}

/** One map of a group. */
export interface PreviewMap {
  readonly file: string;
  readonly band: number;
  readonly model?: string;
  readonly returnPeriodYears?: number;
  readonly metric?: MetricName;
}

/** A (scenario, year) that an ingest would write. */
export interface PreviewGroup {
  readonly scenario: Scenario;
  readonly year: number;
  readonly metrics: readonly MetricName[];
  /** Whether the atlas already has this (scenario, year). */
  readonly replaces: boolean;
  readonly maps: readonly PreviewMap[];
}

/** A north-up grid; the edges of its cells are its bounds. */
export interface PreviewGrid {
  readonly northDeg: number;
  readonly westDeg: number;
  readonly cellSizeLatDeg: number;
  readonly cellSizeLonDeg: number;
  readonly rowCount: number;
  readonly columnCount: number;
}

export interface PreviewHazard {
  readonly hazard: HazardName;
  /** The grid of the hazard in the atlas. */
  readonly grid: PreviewGrid;
  /** Cells of the atlas that each group would write. */
  readonly cellCount: number;
  /** Cells of all source maps that would be read. */
  readonly sourceCellCount: number;
  /** Upper bound of the size of the new files: the size without compression, which usually saves more than half. */
  readonly bytesMax: number;
  /** Steps per unit of each metric; their inverse is the resolution of the stored values. */
  readonly stepsPerUnit: Readonly<Partial<Record<MetricName, number>>>;
  readonly groups: readonly PreviewGroup[];
}

export interface IngestPreview {
  readonly atlas: string;
  /** The release that the atlas has now. */
  readonly currentRelease: string | undefined;
  readonly files: readonly PreviewFile[];
  readonly hazards: readonly PreviewHazard[];
  readonly ignoredFiles: readonly IgnoredFile[];
  /** Names of files of the product that are not among the sources, such as other return periods. */
  readonly missingFiles: readonly string[];
}

/**
 * Returns what an ingest of these plans would read and write.
 * @throws the faults of the ingest that do not depend on cells: of options, grids, rules, return periods and the release
 */
export async function previewOf(
  plans: readonly HazardPlan[],
  {
    options,
    ignoredFiles,
    missingFiles = [],
  }: {
    readonly options: IngestOptions;
    readonly ignoredFiles: readonly IgnoredFile[];
    readonly missingFiles?: readonly string[] | undefined;
  },
): Promise<IngestPreview> {
  checkOptionRanges(options);
  const current = await readCatalog(options.out);
  const targets = resolveTargets(plans, current, options);
  checkReleaseName(options.release, current, plans);
  checkSupplements(plans, options);
  const existing = new Set(
    current?.hazards.flatMap(({ hazard, packs }) =>
      packs.flatMap(({ groups }) =>
        groups.filter(({ superseded }) => superseded !== true).map((group) => groupKey(hazard, group)),
      ),
    ),
  );
  const rasters = new Map(
    plans
      .flatMap(({ groups }) => groups.flatMap(mapsOf))
      .flatMap(({ raster }) => partsOf(raster))
      .map((raster) => [raster.file, raster] as const),
  );
  const files: PreviewFile[] = [];
  for (const raster of rasters.values()) files.push(await previewFile(raster));
  return {
    atlas: options.out,
    currentRelease: current?.release,
    files,
    hazards: targets.map((target) => previewHazard(target, { existing, options })),
    ignoredFiles,
    missingFiles,
  };
}

async function previewFile({ file, grid, crs, bands }: Raster): Promise<PreviewFile> {
  const isRemote = /^https?:\/\//.test(file);
  const path = isRemote ? undefined : ((await archivePathOf(file))?.archive ?? file);
  return {
    file,
    sizeBytes: path === undefined ? undefined : (await stat(path)).size,
    rowCount: grid.rowCount,
    columnCount: grid.columnCount,
    cellSizeLatDeg: grid.cellSizeLatDeg,
    cellSizeLonDeg: grid.cellSizeLonDeg,
    crs,
    numberType: bands[0]?.type ?? "unknown",
    bandCount: bands.length,
  };
}

function previewHazard(
  { plan, grid, window }: IngestTarget,
  { existing, options }: { readonly existing: ReadonlySet<string>; readonly options: IngestOptions },
): PreviewHazard {
  const cellCount = window.rowCount * window.columnCount;
  const layers = plan.groups.map((group) => layersOfGroup(plan, group));
  const layerCount = [plan, ...supplementPlans(plan, options)]
    .flatMap((each) => each.groups.map((group) => layerCountOf(each, group)))
    .reduce((sum, count) => sum + count, 0);
  const mapCount = plan.groups.reduce((sum, group) => sum + mapCountOf(group), 0);
  const allLayers = layers.flat();
  return {
    hazard: plan.hazard,
    grid,
    cellCount,
    sourceCellCount: cellCount * mapCount,
    bytesMax: Math.ceil(cellCount * layerCount * BYTES_PER_STEP * (1 + PYRAMID_SHARE)),
    stepsPerUnit: Object.fromEntries(
      HAZARDS[plan.hazard].metrics.flatMap(({ metric }) => {
        const layer = allLayers.find((each) => each.metric === metric);
        return layer === undefined ? [] : [[metric, layer.stepsPerUnit]];
      }),
    ),
    groups: plan.groups.map((group, index) => ({
      scenario: group.scenario,
      year: group.year,
      metrics: (layers[index] ?? []).map(({ metric }) => metric),
      replaces: existing.has(groupKey(plan.hazard, group)),
      maps: previewMaps(group),
    })),
  };
}

function previewMaps({ content }: GroupPlan): readonly PreviewMap[] {
  if (content.kind === "metrics") {
    return Object.entries(content.metrics).map(([metric, { raster, band }]) => ({
      file: raster.file,
      band,
      metric: metric as MetricName,
    }));
  }
  return content.models.flatMap(({ model, maps }) =>
    maps.map(({ raster, band, returnPeriodYears }) => ({
      file: raster.file,
      band,
      ...(model === "" ? {} : { model }),
      returnPeriodYears,
    })),
  );
}
