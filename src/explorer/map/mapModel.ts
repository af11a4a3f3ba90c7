/** The layer and the threshold of the map, and what the page says if the atlas does not have what was wanted. */
import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { CatalogHazard, HazardCatalog, MetricName } from "../../contract/wireTypes.ts";
import { withoutHistoryStep } from "../addressBar.ts";
import type { LayerAddress } from "../data/explorerData.ts";
import type { LinkReading } from "../permalink.ts";
import type { ExplorerState } from "../state.ts";
import {
  availableChoice,
  catalogHazard,
  comparedLayer,
  isSameChoice,
  type LayerChoice,
  metricLabel,
  ownMetricOf,
  scaleMetricOf,
  shownLayer,
} from "./layerChoice.ts";
import { scaleOf } from "./legendModel.ts";
import type { PaintRule } from "./paint.ts";
import { METRIC_NAMES } from "../../contract/names.ts";
import { hazardTitle, scenarioTitle } from "../format.ts";

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
  /** What was wanted and what is shown instead, as sentences; undefined from the next choice on. */
  readonly replacement: ReadonlySignal<string | undefined>;
  /** Chooses another layer, or the closest that the atlas offers. */
  choose(change: Partial<LayerChoice>): void;
}

/** @param link the link that the state was last read from */
export function createMapModel(
  catalog: HazardCatalog,
  state: ExplorerState,
  link: ReadonlySignal<LinkReading>,
): MapModel {
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
  const replacement = signal<string | undefined>(undefined);
  /** The choice that the replacement describes. */
  let described: LayerChoice | undefined;
  /** @param named the parts that were chosen; the map may replace the others without saying so */
  const set = (wanted: LayerChoice, named: Partial<LayerChoice>): void => {
    const available = availableChoice(catalog, wanted);
    described = available;
    batch(() => {
      replacement.value = replacementText(catalog, named, available);
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
  // The address can set what the atlas does not offer.
  effect(() => {
    const wanted = choice.value;
    if (!isSameChoice(availableChoice(catalog, wanted), wanted)) {
      withoutHistoryStep(state, () => set(wanted, linkedChoice(wanted, link.peek())));
    } else if (described !== undefined && !isSameChoice(described, wanted)) {
      replacement.value = undefined;
    }
  });
  const choose = (change: Partial<LayerChoice>): void => {
    const { hazard: chosen = state.hazard.peek() } = change;
    const previous = choice.peek();
    // The metric of one hazard stands for that of another.
    const isOwnMetric = previous.metric === ownMetricOf(hazard.peek());
    const metric = isOwnMetric ? ownMetricOf(catalogHazard(catalog, chosen)) : previous.metric;
    const wanted = { ...previous, metric, ...change };
    set(wanted, wanted);
  };
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
    replacement,
    choose,
  };
}

/** Returns the parts of a choice that a link contains. */
function linkedChoice(choice: LayerChoice, { accepted }: LinkReading): Partial<LayerChoice> {
  const { hazard, metric, scenario, year, comparison } = choice;
  return {
    ...(accepted.has("hazard") ? { hazard } : {}),
    ...(accepted.has("metric") ? { metric } : {}),
    ...(accepted.has("scenario") ? { scenario } : {}),
    ...(accepted.has("year") ? { year } : {}),
    ...(accepted.has("minus") ? { comparison } : {}),
  };
}

/**
 * Returns what was wanted and what the map shows instead, as sentences; undefined if the map shows what was wanted.
 *
 * @param wanted parts that were chosen; the others are accepted as they are shown
 */
function replacementText(catalog: HazardCatalog, wanted: Partial<LayerChoice>, shown: LayerChoice): string | undefined {
  const sentences = [layerSentence(catalog, { ...shown, ...wanted }, shown), comparisonSentence(wanted, shown)];
  const text = sentences.filter((sentence) => sentence !== undefined).join(" ");
  return text === "" ? undefined : text;
}

function layerSentence(catalog: HazardCatalog, wanted: LayerChoice, shown: LayerChoice): string | undefined {
  const [wantedLayer, layer] = [shownLayer(wanted), shownLayer(shown)];
  const isSameMetric = wanted.metric === shown.metric;
  const isSame =
    wanted.hazard === shown.hazard &&
    isSameMetric &&
    wantedLayer.scenario === layer.scenario &&
    wantedLayer.analysisYear === layer.analysisYear;
  if (isSame) return undefined;
  const nameOf = (choice: LayerChoice): string => {
    const { scenario, analysisYear } = shownLayer(choice);
    const metric = isSameMetric ? [] : [metricText(catalogHazard(catalog, choice.hazard), choice.metric)];
    return [hazardTitle(choice.hazard), ...metric, `${scenarioTitle(scenario)} ${analysisYear}`].join(", ");
  };
  const missing =
    wanted.hazard === shown.hazard ? `the layer “${nameOf(wanted)}”` : `layers of ${hazardTitle(wanted.hazard)}`;
  return `The atlas does not have ${missing}. The map shows “${nameOf(shown)}”.`;
}

function comparisonSentence(wanted: Partial<LayerChoice>, shown: LayerChoice): string | undefined {
  const { comparison = "none" } = wanted;
  if (comparison === shown.comparison || comparison === "none") return undefined;
  const compared = comparedLayer({ ...shown, comparison });
  const layer = shownLayer(shown);
  const name = `${scenarioTitle(comparison)} ${compared?.analysisYear ?? shown.year}`;
  return compared?.scenario === layer.scenario && compared.analysisYear === layer.analysisYear
    ? `Nothing is subtracted, because “${name}” is the layer that is shown.`
    : `Nothing is subtracted, because the atlas does not have “${name}” with this metric.`;
}

/** Returns the name of a metric of a link, which may be unknown. */
function metricText(hazard: CatalogHazard, metric: string): string {
  const isKnown = METRIC_NAMES.some((name) => name === metric) || /^rp_\d+(\.\d+)?$/.test(metric);
  return isKnown ? metricLabel(hazard, metric) : metric;
}
