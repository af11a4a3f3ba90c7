/** The JSON manifest of `ingest layers`: its schema, and the rules that depend on the hazard. */
import { type Static, Type } from "typebox";
import { compileOnUse } from "../../validation/compiledSchema.ts";
import type { FaultItem } from "../../errors.ts";
import { HAZARDS, type HazardSpec } from "../../hazard/hazards.ts";
import { type HasError, manifestError as item, readManifestFile, scenarioYearErrors } from "./manifestFile.ts";
import {
  AssumeWgs84Schema,
  CLOSED,
  CrsSchema,
  FilesSchema,
  HazardSchema,
  KeepMeridianSchema,
  NodataSchema,
  positiveSchema,
  ProxyOfSchema,
  RulesSchema,
  ScenarioSchema,
  SCHEMA_MEMBER,
  SelectSchema,
  SourceSchema,
  textSchema,
  UnitFactorSchema,
  VariableSchema,
  YearSchema,
} from "./manifestSchemas.ts";

const Options = Type.Object(
  {
    hold_flat: Type.Optional(
      Type.Boolean({
        description: "Uses the value of the nearest map if the maps do not span the design return period.",
      }),
    ),
    clamp_negative: Type.Optional(Type.Boolean({ description: "Sets values slightly below zero to zero." })),
    clamp_tolerance: Type.Optional(
      positiveSchema("With clamp_negative: values further below zero are rejected, in the unit of the metric."),
    ),
    assume_wgs84: Type.Optional(AssumeWgs84Schema),
    keep_meridian: Type.Optional(KeepMeridianSchema),
    cell_size_deg: Type.Optional(positiveSchema("Cell size of maps that are reprojected, in degrees.")),
    max_distortion: Type.Optional(
      Type.Number({
        minimum: 1,
        description: "Largest distance between neighboring cells of a reprojected map, in cells of the source.",
      }),
    ),
  },
  { ...CLOSED, description: "Options of the ingest; the flags of the command line have the same meaning." },
);

const Layer = Type.Object(
  {
    scenario: ScenarioSchema,
    year: YearSchema,
    metric: Type.Optional(textSchema("A metric of the hazard other than total_hazard. Not with return_period_years.")),
    return_period_years: Type.Optional(
      Type.Number({ exclusiveMinimum: 1, description: "Return period of the map in years. Not with metric." }),
    ),
    model: Type.Optional(
      textSchema("Climate model, with return periods only. The metrics of several models are averaged."),
    ),
    file: Type.Optional(
      textSchema(
        "Path relative to the manifest, absolute path, path into a zip archive, or http(s) address. Not with files.",
      ),
    ),
    files: Type.Optional(FilesSchema),
    overlap: Type.Optional(
      Type.Enum(["equal", "first", "largest"], {
        description:
          "With files: whether values that several files have for a cell must be equal (default), or the first or the largest is used.",
      }),
    ),
    crs: Type.Optional(CrsSchema),
    band: Type.Optional(Type.Integer({ minimum: 1, description: "Counted from 1; default 1." })),
    variable: Type.Optional(VariableSchema),
    select: Type.Optional(SelectSchema),
    unit_factor: Type.Optional(UnitFactorSchema),
    nodata: Type.Optional(NodataSchema),
    saturate: Type.Optional(
      Type.Boolean({ description: "With metric: sets values above the maximum of the metric to the maximum." }),
    ),
    proxy_of: Type.Optional(ProxyOfSchema),
    definition: Type.Optional(
      textSchema("How the values differ from the definition of the metric. It is copied to the provenance."),
    ),
  },
  { ...CLOSED, description: "One map: file and exactly one of metric and return_period_years, and where it belongs." },
);

/** The schema of the manifest, published as docs/schemas/layers-manifest.json. */
export const LayersManifestSchema = Type.Object(
  {
    ...SCHEMA_MEMBER,
    hazard: HazardSchema,
    source: SourceSchema,
    rules: Type.Optional(RulesSchema),
    options: Type.Optional(Options),
    layers: Type.Array(Layer, { minItems: 1 }),
  },
  CLOSED,
);

/** The manifest of `ingest layers`; docs/ingest/manifest.md describes each member. */
export type LayersManifest = Static<typeof LayersManifestSchema>;
export type ManifestLayer = Static<typeof Layer>;

const manifestChecker = compileOnUse(() => LayersManifestSchema);

/**
 * Reads a manifest and checks everything that can be checked without opening a map.
 *
 * @param options `holdFlat`: as in the options of an ingest; in effect if set here or in the manifest
 * @throws Fault `invalid_request` with one item for each error, each with its JSON pointer
 */
export async function readManifest(
  path: string,
  { holdFlat = false }: { readonly holdFlat?: boolean | undefined } = {},
): Promise<LayersManifest> {
  const ruleErrors = (value: unknown, hasError: HasError): readonly FaultItem[] =>
    findErrors(value as LayersManifest, { holdFlat, hasError });
  return (await readManifestFile(path, { checker: manifestChecker(), ruleErrors })) as LayersManifest;
}

/** A layer with its JSON pointer. Members with schema errors may have other types than declared. */
interface LocatedLayer {
  readonly layer: ManifestLayer;
  readonly pointer: string;
}

/** Returns errors against the rules of the hazard in all parts without schema errors. */
function findErrors(
  manifest: LayersManifest,
  { holdFlat, hasError }: { readonly holdFlat: boolean; readonly hasError: HasError },
): readonly FaultItem[] {
  // The rules of the hazard can be checked only if the hazard is known.
  if (hasError("/hazard")) return [];
  const items: FaultItem[] = [];
  const spec = HAZARDS[manifest.hazard];
  const { rules = {}, layers: given } = manifest;
  if (isObject(rules)) {
    for (const [rule, value] of Object.entries(rules)) {
      if (rule in spec.rules || hasError(`/rules/${rule}`)) continue;
      const detail = `${manifest.hazard} has no such rule (got ${value}).`;
      items.push(item(`/rules/${rule}`, "not_expected", detail, Object.keys(spec.rules)));
    }
  }
  if (!Array.isArray(given) || given.length === 0) return items;
  const layers = given.map((layer, index) => ({ layer, pointer: `/layers/${index}` }));
  const objects = layers.filter(({ layer }) => isObject(layer));
  for (const located of objects) items.push(...layerErrors(spec, located, hasError));
  const valid = objects.filter(({ pointer }) =>
    ["scenario", "year", "metric", "return_period_years", "model"].every((name) => !hasError(`${pointer}/${name}`)),
  );
  const isComplete = valid.length === layers.length;
  items.push(...groupErrors(spec, valid, { isComplete }));
  if (isComplete && !hasError("/rules") && !hasError("/options")) {
    const designYears = manifest.rules?.design_return_period_years ?? spec.rules.design_return_period_years;
    const isFlat = holdFlat || manifest.options?.hold_flat === true;
    items.push(...curveErrors(valid, isFlat ? undefined : designYears));
  }
  return items;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function layerErrors(spec: HazardSpec, { layer, pointer }: LocatedLayer, hasError: HasError): readonly FaultItem[] {
  const items: FaultItem[] = [...scenarioYearErrors(spec, layer, { pointer, hasError })];
  const isValid = (...names: readonly string[]): boolean => names.every((name) => !hasError(`${pointer}/${name}`));
  if (isValid("file", "files") && (layer.file === undefined) === (layer.files === undefined))
    items.push(item(pointer, "not_expected", "a layer must have either file, or files for a mosaic, not both."));
  if (isValid("file", "files", "overlap") && layer.overlap !== undefined && layer.files === undefined)
    items.push(item(`${pointer}/overlap`, "not_expected", "only a mosaic (files) has an overlap."));
  if (!isValid("metric", "return_period_years")) return items;
  return [...items, ...kindErrors(spec, { layer, pointer })];
}

/** Returns errors about the kind of a layer, which is the map of a metric or the map of a return period. */
function kindErrors(spec: HazardSpec, { layer, pointer }: LocatedLayer): readonly FaultItem[] {
  const items: FaultItem[] = [];
  const metrics = spec.metrics.map(({ metric }) => metric).filter((metric) => metric !== "total_hazard");
  if ((layer.metric === undefined) === (layer.return_period_years === undefined)) {
    items.push(item(pointer, "not_expected", "a layer must have either metric or return_period_years, not both."));
  } else if (layer.metric !== undefined && !metrics.some((metric) => metric === layer.metric)) {
    const why =
      layer.metric === "total_hazard"
        ? "total_hazard is computed and cannot be given."
        : `${spec.hazard} has no metric ${layer.metric}.`;
    items.push(item(`${pointer}/metric`, "not_allowed", why, metrics));
  } else if (layer.return_period_years !== undefined && spec.rules.curve === undefined) {
    const detail = `${spec.hazard} is not computed from return-period maps; give maps of its metrics.`;
    items.push(item(`${pointer}/return_period_years`, "not_expected", detail, metrics));
  }
  if (layer.return_period_years !== undefined && layer.saturate !== undefined) {
    items.push(item(`${pointer}/saturate`, "not_expected", "only the map of a metric can be saturated."));
  }
  if (layer.metric !== undefined && layer.model !== undefined) {
    const detail = "only return-period maps are averaged over models; describe the model in definition.";
    items.push(item(`${pointer}/model`, "not_expected", detail));
  }
  return items;
}

/**
 * Returns errors about layers of the same (scenario, year) that contradict or lack each other.
 * @param options `isComplete`: whether these are all layers of the manifest; missing layers are reported only then
 */
function groupErrors(
  spec: HazardSpec,
  layers: readonly LocatedLayer[],
  { isComplete }: { readonly isComplete: boolean },
): readonly FaultItem[] {
  const items: FaultItem[] = [];
  const taken = new Map<string, string>();
  const kinds = new Map<string, { readonly first: string; readonly isCurve: boolean }>();
  for (const { layer, pointer } of layers) {
    const group = groupOf(layer);
    const isCurve = layer.return_period_years !== undefined;
    const key = `${group} ${isCurve ? `${layer.return_period_years} years ${layer.model ?? ""}` : layer.metric}`;
    const other = taken.get(key);
    if (other !== undefined) {
      items.push(item(pointer, "duplicate", `describes the same map (${key.trim()}) as ${other}.`));
    } else taken.set(key, pointer);
    const kind = kinds.get(group);
    if (kind === undefined) kinds.set(group, { first: pointer, isCurve });
    else if (kind.isCurve !== isCurve) {
      const detail = `${group} must have return periods or metrics, not both: see ${kind.first}.`;
      items.push(item(pointer, "not_expected", detail));
    }
  }
  if (!isComplete) return items;
  for (const [group, { first, isCurve }] of kinds) {
    if (isCurve) continue;
    if (layers.some(({ layer }) => groupOf(layer) === group && layer.metric === spec.ownMetric)) continue;
    items.push(item(first, "missing", `${group} lacks ${spec.ownMetric}, the hazard's own metric.`));
  }
  return items;
}

/**
 * Returns errors of curves: all models must have the same return periods, which must span the design return period.
 * @param designYears design return period, undefined if curves need not span it
 */
function curveErrors(layers: readonly LocatedLayer[], designYears: number | undefined): readonly FaultItem[] {
  const items: FaultItem[] = [];
  const curves = new Map<string, Map<string, { readonly first: string; readonly periods: Set<number> }>>();
  for (const { layer, pointer } of layers) {
    if (layer.return_period_years === undefined || layer.metric !== undefined) continue;
    const models = curves.get(groupOf(layer)) ?? new Map<string, { first: string; periods: Set<number> }>();
    curves.set(groupOf(layer), models);
    const model = models.get(layer.model ?? "") ?? { first: pointer, periods: new Set() };
    models.set(layer.model ?? "", model);
    model.periods.add(layer.return_period_years);
  }
  for (const [group, models] of curves) {
    const all = [...new Set([...models.values()].flatMap(({ periods }) => [...periods]))].toSorted((a, b) => a - b);
    for (const [model, { first, periods }] of models) {
      const missing = all.filter((period) => !periods.has(period));
      if (missing.length === 0) continue;
      const detail = `model ${model} of ${group} lacks the maps of ${missing.join(", ")} years that other models have.`;
      items.push(item(first, "missing", `${detail} Add them, or omit the model.`));
    }
    const [first] = models.values();
    const [returnPeriodYearsMin = NaN, returnPeriodYearsMax = NaN] = [all[0], all.at(-1)];
    if (
      first === undefined ||
      designYears === undefined ||
      (returnPeriodYearsMin <= designYears && designYears <= returnPeriodYearsMax)
    )
      continue;
    const detail =
      `the maps of ${group} have return periods of ${all.join(", ")} years, which do not span ${designYears}. ` +
      "Add maps on both sides of it, or use the value of the nearest map: hold_flat in options, or --hold-flat.";
    items.push(item(`${first.first}/return_period_years`, "out_of_range", detail));
  }
  return items;
}

function groupOf({ scenario, year }: ManifestLayer): string {
  return `${scenario} ${year}`;
}
