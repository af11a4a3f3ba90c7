import { effect } from "@preact/signals";
import {
  canvas,
  type CircleMarker,
  circleMarker,
  type LatLngTuple,
  layerGroup,
  type Map as LeafletMap,
  polygon,
} from "leaflet";
import type { SelectedPlace } from "../state.ts";
import type { MapOverlay, MapPlaces, MapRing } from "../map/mapOverlay.ts";
import type { ReadonlySignal } from "@preact/signals";

/** Longitudes at which copies of the world begin, relative to the first. */
const COPIES_DEG = [-360, 0, 360] as const;
/** Pixels by which Leaflet may simplify a circle. Its default of 1 would make a circle of 50 pixels a polygon of 16 corners. */
const smoothFactor = 0.1;
const CIRCLE = { color: "#a3004f", weight: 2, fillOpacity: 0.04, interactive: false, smoothFactor } as const;
const CASING = { color: "#ffffff", weight: 4, opacity: 0.8, fill: false, interactive: false, smoothFactor } as const;
const PLACE = {
  radius: 6,
  color: "#ffffff",
  weight: 2,
  fillColor: "#a3004f",
  fillOpacity: 1,
  interactive: false,
} as const;
const NO_VALUE_COLOR = "#9aa1a8";

/** Draws the chosen place, its circle and the places of a list. Returns a function that stops it. */
export function connectOverlay(
  map: LeafletMap,
  overlay: MapOverlay,
  place: ReadonlySignal<SelectedPlace | undefined>,
): () => void {
  const circles = layerGroup().addTo(map);
  const points = layerGroup().addTo(map);
  const markers = layerGroup().addTo(map);
  const placeMarkers: CircleMarker[] = [];
  const renderer = canvas({ padding: 0.5 });
  const disposals = [
    effect(() => {
      circles.clearLayers();
      for (const ring of overlay.circle.value ?? []) {
        for (const offsetDeg of COPIES_DEG) {
          polygon(corners(ring, offsetDeg), CASING).addTo(circles);
          polygon(corners(ring, offsetDeg), CIRCLE).addTo(circles);
        }
      }
      for (const marker of placeMarkers) marker.bringToFront();
    }),
    effect(() => {
      markers.clearLayers();
      placeMarkers.length = 0;
      const chosen = place.value;
      if (chosen === undefined) return;
      for (const offsetDeg of COPIES_DEG) {
        placeMarkers.push(circleMarker([chosen.latitude, chosen.longitude + offsetDeg], PLACE).addTo(markers));
      }
    }),
    effect(() => {
      points.clearLayers();
      if (overlay.places.value !== undefined) drawPlaces(overlay.places.value);
    }),
  ];
  function drawPlaces({ places, onSelect }: MapPlaces): void {
    for (const { id, latitude, longitude, label, color } of places) {
      for (const offsetDeg of COPIES_DEG) {
        circleMarker([latitude, longitude + offsetDeg], {
          renderer,
          radius: 6,
          color: "#1a2027",
          weight: 1,
          fillColor: color ?? NO_VALUE_COLOR,
          fillOpacity: 1,
          bubblingMouseEvents: false,
        })
          .bindTooltip(() => textElement(label))
          .on("click", () => onSelect(id))
          .addTo(points);
      }
    }
  }
  return () => disposals.forEach((dispose) => dispose());
}

function corners(ring: MapRing, offsetDeg: number): LatLngTuple[] {
  return ring.map(({ latitude, longitude }) => [latitude, longitude + offsetDeg]);
}

/** Leaflet would interpret text as HTML. */
function textElement(text: string): HTMLElement {
  const element = document.createElement("span");
  element.textContent = text;
  return element;
}
