import { useExplorer } from "../context.ts";
import { formatMetric, hazardTitle, scenarioTitle } from "../format.ts";
import { nativeZoom } from "../../tiles/mercator.ts";
import { metricLabel } from "../map/layerChoice.ts";
import { legendModel } from "../map/legendModel.ts";
import type { LayerAddress } from "../data/explorerData.ts";
import type { MapModel } from "../map/mapModel.ts";

/** Colors of the map, with their values. */
export function Legend() {
  const { map } = useExplorer();
  const metric = map.scaleMetric.value;
  const isDifference = map.isDifference.value;
  const { threshold } = map.rule.value;
  return (
    <section class="legend" aria-label="Legend">
      <h2>{quantityText(map)}</h2>
      <p class="note">{layersText(map)}</p>
      <ColorBar map={map} />
      <ul class="legend-keys">
        <li>
          <span class="swatch zero" />
          {isDifference ? "no difference" : "zero"}
          {threshold === undefined ? "" : `, or hidden because below ${formatMetric(metric, threshold)}`}: no color,
          land or sea is visible
        </li>
        <li>
          <span class="swatch no-data" />
          no data in the source
        </li>
        <li>
          <span class="swatch outside" />
          outside the atlas
        </li>
      </ul>
      <p class="note">{pixelText(map)}</p>
    </section>
  );
}

/** The short legend on the map of a narrow screen, which shows the map without its settings. Style sheets hide it elsewhere. */
export function MapLegend() {
  const { map } = useExplorer();
  return (
    <div class="map-legend">
      <p class="map-legend-title">{quantityText(map)}</p>
      <p>
        {layersText(map)}
        {hiddenText(map)}
      </p>
      <ColorBar map={map} />
    </div>
  );
}

function ColorBar({ map }: { readonly map: MapModel }) {
  const { colors, ticks } = legendModel(map.scaleMetric.value, map.isDifference.value);
  return (
    <>
      <div class="legend-bar" style={{ backgroundImage: `linear-gradient(to right, ${colors.join(", ")})` }} />
      <ol class="legend-ticks">
        {ticks.map(({ position, text }) => (
          <li key={position} style={{ insetInlineStart: `${100 * position}%` }}>
            {text}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Hazard and metric, with the unit of the numbers. */
function quantityText(map: MapModel): string {
  const hazard = map.hazard.value;
  const { unit } = legendModel(map.scaleMetric.value, map.isDifference.value);
  const label = `${hazardTitle(hazard.hazard)}: ${metricLabel(hazard, map.choice.value.metric)}`;
  return unit === "" ? label : `${label} (${unit})`;
}

function hiddenText(map: MapModel): string {
  const { threshold } = map.rule.value;
  if (threshold === undefined) return "";
  const what = map.isDifference.value ? "differences" : "values";
  return `; ${what} below ${formatMetric(map.scaleMetric.value, threshold)} are hidden`;
}

function layersText(map: MapModel): string {
  const [shown, compared] = [map.shown.value, map.compared.value];
  return compared === undefined ? layerText(shown) : `${layerText(shown)} minus ${layerText(compared)}`;
}

function layerText({ scenario, analysisYear }: LayerAddress): string {
  return `${scenarioTitle(scenario)} ${analysisYear}`;
}

/** Says what a pixel is: a cell, the maximum of a block of cells, or a cell among many. */
function pixelText(map: MapModel): string {
  const pixels = map.pixels.value;
  const { grid } = map.hazard.value;
  if (pixels === undefined || grid === null) return "";
  const { isBlockMaximum, blockSizeCells, zoom } = pixels;
  const isDifference = map.isDifference.value;
  if (isBlockMaximum) {
    const block = `${blockSizeCells} × ${blockSizeCells} cells`;
    return isDifference
      ? `At this zoom, the map shows the difference of block maxima: the largest values in blocks of ${block}, subtracted. They can be at different cells.`
      : `At this zoom, every pixel shows the largest value in a block of ${block}. Zoom in to see cells.`;
  }
  if (zoom >= nativeZoom(Math.min(grid.cell_size_lat_deg, grid.cell_size_lon_deg))) {
    return isDifference ? "Every pixel shows the difference in one cell." : "Every pixel shows one cell.";
  }
  return "At this zoom, every pixel shows only the cell at its center; cells between are not shown. Zoom in to see all cells.";
}
