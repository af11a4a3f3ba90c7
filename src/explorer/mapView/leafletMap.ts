import { batch, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type LatLng, type LeafletMouseEvent, Map as LeafletMap, type Point, type ZoomPanOptions } from "leaflet";
import { MERCATOR_LAT_DEG_MAX } from "../../tiles/mercator.ts";
import type { Explorer } from "../context.ts";
import { type MapPosition, ZOOM } from "../state.ts";
import { CanvasLayer } from "./canvasLayer.ts";
import type { MapPoint } from "../map/mapOverlay.ts";
import { loadOutlines } from "./outlineFiles.ts";
import { connectOverlay } from "./overlayLayer.ts";
import { ValueLayer, type ValueLayerSource } from "./valueLayer.ts";

/** Where the value that is shown below the map is read: under the cursor, or at the center for users of the keyboard. */
export interface Pointer extends MapPoint {
  readonly isCenter: boolean;
}

/** Decimals of a place that is chosen on the map; 5 decimals are about a meter. */
const PLACE_DECIMALS = 5;
const POSITION_DECIMALS = 5;
const PANES = { land: "250", values: "300", outlines: "350" } as const;

/** The Leaflet map, connected with the state of the page. */
export class HazardLeafletMap {
  readonly values: ValueLayer;
  /** Undefined while no cursor is over the map and the keyboard has not been used. */
  readonly pointer: Signal<Pointer | undefined> = signal(undefined);
  readonly zoom: ReadonlySignal<number>;
  readonly #map: LeafletMap;
  readonly #explorer: Explorer;
  readonly #disposals: (() => void)[] = [];

  constructor(container: HTMLElement, explorer: Explorer, source: ValueLayerSource) {
    const { state, data, overlay } = explorer;
    const isAnimated = !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const map = new LeafletMap(container, {
      zoomControl: false,
      attributionControl: false,
      minZoom: ZOOM.min,
      maxZoom: ZOOM.max,
      maxBounds: [
        [-MERCATOR_LAT_DEG_MAX, -Infinity],
        [MERCATOR_LAT_DEG_MAX, Infinity],
      ],
      maxBoundsViscosity: 1,
      worldCopyJump: true,
      fadeAnimation: false,
      zoomAnimation: isAnimated,
      inertia: isAnimated,
    });
    this.#map = map;
    this.#explorer = explorer;
    const zoom = signal(state.map.peek().zoom);
    this.zoom = zoom;
    for (const [name, zIndex] of Object.entries(PANES)) map.createPane(name).style.zIndex = zIndex;
    show(map, state.map.peek());
    this.values = new ValueLayer(data, source, "values");
    this.values.layer.addTo(map);
    map.on("moveend", () => {
      batch(() => {
        zoom.value = map.getZoom();
        state.map.value = positionOf(map);
        if (this.pointer.peek()?.isCenter === true) this.pointer.value = this.center();
      });
    });
    map.on("mousemove", ({ containerPoint }: LeafletMouseEvent) => {
      this.pointer.value = { ...this.#pixelCenter(containerPoint), isCenter: false };
    });
    map.on("mouseout", () => (this.pointer.value = undefined));
    map.on("click", ({ containerPoint }: LeafletMouseEvent) => {
      const place = this.#pixelCenter(containerPoint);
      // A tap does not move a cursor.
      this.pointer.value = { ...place, isCenter: false };
      this.#choose(place);
    });
    this.#disposals.push(
      effect(() => {
        const position = state.map.value;
        if (!isSamePosition(position, positionOf(map))) show(map, position);
      }),
      effect(() => container.setAttribute("aria-busy", String(this.values.isLoading.value))),
      connectOverlay(map, overlay, state.place),
      this.#observeSize(container),
      this.#listenToKeys(container),
    );
  }

  /** Adds land, coasts and borders, which are loaded after the first values have been drawn. */
  addOutlines(): void {
    const map = this.#map;
    const layers = (["land", "outlines"] as const).map(
      (pane) =>
        new CanvasLayer(
          async (canvas, tile) => {
            const [{ drawLand, drawOutlines }, outlines] = await Promise.all([
              import("./outlines.ts"),
              loadOutlines(tile.z),
            ]);
            (pane === "land" ? drawLand : drawOutlines)(canvas, outlines, tile);
          },
          { pane },
        ),
    );
    layers.forEach((layer) => layer.addTo(map));
  }

  center(): Pointer {
    return { ...this.#pixelCenter(this.#map.getSize().divideBy(2).floor()), isCenter: true };
  }

  zoomBy(levels: number): void {
    this.#map.setZoom(this.#map.getZoom() + levels);
  }

  dispose(): void {
    this.#disposals.forEach((dispose) => dispose());
    this.values.dispose();
    this.#map.remove();
  }

  /** Returns the center of the pixel at a position of the cursor, which is its corner. */
  #pixelCenter(point: Point): MapPoint {
    return pointOf(this.#map.containerPointToLatLng(point.add([0.5, 0.5])));
  }

  #choose({ latitude, longitude }: MapPoint): void {
    this.#explorer.state.place.value = {
      latitude: Number(latitude.toFixed(PLACE_DECIMALS)),
      longitude: Number(longitude.toFixed(PLACE_DECIMALS)),
    };
  }

  /** Keeps the center when the size changes. A hidden map has no size; it gets one when its tab is shown. */
  #observeSize(container: HTMLElement): () => void {
    const observer = new ResizeObserver(() => {
      const position = this.#explorer.state.map.peek();
      batch(() => {
        this.#map.invalidateSize({ pan: false });
        show(this.#map, position);
      });
    });
    observer.observe(container);
    return () => observer.disconnect();
  }

  /** Leaflet pans and zooms with the arrows, plus and minus. */
  #listenToKeys(container: HTMLElement): () => void {
    const onKey = (event: KeyboardEvent): void => {
      if (event.target !== container) return;
      this.pointer.value = this.center();
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.#choose(this.center());
    };
    const onBlur = (): void => {
      if (this.pointer.peek()?.isCenter === true) this.pointer.value = undefined;
    };
    container.addEventListener("keydown", onKey);
    container.addEventListener("blur", onBlur);
    return () => {
      container.removeEventListener("keydown", onKey);
      container.removeEventListener("blur", onBlur);
    };
  }
}

/** Sets exactly the given center; panning to it would round the distance to pixels. */
const RESET: ZoomPanOptions & { readonly reset: true } = { animate: false, reset: true };

function show(map: LeafletMap, { latitude, longitude, zoom }: MapPosition): void {
  map.setView([latitude, longitude], zoom, RESET);
}

function positionOf(map: LeafletMap): MapPosition {
  const { latitude, longitude } = pointOf(map.getCenter());
  return {
    latitude: Number(latitude.toFixed(POSITION_DECIMALS)),
    longitude: Number(longitude.toFixed(POSITION_DECIMALS)),
    zoom: map.getZoom(),
  };
}

/** Compares with the precision of the permalink. */
function isSamePosition(a: MapPosition, b: MapPosition): boolean {
  return a.zoom === b.zoom && Math.abs(a.latitude - b.latitude) < 2e-5 && Math.abs(a.longitude - b.longitude) < 2e-5;
}

/** Returns a place with a longitude between -180 and 180; copies of the world have other longitudes. */
function pointOf(place: LatLng): MapPoint {
  const { lat, lng } = place.wrap();
  return { latitude: Math.max(-90, Math.min(90, lat)), longitude: lng };
}
