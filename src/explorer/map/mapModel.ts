import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { CatalogHazard, HazardCatalog, MetricName } from "../../contract/wireTypes.ts";
import { withoutHistoryStep } from "../addressBar.ts";
import type { LayerAddress } from "../data/explorerData.ts";
import type { ExplorerState } from "../state.ts";
import {
  availableChoice,
  catalogHazard,
  comparedLayer,
  isSameChoice,
  type LayerChoice,
  scaleMetricOf,
  shownLayer,
} from "./layerChoice.ts";
import { scaleOf } from "./legendModel.ts";
import type { PaintRule } from "./paint.ts";

/** What the pixels of the map are, as its tiles say. */
interface PixelMeaning {
  readonly isBlockMaximum: boolean;
  /** Cells along an edge of a block; 1 if each pixel is the cell at its center. */
  readonly blockSizeCells: number;
  readonly zoom: number;
}

/** What the map shows; controls, legend and map use the same. */
export interface MapModel {
  readonly choice: ReadonlySignal<LayerChoice>;
  readonly hazard: ReadonlySignal<CatalogHazard>;
  /** The metric with the color scale and the number format. */
  readonly scaleMetric: ReadonlySignal<MetricName>;
  readonly isDifference: ReadonlySignal<boolean>;
  readonly shown: ReadonlySignal<LayerAddress>;
  readonly compared: ReadonlySignal<LayerAddress | undefined>;
  readonly rule: ReadonlySignal<PaintRule>;
  /** Undefined until a tile has been drawn. */
  readonly pixels: Signal<PixelMeaning | undefined>;
  /** Chooses another layer, or the closest that the atlas offers. */
  choose(change: Partial<LayerChoice>): void;
}

export function createMapModel(catalog: HazardCatalog, state: ExplorerState): MapModel {
  const choice = computed<LayerChoice>(() => ({
    hazard: state.hazard.value,
    metric: state.metric.value,
    scenario: state.scenario.value,
    year: state.year.value,
    comparison: state.comparison.value,
  }));
  const hazard = computed(() => catalogHazard(catalog, state.hazard.value));
  const scaleMetric = computed(() => scaleMetricOf(hazard.value, state.metric.value));
  const isDifference = computed(() => state.comparison.value !== "none");
  const set = (wanted: LayerChoice): void => {
    const available = availableChoice(catalog, wanted);
    batch(() => {
      const [metric, difference] = [scaleMetric.peek(), isDifference.peek()];
      state.hazard.value = available.hazard;
      state.metric.value = available.metric;
      state.scenario.value = available.scenario;
      state.year.value = available.year;
      state.comparison.value = available.comparison;
      // A threshold has no meaning in another unit.
      if (scaleMetric.value !== metric || isDifference.value !== difference) state.threshold.value = undefined;
    });
  };
  // The address, and other parts of the page, can set what the atlas does not offer.
  effect(() => {
    const wanted = choice.value;
    const available = availableChoice(catalog, wanted);
    if (!isSameChoice(available, wanted)) withoutHistoryStep(state, () => set(wanted));
  });
  return {
    choice,
    hazard,
    scaleMetric,
    isDifference,
    shown: computed(() => shownLayer(choice.value)),
    compared: computed(() => comparedLayer(choice.value)),
    rule: computed(() => ({
      scale: scaleOf(scaleMetric.value, isDifference.value),
      threshold: state.threshold.value,
    })),
    pixels: signal(undefined),
    choose: (change) => set({ ...choice.peek(), ...change }),
  };
}
