import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import {
  type Catalogue,
  FORMAT_VERSION,
  gridEntryOf,
  gridOf,
  type GroupEntry,
  type HazardEntry,
  type PackEntry,
} from "../atlas/catalogue.ts";
import { withWriteLock } from "../atlas/lock.ts";
import type { Band } from "../atlas/tile.ts";
import { publish, readCatalogue, writePack } from "../atlas/writer.ts";
import { Fault } from "../errors.ts";
import { HAZARD_NAMES, HAZARDS, type MetricSpec } from "../hazard/hazards.ts";
import { closesAt360, type Grid } from "../kernel/grid.ts";
import { Kernel } from "../kernel/instance.ts";
import { STEPS_NODATA, STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import { version } from "../version.ts";
import { TALLY_AT_FIRST, TALLY_CLAMPED, TALLY_PARTLY_MISSING, TALLY_RAISED, type WorstRounding } from "./curve.ts";
import type {
  BoundingBox,
  CellCounts,
  GroupPlan,
  GroupReport,
  HazardPlan,
  IngestOptions,
  IngestReport,
  SetAside,
} from "./plan.ts";
import { type CellWindow, type Raster, sourceFault } from "./raster.ts";
import { layersOfGroup, mapsOf, mergedWorst, SlabReader } from "./slabs.ts";

/** Grids agree when no edge is off by more than this share of a cell: files carry rounded numbers. */
const TOLERANCE_CELLS = 1e-3;
const STAMP_TIMEOUT_MS = 10_000;
const RELEASE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * Writes the layers of some hazards into an atlas and publishes them together. The atlas answers as before until the
 * last step, and goes on to where any step before it fails.
 *
 * @throws Fault `source_invalid` naming file and place; `invalid_request` for options that cannot be met;
 *   `atlas_unavailable` when the existing atlas is damaged, or another process writes there; the reason of
 *   `options.signal` when that is what stopped it
 */
export async function writeHazards(
  plans: readonly HazardPlan[],
  { options, setAside }: { readonly options: IngestOptions; readonly setAside: readonly SetAside[] },
): Promise<IngestReport> {
  const startedMs = performance.now();
  checkOptions(options);
  options.signal?.throwIfAborted();
  // What cannot be is refused before a folder is made for it; it is the same look under the lock that counts.
  targetsOf(plans, await readCatalogue(options.out), options);
  const { catalogue, written, replaced } = await withWriteLock(options.out, async () => {
    const targets = targetsOf(plans, await readCatalogue(options.out), options);
    return writeTargets(targets, options);
  });
  return {
    atlas: options.out,
    release: catalogue.release,
    groups: written.flatMap((pack) => reportsOf(pack, replaced)),
    setAside,
    durationMs: performance.now() - startedMs,
  };
}

async function writeTargets(
  targets: readonly Target[],
  options: IngestOptions,
): Promise<{ readonly catalogue: Catalogue; readonly written: readonly WrittenPack[]; replaced: Set<string> }> {
  const kernel = await Kernel.load();
  const written: WrittenPack[] = [];
  for (const target of targets) written.push(await writeTarget(kernel, target, options));
  const replaced = new Set<string>();
  const catalogue = await publish(options.out, (now) => {
    // Another atlas may have been copied into the folder meanwhile, past any lock: what is published must still fit.
    for (const { target } of written) checkStillFits(target, targetOf(target.plan, now, options));
    return changedCatalogue(now, written, { release: options.release, replaced });
  });
  return { catalogue, written, replaced };
}

function checkOptions({ release, bbox, nodata }: IngestOptions): void {
  if (release !== undefined && !RELEASE.test(release)) {
    throw new Fault(
      "invalid_request",
      `The release name ${JSON.stringify(release)} may hold letters, digits, ".", "_" and "-", begins with a letter or digit, and has at most 100 characters.`,
    );
  }
  if (Number.isNaN(nodata)) {
    throw new Fault("invalid_request", "The marker of missing values must be a number; NaN is missing anyway.");
  }
  if (bbox === undefined) return;
  const { westDeg, southDeg, eastDeg, northDeg } = bbox;
  const isBox =
    westDeg < eastDeg && southDeg < northDeg && eastDeg - westDeg <= 360 && southDeg >= -90 && northDeg <= 90;
  if (!isBox || !(westDeg >= -360 && eastDeg <= 360)) {
    throw new Fault(
      "invalid_request",
      `The box ${westDeg},${southDeg},${eastDeg},${northDeg} must be W,S,E,N in degrees with W < E, S < N, latitudes from -90 to 90. ` +
        `Across the antimeridian write the east edge as W + width, such as 170,-20,190,-10.`,
    );
  }
}

// --- where cells go ----------------------------------------------------------------------------------------------

/** Where the cells of a plan come from and go to. */
interface Target {
  readonly plan: HazardPlan;
  /** The cells of the source that are taken. */
  readonly window: CellWindow;
  /** The hazard's grid in the atlas. */
  readonly grid: Grid;
  /** Where the window lies in that grid. */
  readonly offset: { readonly row: number; readonly column: number };
}

function targetsOf(
  plans: readonly HazardPlan[],
  current: Catalogue | undefined,
  options: IngestOptions,
): readonly Target[] {
  const targets = plans.map((plan) => targetOf(plan, current, options));
  for (const target of targets) checkGroups(target.plan, options);
  return targets;
}

function targetOf(plan: HazardPlan, current: Catalogue | undefined, options: IngestOptions): Target {
  const source = commonGrid(plan);
  const window = options.bbox === undefined ? wholeOf(source) : windowOf(source, options.bbox);
  const cut = gridOfWindow(source, window);
  if (current?.synthetic === true) {
    throw new Fault(
      "invalid_request",
      `${options.out} holds an invented atlas. Real maps go into an atlas of their own.`,
    );
  }
  const existing = current?.hazards.find(({ hazard }) => hazard === plan.hazard);
  if (existing === undefined) return { plan, window, grid: cut, offset: { row: 0, column: 0 } };

  if (!isDeepStrictEqual(existing.rules, { ...plan.rules })) {
    throw new Fault(
      "invalid_request",
      `${options.out} holds ${plan.hazard} made with other rules: ${JSON.stringify(existing.rules)} there, ${JSON.stringify(plan.rules)} here. ` +
        `An atlas keeps one set for a hazard; write to another folder, or give the same rules.`,
    );
  }
  const grid = gridOf(existing.grid);
  const offset = offsetIn(grid, cut);
  if (offset === undefined) {
    throw sourceFault(
      mapsOf(plan.groups[0] as GroupPlan)[0]?.raster.file ?? plan.hazard,
      `its grid (${describeGrid(cut)}) is not that of ${plan.hazard} in ${options.out} (${describeGrid(grid)}), nor an aligned part of it. ` +
        `A hazard has one grid, its first source's; write to another folder, or cut the map with --bbox.`,
    );
  }
  return { plan, window, grid, offset };
}

function checkStillFits(before: Target, now: Target): void {
  if (isDeepStrictEqual([before.grid, before.offset], [now.grid, now.offset])) return;
  throw new Fault(
    "atlas_unavailable",
    `The grid of ${before.plan.hazard} changed while it was written. Run the ingest again.`,
  );
}

function wholeOf(grid: Grid): CellWindow {
  return { firstRow: 0, rowCount: grid.rowCount, firstColumn: 0, columnCount: grid.columnCount };
}

/** The grid of all maps of a plan. */
function commonGrid(plan: HazardPlan): Grid {
  const rasters = plan.groups.flatMap(mapsOf).map(({ raster }) => raster);
  const [first] = rasters;
  if (first === undefined) throw new Error(`A plan for ${plan.hazard} without maps.`);
  for (const raster of rasters) {
    const why = gridDifference(first.grid, raster.grid);
    if (why !== undefined) {
      throw sourceFault(
        raster.file,
        `${why} All maps of a hazard must lie on one grid; that of ${first.file} is ${describeGrid(first.grid)}.`,
      );
    }
  }
  return first.grid;
}

function gridDifference(expected: Grid, found: Grid): string | undefined {
  if (expected.rowCount !== found.rowCount || expected.columnCount !== found.columnCount) {
    return `it has ${found.rowCount} rows and ${found.columnCount} columns, not ${expected.rowCount} and ${expected.columnCount}.`;
  }
  const { cellSizeLatDeg, cellSizeLonDeg } = expected;
  if (!isSameSize(expected, found)) {
    return `its cells are ${found.cellSizeLatDeg} x ${found.cellSizeLonDeg} degrees (lat, lon), not ${cellSizeLatDeg} x ${cellSizeLonDeg}.`;
  }
  const north = Math.abs(found.northDeg - expected.northDeg);
  const west = Math.abs(found.westDeg - expected.westDeg);
  if (north > TOLERANCE_CELLS * cellSizeLatDeg || west > TOLERANCE_CELLS * cellSizeLonDeg) {
    return `its north-west corner is (${found.northDeg}, ${found.westDeg}), not (${expected.northDeg}, ${expected.westDeg}).`;
  }
  return undefined;
}

/** Sizes agree when even the far edge is within the tolerance. */
function isSameSize(a: Grid, b: Grid): boolean {
  const lat = Math.abs(a.cellSizeLatDeg - b.cellSizeLatDeg) * Math.max(a.rowCount, b.rowCount);
  const lon = Math.abs(a.cellSizeLonDeg - b.cellSizeLonDeg) * Math.max(a.columnCount, b.columnCount);
  return lat <= TOLERANCE_CELLS * a.cellSizeLatDeg && lon <= TOLERANCE_CELLS * a.cellSizeLonDeg;
}

function describeGrid(grid: Grid): string {
  return (
    `${grid.rowCount} rows x ${grid.columnCount} columns of ${grid.cellSizeLatDeg} x ${grid.cellSizeLonDeg} degrees (lat, lon) ` +
    `from latitude ${grid.northDeg}, longitude ${grid.westDeg}`
  );
}

/** The cells that a box touches. A box edge on a cell edge takes no further cell. */
function windowOf(grid: Grid, bbox: BoundingBox): CellWindow {
  const turn = (longitudeDeg: number): number => {
    let shifted = longitudeDeg;
    while (shifted < grid.westDeg - TOLERANCE_CELLS * grid.cellSizeLonDeg) shifted += 360;
    while (shifted >= grid.westDeg + 360 - TOLERANCE_CELLS * grid.cellSizeLonDeg) shifted -= 360;
    return shifted;
  };
  // Where the box begins west of the grid, it is the box's east end that says how many turns lie between.
  const eastEnd = (bbox.eastDeg - bbox.westDeg) / grid.cellSizeLonDeg;
  let start = (turn(bbox.westDeg) - grid.westDeg) / grid.cellSizeLonDeg;
  const turnCells = 360 / grid.cellSizeLonDeg;
  if (start >= grid.columnCount && start - turnCells + eastEnd > 0) start -= turnCells;
  if (start + eastEnd > grid.columnCount + TOLERANCE_CELLS && closesAt360(grid) && eastEnd < turnCells) {
    throw new Fault(
      "invalid_request",
      `The box ${bbox.westDeg},${bbox.southDeg},${bbox.eastDeg},${bbox.northDeg} crosses the seam of the map at longitude ${grid.westDeg}. ` +
        `Take the whole width, or a box on one side of it.`,
    );
  }
  const firstColumn = Math.max(0, Math.floor(start + TOLERANCE_CELLS));
  const endColumn = Math.min(grid.columnCount, Math.ceil(start + eastEnd - TOLERANCE_CELLS));
  const firstRow = Math.max(0, Math.floor((grid.northDeg - bbox.northDeg) / grid.cellSizeLatDeg + TOLERANCE_CELLS));
  const endRow = Math.min(
    grid.rowCount,
    Math.ceil((grid.northDeg - bbox.southDeg) / grid.cellSizeLatDeg - TOLERANCE_CELLS),
  );
  if (endColumn <= firstColumn || endRow <= firstRow) {
    throw new Fault(
      "invalid_request",
      `The box ${bbox.westDeg},${bbox.southDeg},${bbox.eastDeg},${bbox.northDeg} touches no cell of the maps (${describeGrid(grid)}).`,
    );
  }
  return { firstRow, rowCount: endRow - firstRow, firstColumn, columnCount: endColumn - firstColumn };
}

function gridOfWindow(grid: Grid, window: CellWindow): Grid {
  return {
    ...grid,
    northDeg: grid.northDeg - window.firstRow * grid.cellSizeLatDeg,
    westDeg: grid.westDeg + window.firstColumn * grid.cellSizeLonDeg,
    rowCount: window.rowCount,
    columnCount: window.columnCount,
  };
}

/** Where a grid lies in another, if it is an aligned part of it. */
function offsetIn(whole: Grid, part: Grid): { readonly row: number; readonly column: number } | undefined {
  if (!isSameSize(whole, part)) return undefined;
  const row = (whole.northDeg - part.northDeg) / whole.cellSizeLatDeg;
  for (const turnDeg of [0, 360, -360]) {
    const column = (part.westDeg + turnDeg - whole.westDeg) / whole.cellSizeLonDeg;
    const at = { row: Math.round(row) + 0, column: Math.round(column) + 0 };
    const isAligned = Math.abs(row - at.row) <= TOLERANCE_CELLS && Math.abs(column - at.column) <= TOLERANCE_CELLS;
    const isInside =
      at.row >= 0 &&
      at.row + part.rowCount <= whole.rowCount &&
      at.column >= 0 &&
      at.column + part.columnCount <= whole.columnCount;
    if (isAligned && isInside) return at;
  }
  return undefined;
}

/** Nothing is extrapolated, unless it is asked for. */
function checkGroups(plan: HazardPlan, options: IngestOptions): void {
  const designYears = plan.rules.design_return_period_years;
  for (const { scenario, year, content } of plan.groups) {
    if (content.kind !== "curves" || designYears === undefined) continue;
    for (const { model, maps } of content.models) {
      const periods = maps.map(({ returnPeriodYears }) => returnPeriodYears);
      const least = Math.min(...periods);
      const most = Math.max(...periods);
      if ((least <= designYears && designYears <= most) || options.holdFlat === true) continue;
      throw sourceFault(
        maps[0]?.raster.file ?? plan.hazard,
        `the maps of ${plan.hazard} ${scenario} ${year}${model === "" ? "" : `, model ${model},`} have return periods of ${periods.join(", ")} years, ` +
          `which do not span ${designYears}. Add the maps around it, or take the nearest map's value for it: --hold-flat.`,
      );
    }
  }
}

// --- writing -----------------------------------------------------------------------------------------------------

interface GroupTotals {
  counts: { -readonly [K in keyof CellCounts]: number };
  worst: WorstRounding;
}

interface WrittenPack {
  readonly target: Target;
  readonly pack: Pick<PackEntry, "id" | "files">;
  readonly groups: readonly GroupEntry[];
  readonly totals: readonly GroupTotals[];
}

async function writeTarget(kernel: Kernel, target: Target, options: IngestOptions): Promise<WrittenPack> {
  const { plan, window, grid, offset } = target;
  const slabs = new SlabReader(kernel, plan, window, { clampNegative: options.clampNegative === true });
  const layers = plan.groups.map((group) => layersOfGroup(plan, group));
  let totals: GroupTotals[] = plan.groups.map(() => ({ counts: noCounts(), worst: {} }));

  const readBand = async (band: Band): Promise<readonly Uint16Array[]> => {
    const bands = layers.map(({ length }) =>
      new Uint16Array(band.rowCount * grid.columnCount * length).fill(STEPS_OUTSIDE),
    );
    for (let row = 0; row < band.rowCount; row++) {
      const sourceRow = band.firstRow + row - offset.row + window.firstRow;
      if (sourceRow < window.firstRow || sourceRow >= window.firstRow + window.rowCount) continue;
      const slab = await slabs.slabAt(sourceRow);
      const from = (sourceRow - slab.firstRow) * window.columnCount;
      slab.groups.forEach(({ steps, tallies, worst }, index) => {
        const group = layers[index] ?? [];
        const total = totals[index];
        const layerCount = group.length;
        const rowSteps = steps.subarray(from * layerCount, (from + window.columnCount) * layerCount);
        bands[index]?.set(rowSteps, (row * grid.columnCount + offset.column) * layerCount);
        if (total === undefined) return;
        const own = Math.max(
          0,
          group.findIndex(({ metric }) => metric === HAZARDS[plan.hazard].ownMetric),
        );
        countRow(total.counts, rowSteps, tallies.subarray(from, from + window.columnCount), { own, layerCount });
        total.worst = mergedWorst(total.worst, worst);
      });
    }
    return bands;
  };

  const pack = await writePack(kernel, options.out, {
    hazard: plan.hazard,
    grid,
    groups: plan.groups.map(({ scenario, year }, i) => ({ scenario, year, layers: (layers[i] ?? []).map(layerEntry) })),
    readBand,
    resumeKey: await keyOf(target, options),
    checkpoint: { save: () => totals, restore: (state) => void (totals = state as GroupTotals[]) },
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    onProgress: (rowsDone, rowCount) => options.onProgress?.({ hazard: plan.hazard, rowsDone, rowCount }),
  });
  const groups = plan.groups.map((group, i): GroupEntry => ({
    scenario: group.scenario,
    year: group.year,
    layers: (layers[i] ?? []).map(layerEntry),
    provenance: provenanceOf(group, totals[i] ?? { counts: noCounts(), worst: {} }, options),
  }));
  return { target, pack, groups, totals };
}

function layerEntry({ metric, stepsPerUnit, offset, unit }: MetricSpec): GroupEntry["layers"][number] {
  return { metric, steps_per_unit: stepsPerUnit, offset, unit };
}

function noCounts(): GroupTotals["counts"] {
  return { valid: 0, nodata: 0, zero: 0, clampedNegative: 0, partlyMissing: 0, reachedAtFirst: 0, raised: 0 };
}

function countRow(
  counts: GroupTotals["counts"],
  steps: Uint16Array,
  tallies: Uint8Array,
  { own, layerCount }: { readonly own: number; readonly layerCount: number },
): void {
  for (let column = 0; column < tallies.length; column++) {
    const step = steps[column * layerCount + own] ?? STEPS_NODATA;
    if (step === STEPS_NODATA) counts.nodata++;
    else counts.valid++;
    if (step === 0) counts.zero++;
    const bits = tallies[column] ?? 0;
    if (bits === 0) continue;
    if ((bits & TALLY_CLAMPED) !== 0) counts.clampedNegative++;
    if ((bits & TALLY_PARTLY_MISSING) !== 0) counts.partlyMissing++;
    if ((bits & TALLY_AT_FIRST) !== 0) counts.reachedAtFirst++;
    if ((bits & TALLY_RAISED) !== 0) counts.raised++;
  }
}

/** What the catalogue says of a group: the recipe's own words, the files, the choices, and what they led to. */
function provenanceOf(
  group: GroupPlan,
  { counts, worst }: GroupTotals,
  options: IngestOptions,
): Record<string, unknown> {
  const { content } = group;
  const file = (raster: Raster, band: number): Record<string, unknown> => ({
    file: nameOf(raster.file),
    ...(raster.bandCount > 1 ? { band } : {}),
    ...(Object.keys(raster.notes).length > 0 ? { notes: raster.notes } : {}),
  });
  const sources =
    content.kind === "curves"
      ? {
          return_period_maps: content.models.map(({ model, maps }) => ({
            ...(model === "" ? {} : { model }),
            maps: maps.map(({ raster, band, unitFactor, returnPeriodYears }) => ({
              return_period_years: returnPeriodYears,
              ...(unitFactor === 1 ? {} : { unit_factor: unitFactor }),
              ...file(raster, band),
            })),
          })),
          ...(content.models.length > 1
            ? { models: "mean of the metrics over models with data, at least half of them" }
            : {}),
        }
      : {
          metric_maps: Object.entries(content.metrics).map(([metric, { raster, band, unitFactor, saturate }]) => ({
            metric,
            ...(unitFactor === 1 ? {} : { unit_factor: unitFactor }),
            ...(saturate ? { saturated: true } : {}),
            ...file(raster, band),
          })),
        };
  return {
    ...group.provenance,
    ...sources,
    ...(options.holdFlat === true && content.kind === "curves" ? { hold_flat: true } : {}),
    ...(options.clampNegative === true ? { clamp_negative: true, clamped_cells: counts.clampedNegative } : {}),
    ...(options.bbox === undefined
      ? {}
      : { bbox_deg: [options.bbox.westDeg, options.bbox.southDeg, options.bbox.eastDeg, options.bbox.northDeg] }),
    ...(content.kind === "curves"
      ? {
          lower_bound_at_first_return_period: counts.reachedAtFirst > 0,
          cells_at_first_return_period: counts.reachedAtFirst,
          cells_partly_missing: counts.partlyMissing,
          cells_made_non_decreasing: counts.raised,
        }
      : {}),
    cells: { valid: counts.valid, nodata: counts.nodata, zero: counts.zero },
    largest_rounding: worst,
  };
}

/** Where a file lay on the machine that made the atlas is nobody's business: its name is. */
function nameOf(file: string): string {
  return /^https?:\/\//.test(file) ? file : (file.split(/[/\\]/).at(-1) ?? file);
}

/** Changes whenever the cells to be written may: files, their sizes and times, rules, choices, and our own arithmetic. */
async function keyOf({ plan, window, grid, offset }: Target, options: IngestOptions): Promise<string> {
  const stamps = new Map<string, string>();
  for (const { raster } of plan.groups.flatMap(mapsOf)) {
    if (!stamps.has(raster.file)) stamps.set(raster.file, await stampOf(raster.file));
  }
  const groups = plan.groups.map(({ scenario, year, content }) => ({
    scenario,
    year,
    maps: mapsOf({ scenario, year, content, provenance: {} }).map((map) => ({
      ...map,
      raster: [map.raster.file, stamps.get(map.raster.file) ?? "", map.raster.notes],
    })),
    names: content.kind === "curves" ? content.models.map(({ model }) => model) : Object.keys(content.metrics),
  }));
  const { holdFlat, clampNegative, nodata } = options;
  const all = [
    version,
    plan.hazard,
    plan.rules,
    groups,
    window,
    grid,
    offset,
    // As text: JSON has no infinite numbers.
    { holdFlat, clampNegative, nodata: nodata === undefined ? undefined : String(nodata) },
  ];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}

/** What tells one version of a file from the next. */
async function stampOf(file: string): Promise<string> {
  if (!/^https?:\/\//.test(file)) {
    const { size, mtimeMs } = await stat(file);
    return `${size}/${mtimeMs}`;
  }
  try {
    const { headers } = await fetch(file, { method: "HEAD", signal: AbortSignal.timeout(STAMP_TIMEOUT_MS) });
    return ["etag", "last-modified", "content-length"].map((name) => headers.get(name) ?? "").join("/");
  } catch {
    return ""; // The map is read by other requests, which say what is wrong where something is.
  }
}

// --- the catalogue -----------------------------------------------------------------------------------------------

/**
 * The day, and a hash of all that the atlas answers with: which cells each scenario and year of each hazard has, on which
 * grid, and how their steps are read.
 */
function releaseName(hazards: readonly HazardEntry[], createdAt: string): string {
  const content = hazards.map(({ hazard, grid, rules, packs }) => {
    const live = packs.flatMap(({ id, groups }) =>
      groups.flatMap(({ scenario, year, layers, superseded }, index) =>
        superseded === true ? [] : [JSON.stringify([scenario, year, id, index, layers])],
      ),
    );
    return [hazard, grid, rules, live.toSorted()];
  });
  const hash = createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 8);
  return `${createdAt.slice(0, 10).replaceAll("-", "")}-${hash}`;
}

const keyOfGroup = (hazard: string, group: { readonly scenario: string; readonly year: number }): string =>
  `${hazard}/${group.scenario}/${group.year}`;

function changedCatalogue(
  current: Catalogue | undefined,
  written: readonly WrittenPack[],
  { release, replaced }: { readonly release: string | undefined; readonly replaced: Set<string> },
): Omit<Catalogue, "sha256"> {
  let hazards: readonly HazardEntry[] = current?.hazards ?? [];
  for (const { target, pack, groups } of written) {
    const { hazard, rules } = target.plan;
    const existing = hazards.find((entry) => entry.hazard === hazard);
    const fresh = new Set(groups.map((group) => keyOfGroup(hazard, group)));
    // Groups keep their places in the packs they were written to: positions in the files count on it. Packs are
    // named by their cells alone, so that two scenarios with equal maps share files: an id may stand here twice.
    const older = (existing?.packs ?? [])
      .map((entry) => ({
        ...entry,
        groups: entry.groups.map((group) => {
          if (!fresh.has(keyOfGroup(hazard, group)) || group.superseded === true) return group;
          replaced.add(keyOfGroup(hazard, group));
          return { ...group, superseded: true };
        }),
      }))
      .filter((entry) => entry.groups.some((group) => group.superseded !== true));
    const entry: HazardEntry = {
      hazard,
      grid: existing?.grid ?? gridEntryOf(target.grid),
      rules: { ...rules },
      packs: [...older, { ...pack, groups: [...groups] }],
    };
    hazards = [...hazards.filter((other) => other.hazard !== hazard), entry];
  }
  const order = (hazard: string): number => (HAZARD_NAMES as readonly string[]).indexOf(hazard);
  const ordered = hazards.toSorted((a, b) => order(a.hazard) - order(b.hazard));
  const createdAt = new Date().toISOString();
  return {
    format: "isotherm-atlas",
    format_version: FORMAT_VERSION,
    release: release ?? releaseName(ordered, createdAt),
    created_at: createdAt,
    synthetic: false,
    hazards: ordered,
  };
}

function reportsOf({ target, groups, totals }: WrittenPack, replaced: ReadonlySet<string>): readonly GroupReport[] {
  const { hazard } = target.plan;
  return target.plan.groups.map(({ scenario, year }, i) => ({
    hazard,
    scenario,
    year,
    metrics: (groups[i]?.layers ?? []).map(({ metric }) => metric as GroupReport["metrics"][number]),
    cells: totals[i]?.counts ?? noCounts(),
    largestRounding: totals[i]?.worst ?? {},
    replaced: replaced.has(keyOfGroup(hazard, { scenario, year })),
  }));
}
