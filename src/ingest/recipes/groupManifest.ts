/** Manifests that list groups of maps in series, one group for each scenario and year: their schema, checks and files. */
import { type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { FaultItem } from "../../errors.ts";
import type { HazardSpec, Scenario } from "../../hazard/hazards.ts";
import {
  groupKeyErrors,
  type HasError,
  type ManifestSource,
  readManifestFile,
  scenarioYearErrors,
  sourceProvenance,
  throwManifestErrors,
} from "./manifestFile.ts";
import { CLOSED, SCHEMA_MEMBER, SeriesOptionsSchema, SourceSchema } from "./manifestSchemas.ts";
import { findSeries, type FoundSeries } from "./seriesFiles.ts";

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
  const checker = Compile(schema);
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
  return async (path) => (await readManifestFile(path, { checker, ruleErrors })) as Manifest;
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
