/** The list of places of an explorer. It is kept in memory only, until the tab is closed or uses another key. */
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import type { RequestedColumns } from "../../places/readers/placeColumnNames.ts";
import { asExplorerError, type ExplorerData, type ExplorerError } from "../data/explorerData.ts";
import { type ListOrder, type ListQuery, type ListScores, scoreList } from "./scoreList.ts";
import { parsePlaceList, type PlaceList, type RefusedList, renamePlaces } from "./placeList.ts";
import { formatCount, hazardTitle, scenarioTitle } from "../format.ts";
import type { MapPosition } from "../state.ts";

type ScoringState =
  | { readonly kind: "idle" }
  | { readonly kind: "running" }
  | { readonly kind: "canceled" }
  | { readonly kind: "failed"; readonly error: ExplorerError };

export interface ListModel {
  readonly list: ReadonlySignal<PlaceList | undefined>;
  /** Why the last text was not accepted. */
  readonly refused: ReadonlySignal<RefusedList | undefined>;
  readonly scores: ReadonlySignal<ListScores>;
  /** What the scores are values of; undefined before the first computation. */
  readonly query: ReadonlySignal<ListQuery | undefined>;
  readonly scoring: ReadonlySignal<ScoringState>;
  readonly order: { value: ListOrder };
  readonly pageIndex: { value: number };
  /** Line of the row that was chosen on the map or in the table. */
  readonly selectedLine: { value: number | undefined };
  /** Reads a list, or reads the last one again with other columns. */
  read(text: string | undefined, requested?: RequestedColumns): void;
  /** Names the places by another column, or by their lines. The scores are kept. */
  nameBy(column: string | undefined): void;
  /** Shows that a text could not be read. */
  refuse(error: string): void;
  clear(): void;
  compute(data: ExplorerData, query: ListQuery): Promise<void>;
  cancel(): void;
}

const FIRST_ORDER: ListOrder = { by: "line", isDescending: false };

export function createListModel(): ListModel {
  let text = "";
  let running: AbortController | undefined;
  const list = signal<PlaceList | undefined>(undefined);
  const refused = signal<RefusedList | undefined>(undefined);
  const scores = signal<ListScores>(new Map());
  const query = signal<ListQuery | undefined>(undefined);
  const scoring = signal<ScoringState>({ kind: "idle" });
  const order = signal(FIRST_ORDER);
  const pageIndex = signal(0);
  const selectedLine = signal<number | undefined>(undefined);
  const clear = (): void => {
    running?.abort();
    running = undefined;
    batch(() => {
      list.value = undefined;
      refused.value = undefined;
      scores.value = new Map();
      query.value = undefined;
      scoring.value = { kind: "idle" };
      order.value = FIRST_ORDER;
      pageIndex.value = 0;
      selectedLine.value = undefined;
    });
  };
  return {
    list,
    refused,
    scores,
    query,
    scoring,
    order,
    pageIndex,
    selectedLine,
    read(given, requested) {
      text = given ?? text;
      const parsed = parsePlaceList(text, requested);
      batch(() => {
        clear();
        if ("errors" in parsed) refused.value = parsed;
        else list.value = parsed;
      });
    },
    nameBy(column) {
      if (list.value !== undefined) list.value = renamePlaces(list.value, column);
    },
    refuse(error) {
      clear();
      refused.value = { errors: [error], columns: [] };
    },
    clear() {
      text = "";
      clear();
    },
    async compute(data, wanted) {
      const rows = list.peek()?.rows ?? [];
      running?.abort();
      const abort = new AbortController();
      running = abort;
      batch(() => {
        scores.value = new Map();
        query.value = wanted;
        scoring.value = { kind: "running" };
      });
      const set = (change: () => void): void => {
        if (running === abort) batch(change);
      };
      try {
        await scoreList(data, rows, wanted, {
          signal: abort.signal,
          onProgress: (partial) => set(() => (scores.value = partial)),
        });
        set(() => (scoring.value = { kind: "idle" }));
      } catch (error) {
        set(() => {
          scoring.value = abort.signal.aborted
            ? { kind: "canceled" }
            : { kind: "failed", error: asExplorerError(error) };
        });
      }
    },
    cancel() {
      running?.abort();
    },
  };
}

interface ListProgress {
  readonly kind: ScoringState["kind"];
  /** Places with a value, or with the reason why the query was refused. */
  readonly doneCount: number;
  /** Places with a location. */
  readonly count: number;
}

export function progressText({ kind, doneCount, count }: ListProgress): string {
  if (kind === "running") return `${formatCount(doneCount)} of ${formatCount(count)} places computed`;
  if (kind === "canceled") return `Canceled after ${formatCount(doneCount)} of ${formatCount(count)} places.`;
  return doneCount === 0 ? "" : `${formatCount(doneCount)} of ${formatCount(count)} places computed.`;
}

/** Returns whether the values can be downloaded, and what the file contains, or why there is none. */
export function downloadOffer({ kind, doneCount, count }: ListProgress): {
  readonly isReady: boolean;
  readonly note: string;
} {
  if (kind === "running") {
    return { isReady: false, note: "Available when all values have been computed, or after Cancel." };
  }
  if (doneCount === 0) return { isReady: false, note: "Available when values have been computed." };
  const missing = count - doneCount;
  const notComputed =
    missing === 0 ? "" : `${formatCount(missing)} of ${formatCount(count)} places have the status not_computed. `;
  return {
    isReady: true,
    note: `${notComputed}All columns and rows of the list, with the values as columns. Faulty rows have their errors.`,
  };
}

export function queryText({ hazard, scenario, year, radiusKm, method, returnPeriodYears }: ListQuery): string {
  const period = returnPeriodYears === undefined ? "" : `return period ${returnPeriodYears} years, `;
  const area = radiusKm === 0 ? "cell at the place" : `${method} within ${radiusKm} km`;
  return `${hazardTitle(hazard)}, ${scenarioTitle(scenario)} ${year}, ${period}${area}`;
}

interface Location {
  readonly latitude: number;
  readonly longitude: number;
}

const ZOOM = { min: 1, max: 10 } as const;
/** Degrees of longitude that are visible at zoom 0 on a map of 512 pixels. */
const VISIBLE_DEG = 720;

/** Returns a position of the map that shows all places; undefined if there are none. Places may be on both sides of 180 degrees. */
export function mapPosition(places: readonly Location[]): MapPosition | undefined {
  if (places.length === 0) return undefined;
  const latitudes = places.map(({ latitude }) => latitude);
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  const { centerDeg, widthDeg } = smallestArc(places.map(({ longitude }) => longitude));
  const latitude = (south + north) / 2;
  const heightDeg = (north - south) / Math.max(0.2, Math.cos((latitude * Math.PI) / 180));
  const spanDeg = Math.max(widthDeg, heightDeg, 0.01) * 1.3;
  const zoom = Math.max(ZOOM.min, Math.min(ZOOM.max, Math.floor(Math.log2(VISIBLE_DEG / spanDeg))));
  return { latitude, longitude: centerDeg, zoom };
}

/** Returns the middle and the width of the shortest arc with all longitudes. */
function smallestArc(longitudes: readonly number[]): { readonly centerDeg: number; readonly widthDeg: number } {
  const sorted = [...new Set(longitudes)].toSorted((a, b) => a - b);
  let start = 0;
  let largestGap = -1;
  for (const [index, longitude] of sorted.entries()) {
    const next = sorted[index + 1] ?? (sorted[0] ?? longitude) + 360;
    if (next - longitude > largestGap) {
      largestGap = next - longitude;
      start = next;
    }
  }
  const widthDeg = 360 - largestGap;
  const center = start + widthDeg / 2;
  return { centerDeg: ((((center + 180) % 360) + 360) % 360) - 180, widthDeg };
}
