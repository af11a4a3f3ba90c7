/** The list of places of an explorer. It is kept in memory only, until the tab is closed or uses another key. */
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import type { RequestedColumns } from "../../places/readers/placeColumnNames.ts";
import { asExplorerError, type ExplorerData, type ExplorerError } from "../data/explorerData.ts";
import type { ListOrder } from "./listOrder.ts";
import { parsePlaceList, type PlaceList, type RefusedList, renamePlaces } from "./placeList.ts";
import { type ListQuery, type ListScores, scoreList } from "./scoreList.ts";

export type ScoringState =
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
