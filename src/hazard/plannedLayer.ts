import type { LayerEntry } from "../atlas/catalog.ts";

/** A stored layer that a query needs. */
export interface PlannedLayer {
  readonly entry: LayerEntry;
  /** Position in the layer set. */
  readonly position: number;
}
