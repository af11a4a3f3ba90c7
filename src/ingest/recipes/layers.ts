/** Recipe for maps that a JSON manifest describes. */
import type { FaultItem } from "../../errors.ts";
import { type HazardRules, HAZARDS, type MetricName } from "../../hazard/hazards.ts";
import type { CurveSource, GroupPlan, HazardPlan, MetricSource } from "../plan.ts";
import { partsOf, type RasterOptions, sourceFault } from "../raster.ts";
import { checkUnit } from "../units.ts";
import { filesOfLayer, pathFrom, sourceProvenance, throwManifestErrors } from "./manifestFile.ts";
import type { LayersManifest, ManifestLayer } from "./layersManifest.ts";
import type { MapOpener } from "./recipe.ts";
import { checkSamePeriods } from "./returnPeriodCurves.ts";

/** Opens the files of a manifest, whose paths are relative to the manifest, and plans the groups to write. */
export async function planLayers(
  manifest: LayersManifest,
  path: string,
  maps: MapOpener,
  options: RasterOptions,
): Promise<HazardPlan> {
  const spec = HAZARDS[manifest.hazard];
  const rules: HazardRules = { ...spec.rules, ...omitUndefined(manifest.rules ?? {}) };
  const mosaics = await findMosaics(manifest, path);
  const openLayer = async (layer: ManifestLayer) => {
    const nodata = [...(options.nodata ?? []), ...(layer.nodata === undefined ? [] : [layer.nodata])];
    const { variable, select, crs } = layer;
    const rasterOptions = { ...options, nodata, ...omitUndefined({ variable, select, crs }) };
    const files = mosaics.get(layer);
    const raster =
      files === undefined
        ? await maps.open(pathFrom(path, layer.file ?? ""), rasterOptions)
        : await maps.openMosaic(files, rasterOptions, layer.overlap ?? "equal");
    const band = layer.band ?? 1;
    const metric = spec.metrics.find((known) => known.metric === (layer.metric ?? spec.ownMetric));
    if (metric === undefined) throw new Error(`${spec.hazard} has no metric ${layer.metric}.`);
    for (const part of partsOf(raster)) {
      const { length } = part.bands;
      if (band > length)
        throw sourceFault(part.file, `has no band ${band}; it has ${length} ${length === 1 ? "band" : "bands"}.`);
      checkUnit(part, { band, metric: metric.metric, unit: metric.unit, unitFactor: layer.unit_factor });
    }
    return { raster, band, unitFactor: layer.unit_factor ?? 1 };
  };

  const groups: GroupPlan[] = [];
  for (const scenario of spec.scenarios) {
    for (const year of spec.years) {
      const layers = manifest.layers.filter((layer) => layer.scenario === scenario && layer.year === year);
      if (layers.length === 0) continue;
      const provenance = manifestProvenance(manifest, layers);
      if (layers.some(({ metric }) => metric === undefined)) {
        const models = await openManifestCurves(layers, openLayer);
        checkSamePeriods(models, `${manifest.hazard} ${scenario} ${year}`);
        groups.push({ scenario, year, provenance, content: { kind: "curves", models } });
        continue;
      }
      const metrics: Partial<Record<Exclude<MetricName, "total_hazard">, MetricSource>> = {};
      for (const layer of layers) {
        metrics[layer.metric as Exclude<MetricName, "total_hazard">] = {
          ...(await openLayer(layer)),
          saturate: layer.saturate === true,
        };
      }
      groups.push({ scenario, year, provenance, content: { kind: "metrics", metrics } });
    }
  }
  return { hazard: manifest.hazard, rules, groups };
}

/**
 * Returns the files of each layer that is a mosaic.
 * @throws Fault `invalid_request` with one item for each pattern that matches nothing, and each repeated file
 */
async function findMosaics(
  { layers }: LayersManifest,
  path: string,
): Promise<ReadonlyMap<ManifestLayer, readonly string[]>> {
  const mosaics = new Map<ManifestLayer, readonly string[]>();
  const items: FaultItem[] = [];
  for (const [index, layer] of layers.entries()) {
    if (layer.files === undefined) continue;
    const found = await filesOfLayer(path, layer.files, `/layers/${index}/files`);
    items.push(...found.items);
    mosaics.set(layer, found.files);
  }
  throwManifestErrors(path, items);
  return mosaics;
}

async function openManifestCurves(
  layers: readonly ManifestLayer[],
  openLayer: (layer: ManifestLayer) => Promise<Omit<MetricSource, "saturate">>,
): Promise<readonly CurveSource[]> {
  const curves: CurveSource[] = [];
  for (const model of [...new Set(layers.map((layer) => layer.model ?? ""))].toSorted()) {
    const ascending = layers
      .filter((layer) => (layer.model ?? "") === model)
      .toSorted((a, b) => (a.return_period_years ?? 0) - (b.return_period_years ?? 0));
    const maps = [];
    for (const layer of ascending) {
      maps.push({ ...(await openLayer(layer)), returnPeriodYears: layer.return_period_years ?? NaN });
    }
    curves.push({ model, maps });
  }
  return curves;
}

function manifestProvenance({ source }: LayersManifest, layers: readonly ManifestLayer[]): Record<string, unknown> {
  const joinTexts = (member: "proxy_of" | "definition"): Record<string, unknown> => {
    const texts = [...new Set(layers.flatMap((layer) => layer[member] ?? []))];
    return texts.length === 0 ? {} : { [member]: texts.length === 1 ? texts[0] : texts };
  };
  return {
    ...sourceProvenance("layers", source),
    ...joinTexts("proxy_of"),
    ...joinTexts("definition"),
  };
}

function omitUndefined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
