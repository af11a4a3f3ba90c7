import coarseUrl from "world-atlas/countries-110m.json?gzip";
import fineUrl from "world-atlas/countries-50m.json?gzip";
import type { Topology } from "topojson-client";
import type { Outlines } from "./outlines.ts";

/** Zoom from which the finer outlines are loaded. */
const FINE_ZOOM = 4;

const loaded = new Map<string, Promise<Outlines>>();

/** Loads the outlines for a zoom. Rejects if the file cannot be loaded; the next call tries again. */
export function loadOutlines(zoom: number): Promise<Outlines> {
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
