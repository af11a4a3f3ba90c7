/**
 * The demo world: synthetic values over real coastlines, generated cell by cell when requested. It has the same
 * structure as real data, but every response marks it as synthetic.
 */
import { type GroupEntry, sha256Hex } from "../atlas/catalog.ts";
import type { AtlasHazard, CellAtlas, CellSource } from "../atlas/cellSource.ts";
import { inflateRaw } from "../atlas/inflate.ts";
import { curveLayerName, supplementName } from "../atlas/supplement.ts";
import { BASELINE, HAZARD_NAMES, type HazardName, HAZARDS, layerOf, type Scenario } from "../hazard/hazards.ts";
import {
  DEMO_LAYER_COUNT,
  DEMO_VERSION,
  type DemoCurve,
  type DemoLand,
  demoLayerCount,
  demoTileState,
  type DemoWorld,
  fillDemoTile,
  makeDemoCells,
  reserveDemoCurve,
  reserveDemoLand,
} from "../kernel/demo.ts";
import { type Grid, worldGrid } from "../kernel/grid.ts";
import { decodeBase64, type Kernel, type Region } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import { LAND_DEFLATED_BASE64, LAND_KM_PER_CODE_SQUARED, LAND_NODES_PER_DEG, LAND_SHA256 } from "./land.generated.ts";

/** Multiple of the tile size for which the cell size is closest to 0.0089 degrees, which does not divide 360 evenly. */
const FLOOD_COLUMNS = 40_448;
const COARSE_COLUMNS = 3600;

const PROVENANCE = {
  synthetic: true,
  description:
    "Invented for demonstration: a deterministic function of place, scenario and year over real coastlines. " +
    "Not fit for any decision about any place.",
  coastlines: "Natural Earth 1:10m land (public domain), through world-atlas",
} as const;

/**
 * Return periods, years, of the curves of the demo's floods and winds. Probabilities outside their range are limited to
 * it, as in maps of these return periods (assembly/demo.ts). Wildfire has no curve.
 */
const RETURN_PERIODS_YEARS = [2, 5, 10, 25, 50, 100, 250, 1000] as const;

/**
 * Warming of the demo climate in degrees C above 1980: `by2100C` in 2100, reached along a parabola that flattens
 * (`slowing` > 0) if emissions fall and steepens (`slowing` < 0) if they keep rising. The values are round numbers that
 * increase from scenario to scenario, so that the warming paths do not cross.
 */
const WARMING: Readonly<Record<Scenario, { readonly by2100C: number; readonly slowing: number }>> = {
  baseline: { by2100C: 0, slowing: 0 },
  rcp2p6: { by2100C: 1, slowing: 0.9 },
  rcp4p5: { by2100C: 1.9, slowing: 0.4 },
  rcp6p0: { by2100C: 2.6, slowing: 0.1 },
  rcp8p5: { by2100C: 4, slowing: -0.3 },
};

/** Returns the warming in degrees C above the climate of 1980. */
function warmingC(scenario: Scenario, year: number): number {
  const { by2100C, slowing } = WARMING[scenario];
  const share = (year - BASELINE.year) / (2100 - BASELINE.year);
  return by2100C * share * (1 + slowing * (1 - share));
}

/**
 * Opens the demo on a kernel, whose memory then permanently contains the grid of coast distances (6.5 MB). The demo has
 * four global hazards: cyclones and wildfire on cells of 0.1 degrees, and two kinds of floods on cells of 360/40448
 * degrees.
 */
export async function openDemo(kernel: Kernel): Promise<CellAtlas> {
  const land = reserveDemoLand(kernel, {
    codes: await (landCodes ??= readLandCodes()),
    nodesPerDeg: LAND_NODES_PER_DEG,
    kmPerCodeSquared: LAND_KM_PER_CODE_SQUARED,
  });
  const hazards = HAZARD_NAMES.flatMap((hazard) => openHazard(kernel, land, hazard));
  const contentHash = await demoContentHash(hazards);
  return {
    release: `demo-synthetic-${DEMO_VERSION}-${contentHash.slice(0, 8)}`,
    contentHash,
    synthetic: true,
    hazards,
    close: () => Promise.resolve(),
  };
}

/** Hashes everything that determines the demo's values: coastlines, version of the formulas, and hazard metadata. */
function demoContentHash(hazards: readonly AtlasHazard[]): Promise<string> {
  const metadata = hazards.map(({ hazard, grid, rules, sources }) => [
    hazard,
    grid,
    rules,
    sources.map(({ groups }) => groups),
  ]);
  const content = [LAND_SHA256, DEMO_VERSION, WARMING, metadata];
  return sha256Hex(new TextEncoder().encode(JSON.stringify(content)));
}

/** Returns a hazard, and its supplement with the curves if it has return periods. */
function openHazard(kernel: Kernel, land: DemoLand, hazard: HazardName): readonly AtlasHazard[] {
  const { ownMetric, rules } = HAZARDS[hazard];
  const grid = worldGrid(ownMetric === "depth_meters" ? FLOOD_COLUMNS : COARSE_COLUMNS);
  const world = { hazard, land, grid };
  const metrics = { hazard, grid, rules: { ...rules }, sources: [new DemoSource(kernel, world, groupsOf(hazard))] };
  if (rules.curve === undefined) return [metrics];
  const curve = reserveDemoCurve(kernel, RETURN_PERIODS_YEARS, rules.curve);
  const source = new DemoSource(kernel, world, curveGroupsOf(hazard, rules.curve), curve);
  return [metrics, { hazard: supplementName(hazard), grid, rules: {}, sources: [source] }];
}

interface DemoGroup {
  readonly entry: GroupEntry;
  readonly warmingC: number;
}

/** Returns a group for each (scenario, year) of the hazard, baseline first. */
function groupsOf(hazard: HazardName): readonly DemoGroup[] {
  const { years, scenarios, metrics, rules } = HAZARDS[hazard];
  const provenance =
    rules.curve === undefined ? PROVENANCE : { ...PROVENANCE, return_periods_years: RETURN_PERIODS_YEARS };
  const layers = metrics.map(({ metric, stepsPerUnit, offset, unit }) => ({
    metric,
    steps_per_unit: stepsPerUnit,
    offset,
    unit,
  }));
  if (layers.length !== DEMO_LAYER_COUNT)
    throw new Error(`${hazard} has ${layers.length} metrics, but the demo kernel generates ${DEMO_LAYER_COUNT}`);
  return scenarios.flatMap((scenario) =>
    years
      .filter((year) => layerOf(scenario, year).year === year && layerOf(scenario, year).scenario === scenario)
      .map((year) => ({
        entry: { scenario, year, layers, provenance: { ...provenance } },
        warmingC: warmingC(scenario, year),
      })),
  );
}

/** Returns a group with the curve of each (scenario, year). */
function curveGroupsOf(hazard: HazardName, variate: "gumbel" | "log"): readonly DemoGroup[] {
  const own = HAZARDS[hazard].metrics.find(({ metric }) => metric === HAZARDS[hazard].ownMetric);
  if (own === undefined) throw new Error(`${hazard} has no metric of its own.`);
  const { stepsPerUnit, offset, unit } = own;
  const layers = RETURN_PERIODS_YEARS.map((years) => ({
    metric: curveLayerName(years),
    steps_per_unit: stepsPerUnit,
    offset,
    unit,
  }));
  const provenance = { ...PROVENANCE, kind: "curve", return_periods_years: RETURN_PERIODS_YEARS, variate };
  return groupsOf(hazard).map(({ entry: { scenario, year }, warmingC: warming }) => ({
    entry: { scenario, year, layers, provenance: { ...provenance } },
    warmingC: warming,
  }));
}

/**
 * One hazard of the demo as a source of cells. The kernel generates tiles and single cells on request; nothing is
 * stored.
 */
class DemoSource implements CellSource {
  readonly grid: Grid;
  readonly groups: readonly GroupEntry[];
  readonly #kernel: Kernel;
  readonly #world: DemoWorld;
  readonly #warmings: readonly number[];
  /** Undefined if the groups have the metrics. */
  readonly #curve: DemoCurve | undefined;
  readonly #tile: Region;

  constructor(kernel: Kernel, world: DemoWorld, groups: readonly DemoGroup[], curve?: DemoCurve) {
    this.grid = world.grid;
    this.groups = groups.map(({ entry }) => entry);
    this.#kernel = kernel;
    this.#world = world;
    this.#warmings = groups.map(({ warmingC }) => warmingC);
    this.#curve = curve;
    this.#tile = kernel.reserve(TILE_SIZE * TILE_SIZE * demoLayerCount({ curve }) * 2);
  }

  resolve: CellSource["resolve"] = (tiles) =>
    Promise.resolve(tiles.map((tile) => demoTileState(this.#kernel, this.#world, tile)));

  load: CellSource["load"] = async (tiles, timeSlice) => {
    const loaded: Uint16Array[] = [];
    for (const { group, tileRow, tileColumn } of tiles) {
      if (timeSlice?.isExpired === true) await timeSlice.waitForStep();
      const layers = { warmingC: this.#warmingOf(group), curve: this.#curve };
      fillDemoTile(this.#kernel, this.#world, { tileRow, tileColumn, ...layers }, this.#tile);
      loaded.push(this.#kernel.u16(this.#tile).slice());
    }
    return loaded;
  };

  readCells: NonNullable<CellSource["readCells"]> = (group, cells) =>
    makeDemoCells(this.#kernel, this.#world, { cells, warmingC: this.#warmingOf(group), curve: this.#curve });

  close(): Promise<void> {
    return Promise.resolve();
  }

  #warmingOf(group: number): number {
    const warming = this.#warmings[group];
    if (warming === undefined) throw new RangeError(`the demo's ${this.#world.hazard} has no group ${group}`);
    return warming;
  }
}

/** Decoded once per thread: 6.5 MB. */
let landCodes: Promise<Int8Array> | undefined;

/** Decodes the grid of coast distances that scripts/buildLand.mjs writes. */
async function readLandCodes(): Promise<Int8Array> {
  const columns = 360 * LAND_NODES_PER_DEG;
  const sizeBytes = (180 * LAND_NODES_PER_DEG + 1) * columns;
  const { buffer, byteOffset } = await inflateRaw(decodeBase64(LAND_DEFLATED_BASE64), sizeBytes);
  const codes = new Int8Array(buffer, byteOffset, sizeBytes);
  // Each stored difference is the step from the node to the north minus the same step of the node to the west, so that the
  // sum of a row up to a node is its step. Beyond the grid's edges the codes are 0. The sums wrap around like the codes.
  for (let start = 0; start < codes.length; start += columns) {
    let northStep = 0;
    for (let node = start; node < start + columns; node++) {
      northStep += codes[node] ?? 0;
      codes[node] = northStep + (codes[node - columns] ?? 0);
    }
  }
  return codes;
}
