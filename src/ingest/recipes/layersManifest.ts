/** The JSON manifest of `ingest layers`: its schema, and the rules that depend on the hazard. */
import { readFile } from "node:fs/promises";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../../errors.ts";
import { BASELINE, HAZARD_NAMES, HAZARDS, type HazardSpec, SCENARIOS } from "../../hazard/hazards.ts";

const CLOSED = { additionalProperties: false } as const;
const Text = Type.String({ minLength: 1 });
const Positive = Type.Number({ exclusiveMinimum: 0 });

const Source = Type.Object(
  {
    name: Text,
    licence: Text,
    version: Type.Optional(Text),
    url: Type.Optional(Text),
    credit: Type.Optional(Text),
  },
  CLOSED,
);

const Rules = Type.Object(
  {
    design_return_period_years: Type.Optional(Type.Number({ exclusiveMinimum: 1 })),
    threshold: Type.Optional(Positive),
    intensity_reference: Type.Optional(Positive),
    danger_threshold: Type.Optional(Positive),
  },
  CLOSED,
);

const Options = Type.Object(
  {
    hold_flat: Type.Optional(Type.Boolean()),
    clamp_negative: Type.Optional(Type.Boolean()),
    clamp_tolerance: Type.Optional(Positive),
    assume_wgs84: Type.Optional(Type.Boolean()),
    keep_meridian: Type.Optional(Type.Enum(["west", "east"])),
    cell_size_deg: Type.Optional(Positive),
    max_distortion: Type.Optional(Type.Number({ minimum: 1 })),
  },
  CLOSED,
);

const DimensionPosition = Type.Union([
  Type.Number(),
  Text,
  Type.Object({ index: Type.Integer({ minimum: 0 }) }, CLOSED),
]);

const Layer = Type.Object(
  {
    scenario: Type.Enum(SCENARIOS),
    year: Type.Integer(),
    metric: Type.Optional(Text),
    return_period_years: Type.Optional(Type.Number({ exclusiveMinimum: 1 })),
    model: Type.Optional(Text),
    file: Type.Optional(Text),
    files: Type.Optional(Type.Union([Text, Type.Array(Text, { minItems: 1 })])),
    overlap: Type.Optional(Type.Enum(["equal", "first", "largest"])),
    crs: Type.Optional(Text),
    band: Type.Optional(Type.Integer({ minimum: 1 })),
    variable: Type.Optional(Text),
    select: Type.Optional(Type.Record(Type.String(), DimensionPosition)),
    unit_factor: Type.Optional(Positive),
    nodata: Type.Optional(Type.Number()),
    saturate: Type.Optional(Type.Boolean()),
    proxy_of: Type.Optional(Text),
    definition: Type.Optional(Text),
  },
  CLOSED,
);

const Manifest = Type.Object(
  {
    hazard: Type.Enum(HAZARD_NAMES),
    source: Source,
    rules: Type.Optional(Rules),
    options: Type.Optional(Options),
    layers: Type.Array(Layer, { minItems: 1 }),
  },
  CLOSED,
);

/** The manifest of `ingest layers`; docs/ingest.md describes each member. */
export type LayersManifest = Static<typeof Manifest>;
export type ManifestLayer = Static<typeof Layer>;

const manifestChecker = Compile(Manifest);

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
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault("invalid_request", `${path}: cannot be read as a JSON manifest (${why}).`, { cause: error });
  }
  const items = findErrors(value, holdFlat);
  const [first] = items;
  if (first !== undefined) {
    const what =
      items.length === 1
        ? `the manifest has an error at ${first.pointer === "" ? "its root" : first.pointer}: ${first.detail}`
        : `the manifest has ${items.length} errors.`;
    throw new Fault("invalid_request", `${path}: ${what}`, {
      details: { file: path },
      items: items.slice(0, FAULT_ITEM_COUNT_MAX),
    });
  }
  return value as LayersManifest;
}

/** Returns whether an error was found at a JSON pointer or below it. */
type HasError = (pointer: string) => boolean;

/** A layer with its JSON pointer. Members with schema errors may have other types than declared. */
interface LocatedLayer {
  readonly layer: ManifestLayer;
  readonly pointer: string;
}

/** Returns schema errors, and errors against the rules of the hazard in all parts without schema errors. */
function findErrors(value: unknown, holdFlat: boolean): readonly FaultItem[] {
  const items = manifestChecker.Check(value) ? [] : withoutBranches(manifestChecker.Errors(value)).flatMap(schemaItems);
  const pointers = items.map(({ pointer = "" }) => pointer);
  const hasError: HasError = (parent) =>
    pointers.some((pointer) => pointer === parent || pointer.startsWith(`${parent}/`));
  // The rules of the hazard can be checked only if the hazard is known.
  if (pointers.includes("") || hasError("/hazard")) return items;
  const manifest = value as LayersManifest;
  const spec = HAZARDS[manifest.hazard];
  if (!pointers.includes("/rules")) {
    for (const [rule, given] of Object.entries(manifest.rules ?? {})) {
      if (rule in spec.rules || hasError(`/rules/${rule}`)) continue;
      const detail = `${manifest.hazard} has no such rule (got ${given}).`;
      items.push(item(`/rules/${rule}`, "not_expected", detail, Object.keys(spec.rules)));
    }
  }
  if (pointers.includes("/layers")) return items;
  const layers = manifest.layers.map((layer, index) => ({ layer, pointer: `/layers/${index}` }));
  const objects = layers.filter(({ pointer }) => !pointers.includes(pointer));
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

type ManifestSchemaError = ReturnType<typeof manifestChecker.Errors>[number];

/** Removes the errors of each alternative of a union, which only repeat that none of them matches. */
function withoutBranches(errors: readonly ManifestSchemaError[]): readonly ManifestSchemaError[] {
  const unions = errors.filter(({ keyword }) => keyword === "anyOf").map(({ instancePath }) => instancePath);
  return errors.filter(
    ({ keyword, instancePath }) =>
      keyword === "anyOf" || !unions.some((union) => instancePath === union || instancePath.startsWith(`${union}/`)),
  );
}

/** Converts a schema error to items, one for each unknown or missing member. */
function schemaItems({ keyword, instancePath, params, message }: ManifestSchemaError): readonly FaultItem[] {
  const {
    additionalProperties = [],
    requiredProperties = [],
    allowedValues,
  } = params as {
    readonly additionalProperties?: readonly string[];
    readonly requiredProperties?: readonly string[];
    readonly allowedValues?: readonly string[];
  };
  if (keyword === "additionalProperties") {
    return additionalProperties.map((name) =>
      item(`${instancePath}/${name}`, "unknown", "A manifest has no such member; docs/ingest.md lists its members."),
    );
  }
  if (keyword === "required") {
    return requiredProperties.map((name) => item(`${instancePath}/${name}`, "missing", "It is required."));
  }
  if (keyword === "anyOf") {
    const detail = instancePath.endsWith("/files")
      ? "It must be a path or pattern, or a list of at least one of them."
      : 'It must be a coordinate (a number or a text), or a position such as { "index": 0 }.';
    return [item(instancePath, "wrong_type", detail)];
  }
  // Repeats the error about a member that is not allowed.
  if (keyword === "boolean") return [];
  if (keyword === "enum")
    return [item(instancePath, "not_allowed", "It must be one of the allowed values.", allowedValues)];
  if (keyword === "minItems") return [item(instancePath, "empty", "There must be at least one.")];
  const code = keyword === "type" ? "wrong_type" : "out_of_range";
  return [item(instancePath, code, `It ${message}.`)];
}

function item(
  pointer: string,
  code: FaultItem["code"],
  detail: string,
  allowed?: readonly (string | number)[],
): FaultItem {
  return { pointer, code, detail, ...(allowed === undefined ? {} : { allowed }) };
}

function layerErrors(spec: HazardSpec, { layer, pointer }: LocatedLayer, hasError: HasError): readonly FaultItem[] {
  const items: FaultItem[] = [];
  const isValid = (...names: readonly string[]): boolean => names.every((name) => !hasError(`${pointer}/${name}`));
  if (isValid("scenario") && !spec.scenarios.includes(layer.scenario)) {
    const detail = `${spec.hazard} has no scenario ${layer.scenario}.`;
    items.push(item(`${pointer}/scenario`, "not_allowed", detail, spec.scenarios));
  }
  if (isValid("year") && !spec.years.includes(layer.year)) {
    items.push(item(`${pointer}/year`, "not_allowed", `${spec.hazard} has no year ${layer.year}.`, spec.years));
  } else if (isValid("scenario", "year") && (layer.scenario === BASELINE.scenario) !== (layer.year === BASELINE.year)) {
    const detail = `the baseline is the year ${BASELINE.year}, and no other scenario has that year.`;
    items.push(item(`${pointer}/year`, "combination_unavailable", detail));
  }
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
