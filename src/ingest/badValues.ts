/** Creates the errors for rejected values. Each error names the file, the cell and its coordinates. */
import type { MetricSpec } from "../hazard/hazards.ts";
import type { BadValue } from "./badValue.ts";
import { depthStepsHint, largestAllowed } from "./planLayers.ts";
import { type GroupPlan, type MapSource, mapsOf } from "./plan.ts";
import { type CellWindow, describeCell, fileAt, sourceFault } from "./raster.ts";

/**
 * Returns the error for a metric that no step can store, traced back to the source map that caused it.
 * @param layer the layer that the value is for
 * @param position the window that was computed, and the index in it of the cell that `bad.cell` counts from
 */
export async function outOfRangeFault(
  group: GroupPlan,
  layer: MetricSpec | undefined,
  bad: BadValue,
  position: { readonly window: CellWindow; readonly firstCell: number },
): Promise<Error> {
  if (layer === undefined) throw new Error(`There is no layer ${bad.map}.`);
  const maps = mapsOf(group);
  const { cellText, cell } = locateBadValue(maps[0], bad, position);
  const largest = largestAllowed(layer);
  const unit = layer.unit === "1" ? "" : ` ${layer.unit}`;
  // An interpolated value or a mean over models is too large only if one of the maps is.
  for (const { raster, band, unitFactor } of maps) {
    const [value = NaN] = await raster.readWindow({
      band,
      firstRow: cell.row,
      rowCount: 1,
      firstColumn: cell.column,
      columnCount: 1,
    });
    if (!(value * unitFactor > largest)) continue;
    return sourceFault(
      fileAt(raster, cell),
      `${raster.bands.length === 1 ? "" : `band ${band}, `}${cellText}: the value ${value} gives ${layer.metric} ${bad.value}${unit}; a layer stores 0 to ${largest}${unit}. ` +
        `Check the unit factor and the nodata value.${depthStepsHint(layer, value * unitFactor)}`,
      { details: { ...cell, band, value, metric: layer.metric } },
    );
  }
  return new Error(`${layer.metric} of ${group.scenario} ${group.year} cannot be stored: ${bad.value} at ${cellText}.`);
}

/** Returns the error for a rejected source value, with what the user can do about it. */
export function badValueFault(
  source: MapSource | undefined,
  bad: BadValue,
  position: {
    readonly window: CellWindow;
    readonly firstCell: number;
    readonly layer: MetricSpec | undefined;
    readonly clampTolerance: number | undefined;
  },
): Error {
  const { cellText, cell } = locateBadValue(source, bad, position);
  const file = source === undefined ? "?" : fileAt(source.raster, cell);
  const band = source === undefined || source.raster.bands.length === 1 ? "" : `band ${source.band}, `;
  const marker = `If it marks missing cells, pass --nodata ${bad.value}`;
  const { layer, clampTolerance } = position;
  const unit = layer === undefined || layer.unit === "1" ? "" : ` ${layer.unit}`;
  const unitFactor = source?.unitFactor ?? 1;
  const inUnit = unitFactor === 1 ? "" : `, which is ${Number((bad.value * unitFactor).toPrecision(6))}${unit}`;
  const why = {
    negative: `the value is ${bad.value}, below zero. ${marker}; if it is noise around zero, pass --clamp-negative.`,
    "missing-marker": `the value is ${bad.value}, which commonly marks missing cells${bad.value < 0 ? " and is never set to 0" : ""}. ${marker}; if not, correct it in the map.`,
    "below-tolerance":
      `the value is ${bad.value}${inUnit}: more than ${clampTolerance}${unit} below zero, which is too much to be noise. ` +
      `${marker}; if it is a measurement that should be set to zero, pass --clamp-tolerance with a number above ${clampTolerance}.`,
    infinite: `the value is ${bad.value}; values must be finite. ${marker}.`,
    "above-range": `the value ${bad.value} becomes ${bad.value * unitFactor} as ${layer?.metric}, whose maximum is ${layer === undefined ? "" : largestAllowed(layer)}. Check the unit factor. ${marker}.${layer === undefined ? "" : depthStepsHint(layer, bad.value * unitFactor)}`,
  }[bad.why];
  return sourceFault(file, `${band}${cellText}: ${why}`, {
    details: { ...cell, band: source?.band, value: bad.value },
  });
}

function locateBadValue(
  source: MapSource | undefined,
  bad: BadValue,
  { window, firstCell }: { readonly window: CellWindow; readonly firstCell: number },
): { readonly cellText: string; readonly cell: { readonly row: number; readonly column: number } } {
  const index = firstCell + bad.cell;
  const cell = {
    row: window.firstRow + Math.floor(index / window.columnCount),
    column: window.firstColumn + (index % window.columnCount),
  };
  return { cellText: source === undefined ? "" : describeCell(source.raster.grid, cell), cell };
}
