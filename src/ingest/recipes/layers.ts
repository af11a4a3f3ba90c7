import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Fault, type FaultItem } from "../../errors.ts";
import {
  BASELINE,
  HAZARD_NAMES,
  type HazardRules,
  HAZARDS,
  type HazardSpec,
  type MetricName,
  SCENARIOS,
} from "../../hazard/hazards.ts";
import type { CurveSource, GroupPlan, HazardPlan, MetricSource } from "../plan.ts";
import { type Raster, type RasterOptions, sourceFault } from "../raster.ts";
import { checkUnit } from "../units.ts";
import { checkSamePeriods } from "./aqueductFloods.ts";

const closed = { additionalProperties: false } as const;
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
  closed,
);

const Rules = Type.Object(
  {
    design_return_period_years: Type.Optional(Type.Number({ exclusiveMinimum: 1 })),
    threshold: Type.Optional(Positive),
    intensity_reference: Type.Optional(Positive),
    danger_threshold: Type.Optional(Positive),
  },
  closed,
);

const Options = Type.Object(
  {
    hold_flat: Type.Optional(Type.Boolean()),
    clamp_negative: Type.Optional(Type.Boolean()),
    clamp_tolerance: Type.Optional(Positive),
    assume_wgs84: Type.Optional(Type.Boolean()),
    keep_meridian: Type.Optional(Type.Enum(["west", "east"])),
  },
  closed,
);

const Layer = Type.Object(
  {
    scenario: Type.Enum(SCENARIOS),
    year: Type.Integer(),
    metric: Type.Optional(Text),
    return_period_years: Type.Optional(Type.Number({ exclusiveMinimum: 1 })),
    model: Type.Optional(Text),
    file: Text,
    band: Type.Optional(Type.Integer({ minimum: 1 })),
    unit_factor: Type.Optional(Positive),
    nodata: Type.Optional(Type.Number()),
    saturate: Type.Optional(Type.Boolean()),
    proxy_of: Type.Optional(Text),
    definition: Type.Optional(Text),
  },
  closed,
);

const Manifest = Type.Object(
  {
    hazard: Type.Enum(HAZARD_NAMES),
    source: Source,
    rules: Type.Optional(Rules),
    options: Type.Optional(Options),
    layers: Type.Array(Layer, { minItems: 1 }),
  },
  closed,
);

/** What `ingest layers` is told: docs/ingest.md describes each member. */
export type LayersManifest = Static<typeof Manifest>;
type ManifestLayer = Static<typeof Layer>;

const checker = Compile(Manifest);

/**
 * Reads a manifest and finds everything that is wrong with it at once.
 * @throws Fault `invalid_request` with one item for each fault, each with the pointer to its place
 */
export async function readManifest(path: string): Promise<LayersManifest> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault("invalid_request", `${path}: cannot be read as a JSON manifest (${why}).`, { cause: error });
  }
  const items = faultsOf(value);
  if (items.length > 0) {
    const count = items.length === 1 ? "one thing is" : `${items.length} things are`;
    throw new Fault("invalid_request", `${path}: ${count} wrong with this manifest.`, {
      details: { file: path },
      items,
    });
  }
  return value as LayersManifest;
}

function faultsOf(value: unknown): readonly FaultItem[] {
  if (!checker.Check(value)) return checker.Errors(value).flatMap(schemaItems);
  const items: FaultItem[] = [];
  const spec = HAZARDS[value.hazard];
  for (const [rule, given] of Object.entries(value.rules ?? {})) {
    if (rule in spec.rules) continue;
    items.push(
      item(
        `/rules/${rule}`,
        "not_expected",
        `${value.hazard} has no such rule; ${given} would mean nothing.`,
        Object.keys(spec.rules),
      ),
    );
  }
  value.layers.forEach((layer, index) => items.push(...layerFaults(spec, layer, `/layers/${index}`)));
  items.push(...slotFaults(value, spec));
  return items;
}

type SchemaError = ReturnType<typeof checker.Errors>[number];

/** A fault of the schema in our words: one for each unknown or missing member. */
function schemaItems({ keyword, instancePath, params, message }: SchemaError): readonly FaultItem[] {
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
      item(`${instancePath}/${name}`, "unknown", "A manifest has no such member; docs/ingest.md lists those it has."),
    );
  }
  if (keyword === "required") {
    return requiredProperties.map((name) => item(`${instancePath}/${name}`, "missing", "It must be there."));
  }
  // Each forbidden member is told once more as "must not be there at all".
  if (keyword === "boolean") return [];
  if (keyword === "enum") return [item(instancePath, "not_allowed", "It must be one of those allowed.", allowedValues)];
  if (keyword === "minItems") return [item(instancePath, "empty", "There must be at least one layer.")];
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

function layerFaults(spec: HazardSpec, layer: ManifestLayer, at: string): readonly FaultItem[] {
  const items: FaultItem[] = [];
  if (!spec.scenarios.includes(layer.scenario)) {
    items.push(
      item(`${at}/scenario`, "not_allowed", `${spec.hazard} has no scenario ${layer.scenario}.`, spec.scenarios),
    );
  }
  if (!spec.years.includes(layer.year)) {
    items.push(item(`${at}/year`, "not_allowed", `${spec.hazard} has no year ${layer.year}.`, spec.years));
  } else if ((layer.scenario === BASELINE.scenario) !== (layer.year === BASELINE.year)) {
    items.push(
      item(
        `${at}/year`,
        "combination_unavailable",
        `the baseline is the year ${BASELINE.year}, and ${BASELINE.year} is the baseline.`,
      ),
    );
  }
  const metrics = spec.metrics.map(({ metric }) => metric).filter((metric) => metric !== "total_hazard");
  if ((layer.metric === undefined) === (layer.return_period_years === undefined)) {
    items.push(item(at, "not_expected", "a layer states either its metric or its return_period_years."));
  } else if (layer.metric !== undefined && !metrics.some((metric) => metric === layer.metric)) {
    const why =
      layer.metric === "total_hazard"
        ? "total_hazard is made, never read."
        : `${spec.hazard} has no metric ${layer.metric}.`;
    items.push(item(`${at}/metric`, "not_allowed", why, metrics));
  } else if (layer.return_period_years !== undefined && spec.rules.curve === undefined) {
    items.push(
      item(
        `${at}/return_period_years`,
        "not_expected",
        `${spec.hazard} is not made from return-period maps; give its metrics.`,
        metrics,
      ),
    );
  }
  if (layer.return_period_years !== undefined && layer.saturate !== undefined) {
    items.push(item(`${at}/saturate`, "not_expected", "only a map of a metric can be saturated."));
  }
  if (layer.metric !== undefined && layer.model !== undefined) {
    items.push(
      item(
        `${at}/model`,
        "not_expected",
        "only return-period maps are averaged over models; name the model in definition.",
      ),
    );
  }
  return items;
}

function slotFaults(manifest: LayersManifest, spec: HazardSpec): readonly FaultItem[] {
  const items: FaultItem[] = [];
  const taken = new Map<string, number>();
  const kinds = new Map<string, { readonly index: number; readonly isCurve: boolean }>();
  manifest.layers.forEach((layer, index) => {
    const group = `${layer.scenario} ${layer.year}`;
    const isCurve = layer.return_period_years !== undefined;
    const key = `${group} ${isCurve ? `${layer.return_period_years} years ${layer.model ?? ""}` : layer.metric}`;
    const other = taken.get(key);
    if (other !== undefined)
      items.push(item(`/layers/${index}`, "duplicate", `stands for the same (${key.trim()}) as /layers/${other}.`));
    else taken.set(key, index);
    const first = kinds.get(group);
    if (first === undefined) kinds.set(group, { index, isCurve });
    else if (first.isCurve !== isCurve) {
      items.push(
        item(
          `/layers/${index}`,
          "not_expected",
          `${group} is given by return periods or by metrics, not both: see /layers/${first.index}.`,
        ),
      );
    }
  });
  for (const [group, { index, isCurve }] of kinds) {
    if (isCurve) continue;
    const own = manifest.layers.some(
      ({ scenario, year, metric }) => `${scenario} ${year}` === group && metric === spec.ownMetric,
    );
    if (!own)
      items.push(item(`/layers/${index}`, "missing", `${group} lacks ${spec.ownMetric}, the hazard's own metric.`));
  }
  return items;
}

/** Opens the files of a manifest, which are named relative to it, and orders them into what is to be written. */
export async function planLayers(
  manifest: LayersManifest,
  path: string,
  open: (file: string, options: RasterOptions) => Promise<Raster>,
  options: RasterOptions,
): Promise<HazardPlan> {
  const spec = HAZARDS[manifest.hazard];
  const rules: HazardRules = { ...spec.rules, ...definedOf(manifest.rules ?? {}) };
  const sourceOf = async (layer: ManifestLayer) => {
    const file =
      /^https?:\/\//.test(layer.file) || isAbsolute(layer.file) ? layer.file : join(dirname(path), layer.file);
    const nodata = [...(options.nodata ?? []), ...(layer.nodata === undefined ? [] : [layer.nodata])];
    const raster = await open(file, { ...options, nodata });
    const band = layer.band ?? 1;
    if (band > raster.bandCount) throw sourceFault(file, `has ${raster.bandCount} bands; there is no band ${band}.`);
    const metric = spec.metrics.find((known) => known.metric === (layer.metric ?? spec.ownMetric));
    if (metric === undefined) throw new Error(`${spec.hazard} has no metric ${layer.metric}.`);
    checkUnit(raster, { band, metric: metric.metric, unit: metric.unit, unitFactor: layer.unit_factor });
    return { raster, band, unitFactor: layer.unit_factor ?? 1 };
  };

  const groups: GroupPlan[] = [];
  for (const scenario of spec.scenarios) {
    for (const year of spec.years) {
      const layers = manifest.layers.filter((layer) => layer.scenario === scenario && layer.year === year);
      if (layers.length === 0) continue;
      const provenance = provenanceOf(manifest, layers);
      if (layers.some(({ metric }) => metric === undefined)) {
        const models = await curvesOf(layers, sourceOf);
        checkSamePeriods(models, `${manifest.hazard} ${scenario} ${year}`);
        groups.push({ scenario, year, provenance, content: { kind: "curves", models } });
        continue;
      }
      const metrics: Partial<Record<Exclude<MetricName, "total_hazard">, MetricSource>> = {};
      for (const layer of layers) {
        metrics[layer.metric as Exclude<MetricName, "total_hazard">] = {
          ...(await sourceOf(layer)),
          saturate: layer.saturate === true,
        };
      }
      groups.push({ scenario, year, provenance, content: { kind: "metrics", metrics } });
    }
  }
  return { hazard: manifest.hazard, rules, groups };
}

async function curvesOf(
  layers: readonly ManifestLayer[],
  sourceOf: (layer: ManifestLayer) => Promise<Omit<MetricSource, "saturate">>,
): Promise<readonly CurveSource[]> {
  const curves: CurveSource[] = [];
  for (const model of [...new Set(layers.map((layer) => layer.model ?? ""))].toSorted()) {
    const ascending = layers
      .filter((layer) => (layer.model ?? "") === model)
      .toSorted((a, b) => (a.return_period_years ?? 0) - (b.return_period_years ?? 0));
    const maps = [];
    for (const layer of ascending) {
      maps.push({ ...(await sourceOf(layer)), returnPeriodYears: layer.return_period_years ?? NaN });
    }
    curves.push({ model, maps });
  }
  return curves;
}

function provenanceOf({ source }: LayersManifest, layers: readonly ManifestLayer[]): Record<string, unknown> {
  const stated = (member: "proxy_of" | "definition"): Record<string, unknown> => {
    const words = [...new Set(layers.flatMap((layer) => layer[member] ?? []))];
    return words.length === 0 ? {} : { [member]: words.length === 1 ? words[0] : words };
  };
  return {
    recipe: "layers",
    product: source.name,
    ...definedOf({ version: source.version, credit: source.credit, url: source.url }),
    licence: source.licence,
    ...stated("proxy_of"),
    ...stated("definition"),
  };
}

function definedOf<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
