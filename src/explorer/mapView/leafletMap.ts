import { batch, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type LatLng, type LeafletMouseEvent, Map as LeafletMap, Point, type ZoomPanOptions } from "leaflet";
import { type MapPixel, MERCATOR_LAT_DEG_MAX, pixelCenter, wrapColumn } from "../../tiles/mercator.ts";
import type { Explorer } from "../context.ts";
import { type MapPosition, ZOOM } from "../state.ts";
import { CanvasLayer, ValueLayer, type ValueLayerSource } from "./valueLayer.ts";
import { type MapPoint, placeOfPixel } from "../map/mapOverlay.ts";
import { connectOverlay } from "./overlayLayer.ts";
import coarseUrl from "world-atlas/countries-110m.json?gzip";
import fineUrl from "world-atlas/countries-50m.json?gzip";
import type { Topology } from "topojson-client";
import type { Outlines } from "./outlines.ts";

/** Where the value that is shown below the map is read: under the cursor, or at the center for users of the keyboard. */
interface Pointer extends MapPoint {
  readonly isCenter: boolean;
}

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
  /** Position of the cursor in the map; undefined while it is elsewhere. */
  #cursor: Point | undefined;

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
        // The map has moved below the cursor.
        else if (this.#cursor !== undefined) this.#pointAt(this.#cursor);
      });
    });
    map.on("mousemove", (event: LeafletMouseEvent) => {
      this.#cursor = this.#positionOf(event);
      this.#pointAt(this.#cursor);
    });
    map.on("mouseout", () => {
      this.#cursor = undefined;
      this.pointer.value = undefined;
    });
    map.on("click", (event: LeafletMouseEvent) => {
      const position = this.#positionOf(event);
      // After a tap there is no cursor, and the value of the tapped place stays when the map moves.
      if (event.originalEvent instanceof PointerEvent && event.originalEvent.pointerType === "touch") {
        this.#cursor = undefined;
      }
      this.#pointAt(position);
      this.#choose(this.#pixelAt(position));
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
    return { ...pointOfPixel(this.#centerPixel()), isCenter: true };
  }

  zoomBy(levels: number): void {
    this.#map.setZoom(this.#map.getZoom() + levels);
  }

  dispose(): void {
    this.#disposals.forEach((dispose) => dispose());
    this.values.dispose();
    this.#map.remove();
  }

  /**
   * Returns the position of the cursor in the map. The browser draws the map at whole pixels of the screen, also if its box
   * begins between two pixels, so that Leaflet's position can be in the pixel beside the one that is shown.
   */
  #positionOf({ originalEvent: { clientX, clientY } }: LeafletMouseEvent): Point {
    const { left, top } = this.#map.getContainer().getBoundingClientRect();
    return new Point(clientX - Math.round(left), clientY - Math.round(top));
  }

  #pointAt(position: Point): void {
    this.pointer.value = { ...pointOfPixel(this.#pixelAt(position)), isCenter: false };
  }

  /** Returns the pixel that is drawn at a position in the map. */
  #pixelAt(position: Point): MapPixel {
    const z = this.#map.getZoom();
    const { x, y } = this.#map.containerPointToLayerPoint(position.floor()).add(this.#map.getPixelOrigin());
    return { z, column: wrapColumn(z, x), row: y };
  }

  #centerPixel(): MapPixel {
    return this.#pixelAt(this.#map.getSize().divideBy(2));
  }

  #choose(pixel: MapPixel): void {
    const { state, map } = this.#explorer;
    state.place.value = placeOfPixel(pixel, map.hazard.peek().grid);
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
      this.#choose(this.#centerPixel());
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

function pointOfPixel(pixel: MapPixel): MapPoint {
  const { latDeg, lonDeg } = pixelCenter(pixel);
  return { latitude: latDeg, longitude: lonDeg };
}

/** Returns a place with a longitude between -180 and 180; copies of the world have other longitudes. */
function pointOf(place: LatLng): MapPoint {
  const { lat, lng } = place.wrap();
  return { latitude: Math.max(-90, Math.min(90, lat)), longitude: lng };
}

/** Zoom from which the finer outlines are loaded. */
const FINE_ZOOM = 4;

const loaded = new Map<string, Promise<Outlines>>();

/** Loads the outlines for a zoom. Rejects if the file cannot be loaded; the next call tries again. */
function loadOutlines(zoom: number): Promise<Outlines> {
  const url = zoom < FINE_ZOOM ? coarseUrl : fineUrl;
  const known = loaded.get(url);
  if (known !== undefined) return known;
  const outlines = load(url);
  loaded.set(url, outlines);
  outlines.catch(() => loaded.delete(url));
  return outlines;
}

async function load(url: string): Promise<Outlines> {
  const [{ outlinesOf }, response] = await Promise.all([import("./outlines.ts"), fetch(url)]);
  if (!response.ok || response.body === null) {
    throw new Error(`the outlines could not be loaded (status ${response.status})`);
  }
  const json = new Response(response.body.pipeThrough(new DecompressionStream("gzip")));
  return outlinesOf((await json.json()) as Topology);
}
