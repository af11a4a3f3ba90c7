import type { FieldLayer } from "../../atlas/cachedField.ts";
import type { Sampler } from "../../atlas/sampler.ts";
import { curveLayerName } from "../../atlas/supplement.ts";
import { Fault, type FaultItem } from "../../errors.ts";
import type { Grid } from "../../kernel/grid.ts";
import { summarizeItems } from "../../validation/schemaErrors.ts";
import { MERCATOR_LAT_DEG_MAX } from "../../tiles/mercator.ts";
import { curvePlanOf } from "../curvePlan.ts";
import { HAZARDS, layerOf, type MetricName } from "../hazards.ts";
import { checkOffer } from "../query.ts";
import { blockSizesOf } from "./pixelBlocks.ts";
import { checkTileLayer, type ValueTileLayerRequest } from "./tileRequest.ts";

/** What map clients need to request and show the tiles of a layer. */
export interface ValueTileLayer {
  /** Unit of the values; "1" for shares and probabilities. */
  readonly unit: string;
  readonly stepsPerUnit: number;
  /** Value of step 0, in the unit of the metric. */
  readonly offset: number;
  /** Metric with the color scale of the layer: for `rp_<years>`, the hazard's own metric. */
  readonly scaleMetric: MetricName;
  /** Smallest zoom at which every pixel shows the cell at its center. */
  readonly nativeZoom: number;
  /**
   * Cells along one edge of the block whose maximum a pixel is, by zoom from 0 to `nativeZoom`; 1 where a pixel is the cell
   * at its center: at `nativeZoom`, and at every zoom if the source has no pyramid.
   */
  readonly blockSizeCellsByZoom: readonly number[];
  /** Extent of the grid within Web Mercator, degrees: west, south, east, north. */
  readonly bounds: readonly [west: number, south: number, east: number, north: number];
  /** Provenance as stated in the atlas. */
  readonly source: Readonly<Record<string, unknown>>;
}

/** A layer of the atlas that tiles show. */
export interface FoundTileLayer {
  readonly fieldLayer: FieldLayer;
  readonly grid: Grid;
  readonly provenance: Readonly<Record<string, unknown>>;
}

/** Describes a layer. @throws Fault `invalid_request`, `combination_unavailable` */
export function describeTileLayer(sampler: Sampler, request: ValueTileLayerRequest): ValueTileLayer {
  checkTileLayer(request);
  const { fieldLayer, grid, provenance } = findTileLayer(sampler, request);
  const { hazard, metric } = request;
  const { unit, steps_per_unit, offset } = fieldLayer.entry;
  const blockSizes = blockSizesOf(grid);
  return {
    unit,
    stepsPerUnit: steps_per_unit,
    offset,
    scaleMetric: HAZARDS[hazard].metrics.find((spec) => spec.metric === metric)?.metric ?? HAZARDS[hazard].ownMetric,
    nativeZoom: blockSizes.length - 1,
    blockSizeCellsByZoom: fieldLayer.source.pyramid === undefined ? blockSizes.map(() => 1) : blockSizes,
    bounds: boundsOf(grid),
    source: provenance,
  };
}

/**
 * Returns a layer of the atlas.
 * @throws Fault `combination_unavailable`, which names what the hazard or the atlas offers instead
 */
export function findTileLayer(
  sampler: Sampler,
  { hazard, scenario, analysisYear, metric }: ValueTileLayerRequest,
): FoundTileLayer {
  checkOffer({ hazards: [hazard], scenarios: [scenario], analysis_years: [analysisYear] }, (name) =>
    name === "scenarios" ? { pointer: "/scenario" } : { pointer: "/analysisYear" },
  );
  const stored = layerOf(scenario, analysisYear);
  const atlasHazard = sampler.hazards.get(hazard);
  const group = atlasHazard?.group(stored.scenario, stored.year);
  if (atlasHazard === undefined || group === undefined) {
    const present = atlasHazard?.allGroups().map(({ entry }) => `${entry.scenario} ${entry.year}`) ?? [];
    const offer = present.length === 0 ? "no layers of this hazard" : present.toSorted().join(", ");
    throw unavailable(
      "/scenario",
      `The atlas does not have ${hazard} for ${stored.scenario} ${stored.year}; it has ${offer}.`,
    );
  }
  const { entry, source } = group;
  const { grid } = atlasHazard;
  const layer = entry.layers.findIndex((candidate) => candidate.metric === metric);
  const layerEntry = entry.layers[layer];
  if (layerEntry !== undefined) {
    return { fieldLayer: { source, group: group.group, layer, entry: layerEntry }, grid, provenance: entry.provenance };
  }
  const curve = curvePlanOf(sampler, hazard, stored);
  const periods = curve?.returnPeriodsYears.map(curveLayerName) ?? [];
  const position = curve?.values[periods.indexOf(metric)]?.position ?? -1;
  const curveLayer = curve?.set.cachedField.layers[curve.set.lanes[position] ?? -1];
  if (curveLayer === undefined) {
    const offered = [...entry.layers.map((candidate) => candidate.metric), ...periods];
    throw unavailable(
      "/metric",
      `The atlas does not have ${metric} of ${hazard} for ${stored.scenario} ${stored.year}; it has ${offered.join(", ")}.`,
      offered,
    );
  }
  return { fieldLayer: curveLayer, grid, provenance: entry.provenance };
}

function unavailable(pointer: string, detail: string, allowed?: readonly string[]): Fault {
  const item: FaultItem = { pointer, code: "combination_unavailable", detail, ...(allowed && { allowed }) };
  return new Fault("combination_unavailable", summarizeItems([item], "the request"), { items: [item] });
}

/** Returns the extent of a grid. Longitudes are those of a grid from 180 degrees west if it crosses the antimeridian. */
function boundsOf(grid: Grid): ValueTileLayer["bounds"] {
  const { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount } = grid;
  const north = Math.min(MERCATOR_LAT_DEG_MAX, northDeg);
  const south = Math.max(-MERCATOR_LAT_DEG_MAX, northDeg - rowCount * cellSizeLatDeg);
  const west = westDeg >= 180 ? westDeg - 360 : westDeg;
  const east = west + columnCount * cellSizeLonDeg;
  return west < -180 || east > 180 ? [-180, south, 180, north] : [west, south, east, north];
}
