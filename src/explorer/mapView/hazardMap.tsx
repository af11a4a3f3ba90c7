import { useSignal } from "@preact/signals";
import "leaflet/dist/leaflet.css";
import "./map.css";
import { useEffect, useRef } from "preact/hooks";
import { type Explorer, useExplorer } from "../context.ts";
import { formatLocation, formatMetric, formatMetricChange, reasonText } from "../format.ts";
import { RecoveryButton } from "../failureNotice.tsx";
import { HazardLeafletMap } from "./leafletMap.ts";
import { catalogLayer } from "../map/layerChoice.ts";
import { MapLegend } from "./legend.tsx";
import { sourceText } from "../map/legendModel.ts";
import type { ValueAt } from "./valueLayer.ts";

const READOUT_HINT = "Point at the map, tap it, or focus it and use the arrow keys to read values.";
const MAP_NAME =
  "Hazard map. The arrow keys pan, plus and minus zoom, Enter chooses the place in the center of the map.";

/** The map of the chosen layer, the value under the cursor and the sources. */
export function HazardMap() {
  const explorer = useExplorer();
  const container = useRef<HTMLDivElement>(null);
  const view = useSignal<HazardLeafletMap | undefined>(undefined);
  useEffect(() => {
    if (container.current === null) return undefined;
    const map = new HazardLeafletMap(container.current, explorer, explorer.map);
    view.value = map;
    const cancelOutlines = afterFirstPaint(() => map.addOutlines());
    return () => {
      cancelOutlines();
      map.dispose();
      view.value = undefined;
    };
  }, [explorer]);
  const map = view.value;
  return (
    <>
      <div class="map-frame">
        <div ref={container} class="map-container" role="application" aria-label={MAP_NAME} />
        <span class="crosshair" aria-hidden="true" />
        <div class="zoom" role="group" aria-label="Zoom">
          <button type="button" aria-label="Zoom in" onClick={() => map?.zoomBy(1)}>
            +
          </button>
          <button type="button" aria-label="Zoom out" onClick={() => map?.zoomBy(-1)}>
            −
          </button>
        </div>
        {map === undefined ? null : <MapStatus map={map} />}
        <MapLegend />
      </div>
      {/* Has its height from the start: if the map became smaller, a place at its edge would be outside. */}
      {map === undefined ? <p class="readout">{READOUT_HINT}</p> : <Readout map={map} />}
      <Attribution />
    </>
  );
}

/** Runs a task when the browser has drawn the page and is idle. Returns a function that cancels it. */
function afterFirstPaint(task: () => void): () => void {
  if (typeof window.requestIdleCallback !== "function") {
    const timer = setTimeout(task, 200);
    return () => clearTimeout(timer);
  }
  const id = window.requestIdleCallback(task, { timeout: 1000 });
  return () => window.cancelIdleCallback(id);
}

/** Says that values are loading, or that they could not be loaded, with the pattern of tiles without values. */
function MapStatus({ map }: { readonly map: HazardLeafletMap }) {
  const { error, isLoading } = map.values;
  if (error.value !== undefined) {
    return (
      <p class="map-status" role="alert">
        <NotLoadedSwatch />
        Values could not be loaded: {error.value.message}{" "}
        <RecoveryButton error={error.value} onRetry={() => map.values.reload()} />
      </p>
    );
  }
  return (
    <p class="map-status loading">
      {isLoading.value ? (
        <>
          <NotLoadedSwatch />
          Loading values
        </>
      ) : null}
    </p>
  );
}

function NotLoadedSwatch() {
  return <span class="swatch not-loaded" role="img" aria-label="Dotted areas:" />;
}

/** The value under the cursor, or at the center of the map while it has the focus. */
function Readout({ map }: { readonly map: HazardLeafletMap }) {
  const explorer = useExplorer();
  const pointer = map.pointer.value;
  void map.values.revision.value;
  const zoom = map.zoom.value;
  const { sample } = map.values;
  useEffect(() => {
    const tile = sample.value?.tile;
    if (tile !== undefined) {
      const { isBlockMaximum, blockSizeCells } = tile;
      explorer.map.pixels.value = { isBlockMaximum, blockSizeCells, zoom };
    }
  }, [sample.value, zoom]);
  const location = pointer === undefined ? "" : formatLocation(rounded(pointer));
  const text = pointer === undefined ? "" : valueText(explorer, map.values.valueAt(pointer, zoom));
  const isCenter = pointer?.isCenter === true;
  return (
    <>
      <p class="readout" aria-hidden={isCenter}>
        {pointer === undefined ? (
          READOUT_HINT
        ) : (
          <>
            <span>{location}</span> <strong>{text}</strong>
          </>
        )}
      </p>
      {/* Exists before it has a text: screen readers do not announce the first text of a new element. */}
      <p class="visually-hidden" role="status">
        {isCenter ? `${location} ${text}` : ""}
      </p>
    </>
  );
}

/** Three decimals are about 100 m, less than a pixel at most zooms. */
function rounded({ latitude, longitude }: { readonly latitude: number; readonly longitude: number }) {
  return { latitude: Number(latitude.toFixed(3)), longitude: Number(longitude.toFixed(3)) };
}

function valueText({ map }: Explorer, { value, blockSizeCells }: ValueAt): string {
  if (value === "loading") return "loading";
  if (value === "failed") return "not loaded";
  if (value === "no_data") return reasonText("no_data");
  if (value === "outside") return reasonText("outside_coverage");
  const metric = map.scaleMetric.value;
  const number = map.isDifference.value ? formatMetricChange(metric, value) : formatMetric(metric, value);
  if (blockSizeCells === 1) return number;
  const what = map.isDifference.value ? "difference of maxima" : "maximum";
  return `${number} (${what}, ${blockSizeCells} × ${blockSizeCells} cells)`;
}

/** Where the values and the outlines come from. */
function Attribution() {
  const { map } = useExplorer();
  const { scenario, analysisYear } = map.shown.value;
  const layer = catalogLayer(map.hazard.value, scenario, analysisYear);
  return (
    <p class="attribution">
      {layer === undefined ? "" : `Values: ${sourceText(layer.source)} `}
      Outlines: Natural Earth (public domain), for orientation only. Cities: GeoNames (CC BY 4.0).
    </p>
  );
}
