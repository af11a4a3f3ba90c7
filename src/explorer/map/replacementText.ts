/** What the page says if the atlas does not have what was wanted. */
import { METRIC_NAMES } from "../../contract/names.ts";
import type { CatalogHazard, HazardCatalog } from "../../contract/wireTypes.ts";
import { hazardTitle, scenarioTitle } from "../format.ts";
import { catalogHazard, comparedLayer, type LayerChoice, metricLabel, shownLayer } from "./layerChoice.ts";

/**
 * Returns what was wanted and what the map shows instead, as sentences; undefined if the map shows what was wanted.
 *
 * @param wanted parts that were chosen; the others are accepted as they are shown
 */
export function replacementText(
  catalog: HazardCatalog,
  wanted: Partial<LayerChoice>,
  shown: LayerChoice,
): string | undefined {
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
