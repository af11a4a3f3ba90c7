import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { HazardCatalog } from "../contract/wireTypes.ts";
import type { ExplorerData } from "./data/explorerData.ts";
import type { MapModel } from "./map/mapModel.ts";
import type { MapOverlay } from "./map/mapOverlay.ts";
import type { ExplorerState } from "./state.ts";

/** What every component can use. */
export interface Explorer {
  readonly data: ExplorerData;
  readonly catalog: HazardCatalog;
  readonly state: ExplorerState;
  /** The circle and the points on the map. */
  readonly overlay: MapOverlay;
  /** The layer and the colors that the map shows. */
  readonly map: MapModel;
}

export const ExplorerContext = createContext<Explorer | undefined>(undefined);

/** Forgets the API key and asks for another; undefined if the page needs none. */
export const ForgetKeyContext = createContext<(() => void) | undefined>(undefined);

/** Returns the explorer of the page. Components are only rendered inside an `ExplorerContext`. */
export function useExplorer(): Explorer {
  const explorer = useContext(ExplorerContext);
  if (explorer === undefined) throw new Error("the component is not inside an ExplorerContext");
  return explorer;
}
