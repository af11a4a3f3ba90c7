/**
 * Manifests that list groups of maps in series, one group for each scenario and year. Every band of a file, or every position
 * along one dimension, is one map of a series.
 */
import type { FaultItem } from "../../errors.ts";
import { type BandRun, type ComputedMethod, metricsOfMethod } from "../computedMethod.ts";
import type { MetricSource } from "../plan.ts";
import { computedRasterOf } from "../computed/computedRaster.ts";
import type { DimensionChoice, Raster, RasterOptions } from "../raster.ts";
import { checkUnit } from "../units.ts";
import type { HazardSpec, MetricSpec, Scenario } from "../../hazard/hazards.ts";
import {
  filesOfLayer,
  groupKeyErrors,
  type HasError,
  type ManifestSource,
  readManifestFile,
  scenarioYearErrors,
  sourceProvenance,
  throwManifestErrors,
} from "./manifestFile.ts";
import type { MapOpener } from "./recipe.ts";
import { type TSchema, Type } from "typebox";
import { CLOSED, SCHEMA_MEMBER, SeriesOptionsSchema, SourceSchema } from "./manifestSchemas.ts";

/** A series as a manifest describes it. */
interface SeriesMember {
  readonly files: string | readonly string[];
  readonly variable?: string;
  readonly select?: Readonly<Record<string, DimensionChoice>>;
  readonly nodata?: number;
  readonly crs?: string;
}

/** The files of a series, found but not opened. */
export interface FoundSeries {
  readonly series: SeriesMember;
  readonly files: readonly string[];
}

/** Finds the files of a series. @param at the path of the manifest, and the JSON pointer of the series */
async function findSeries(
  series: SeriesMember,
  at: { readonly manifest: string; readonly pointer: string },
): Promise<FoundSeries & { readonly items: readonly FaultItem[] }> {
  return { series, ...(await filesOfLayer(at.manifest, series.files, `${at.pointer}/files`)) };
}

/** What the values of a series are, to be compared with the unit that the files declare. */
interface SeriesQuantity {
  readonly metric: string;
  readonly unit: MetricSpec["unit"];
  readonly unitFactor: number | undefined;
}

/** Opens the files of a series; of none if the series is undefined. */
export async function openSeries(
  maps: Pick<MapOpener, "open">,
  found: FoundSeries | undefined,
  { options, quantity }: { readonly options: RasterOptions; readonly quantity: SeriesQuantity },
): Promise<readonly Raster[]> {
  if (found === undefined) return [];
  const { series, files } = found;
  const { variable, select, crs } = series;
  const nodata = [...(options.nodata ?? []), ...(series.nodata === undefined ? [] : [series.nodata])];
  const parts: Raster[] = [];
  for (const file of files) {
    const part = await maps.open(file, {
      ...options,
      nodata,
      dimensionAsBands: true,
      ...(variable === undefined ? {} : { variable }),
      ...(select === undefined ? {} : { select }),
      ...(crs === undefined ? {} : { crs }),
    });
    checkUnit(part, { band: 1, ...quantity });
    parts.push(part);
  }
  return parts;
}

/** One map of a series. `date` is YYYY-MM-DD if the file states it. */
export interface SeriesMap {
  /** Index of the file. */
  readonly part: number;
  /** From 1. */
  readonly band: number;
  readonly date: string | undefined;
}

/** Lists the maps of a series in the order of files and bands. */
export function mapsOfSeries(parts: readonly Raster[]): readonly SeriesMap[] {
  return parts.flatMap(({ bands, bandDimension }, part) =>
    bands.map(({ coordinates }, index) => ({
      part,
      band: index + 1,
      date: dateOf(bandDimension === undefined ? undefined : coordinates[bandDimension]),
    })),
  );
}

function dateOf(coordinate: number | string | undefined): string | undefined {
  return typeof coordinate === "string" && /^\d{4}-\d\d-\d\dT/.test(coordinate) ? coordinate.slice(0, 10) : undefined;
}

/** Joins consecutive bands of a file into runs. @param firstPart added to the indexes of files */
export function runsOf(maps: readonly SeriesMap[], firstPart = 0): readonly BandRun[] {
  const runs: { part: number; firstBand: number; bandCount: number }[] = [];
  for (const { part, band } of maps) {
    const last = runs.at(-1);
    if (last?.part === part + firstPart && last.firstBand + last.bandCount === band) last.bandCount++;
    else runs.push({ part: part + firstPart, firstBand: band, bandCount: 1 });
  }
  return runs;
}

/** Returns the metrics of a method as the content of a group. */
export function computedMetrics(
  parts: readonly Raster[],
  method: ComputedMethod,
): { readonly kind: "metrics"; readonly metrics: Readonly<Record<string, MetricSource>> } {
  const raster = computedRasterOf(parts, method);
  const metrics = metricsOfMethod(method).map(({ metric }, index) => [
    metric,
    { raster, band: index + 1, unitFactor: 1, saturate: false },
  ]);
  return { kind: "metrics", metrics: Object.fromEntries(metrics) as Record<string, MetricSource> };
}

/** Returns the schema of a manifest with groups. */
export function groupManifestSchema<Rules extends TSchema, Group extends TSchema>(rules: Rules, group: Group) {
  return Type.Object(
    {
      ...SCHEMA_MEMBER,
      source: SourceSchema,
      rules: Type.Optional(rules),
      options: Type.Optional(SeriesOptionsSchema),
      groups: Type.Array(group, { minItems: 1 }),
    },
    CLOSED,
  );
}

/** A group, as far as all manifests with groups have it. */
interface ManifestGroup {
  readonly scenario: Scenario;
  readonly year: number;
  readonly proxy_of?: string;
}

/** A manifest with groups, as far as all of them are equal. */
interface GroupManifest {
  readonly groups: readonly ManifestGroup[];
}

/** A group of a manifest that is being checked. */
export interface GroupPlace<Manifest> {
  readonly manifest: Manifest;
  /** JSON pointer of the group. */
  readonly pointer: string;
  readonly hasError: HasError;
}

/** What a recipe checks in each group besides the schema. */
interface GroupChecks<Manifest extends GroupManifest> {
  readonly spec: HazardSpec;
  /** Returns the errors of a group. Members for which `hasError` is true may have other types than declared. */
  errorsOf(group: Manifest["groups"][number], place: GroupPlace<Manifest>): Iterable<FaultItem>;
}

/**
 * Returns the function that reads a manifest and checks everything that can be checked without opening a map. It throws a Fault
 * `invalid_request` with one item for each error, each with its JSON pointer.
 */
export function groupManifestReader<Manifest extends GroupManifest>(
  schema: TSchema,
  { spec, errorsOf }: GroupChecks<Manifest>,
): (path: string) => Promise<Manifest> {
  const ruleErrors = (value: unknown, hasError: HasError): readonly FaultItem[] => {
    const manifest = value as Manifest;
    const groups: readonly Manifest["groups"][number][] = manifest.groups;
    if (!Array.isArray(groups)) return [];
    const items: FaultItem[] = [...groupKeyErrors(groups, hasError)];
    for (const [index, group] of groups.entries()) {
      const pointer = `/groups/${index}`;
      if (typeof group !== "object" || group === null) continue;
      items.push(...scenarioYearErrors(spec, group, { pointer, hasError }));
      items.push(...errorsOf(group, { manifest, pointer, hasError }));
    }
    return items;
  };
  return async (path) => (await readManifestFile(path, { schema, ruleErrors })) as Manifest;
}

/** A group with the files of its series, by name of the series. */
export interface FoundGroup<Group, Name extends string> {
  readonly group: Group;
  /** JSON pointer of the group. */
  readonly pointer: string;
  readonly series: Readonly<Partial<Record<Name, FoundSeries>>>;
}

/**
 * Finds the files of the series of each group.
 *
 * @param seriesOf returns the series of a group by their JSON pointers in the group, without the first slash: `annual/maximum`
 * @throws Fault `invalid_request` with one item for each path or pattern without a file
 */
export async function findGroupSeries<Group, Name extends string>(
  manifest: string,
  groups: readonly Group[],
  seriesOf: (group: Group) => Readonly<Record<Name, FoundSeries["series"] | undefined>>,
): Promise<readonly FoundGroup<Group, Name>[]> {
  const items: FaultItem[] = [];
  const found: FoundGroup<Group, Name>[] = [];
  for (const [index, group] of groups.entries()) {
    const pointer = `/groups/${index}`;
    const series: Partial<Record<Name, FoundSeries>> = {};
    for (const [name, member] of Object.entries(seriesOf(group)) as [Name, FoundSeries["series"] | undefined][]) {
      if (member === undefined) continue;
      const { items: errors, ...files } = await findSeries(member, { manifest, pointer: `${pointer}/${name}` });
      items.push(...errors);
      series[name] = files;
    }
    found.push({ group, pointer, series });
  }
  throwManifestErrors(manifest, items);
  return found;
}

/** Returns what a manifest states about the product of a group. */
export function statedProvenance(
  recipe: string,
  source: ManifestSource,
  { proxy_of: proxyOf }: Pick<ManifestGroup, "proxy_of">,
): Readonly<Record<string, unknown>> {
  return { ...sourceProvenance(recipe, source), ...(proxyOf === undefined ? {} : { proxy_of: proxyOf }) };
}
