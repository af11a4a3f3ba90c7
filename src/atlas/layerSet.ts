import type { FieldLayer } from "./cachedField.ts";
import type { GroupEntry } from "./catalog.ts";
import type { AtlasHazard, CellSource } from "./cellSource.ts";
import type { FoundField } from "./fields.ts";

/** A group of a hazard: the metrics of one (scenario, year), or another kind in a supplement. */
export interface SampledGroup {
  readonly entry: GroupEntry;
  readonly source: CellSource;
  /** Index in the source's groups. */
  readonly group: number;
}

/** A hazard whose groups can be looked up and sampled. */
export interface SampledHazard extends Pick<AtlasHazard, "hazard" | "grid" | "rules"> {
  /** Returns a group, or undefined if the hazard has no such group. */
  group(scenario: string, year: number): SampledGroup | undefined;
  /** Returns all groups of a (scenario, year); a supplement has one or more of each kind. */
  groups(scenario: string, year: number): readonly SampledGroup[];
  /** Returns every group. */
  allGroups(): readonly SampledGroup[];
  /** Returns every layer of every group. */
  allLayers(): readonly FieldLayer[];
}

/** Layers of one hazard that are sampled together. */
export interface LayerSet extends FoundField {
  readonly hazard: SampledHazard;
}

/** Returns the hazards of an atlas by name. Superseded groups are omitted. */
export function sampledHazards(hazards: readonly AtlasHazard[]): ReadonlyMap<string, SampledHazard> {
  const byName = new Map<string, SampledHazard>();
  for (const { hazard, grid, rules, sources } of hazards) {
    const groups = new Map<string, SampledGroup[]>();
    for (const source of sources) {
      for (const [group, entry] of source.groups.entries()) {
        if (entry.superseded === true) continue;
        const key = `${entry.scenario}/${entry.year}`;
        const ofYear = groups.get(key) ?? [];
        groups.set(key, ofYear);
        ofYear.push({ entry, source, group });
      }
    }
    byName.set(hazard, {
      hazard,
      grid,
      rules,
      group: (scenario, year) => groups.get(`${scenario}/${year}`)?.at(-1),
      groups: (scenario, year) => groups.get(`${scenario}/${year}`) ?? [],
      allGroups: () => [...groups.values()].flat(),
      allLayers: () =>
        [...groups.values()]
          .flat()
          .flatMap(({ source, group, entry: { layers } }) =>
            layers.map((entry, layer) => ({ source, group, layer, entry })),
          ),
    });
  }
  return byName;
}
