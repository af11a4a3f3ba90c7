/** The catalog of an atlas after an ingest, and the name of its release. */
import { createHash } from "node:crypto";
import {
  type Catalogue,
  FORMAT_VERSION,
  gridEntryOf,
  type GroupEntry,
  type HazardEntry,
  type PackEntry,
} from "../atlas/catalogue.ts";
import { HAZARD_NAMES } from "../hazard/hazards.ts";
import type { Target } from "./placement.ts";
import type { GroupTotals } from "./provenance.ts";

export interface WrittenPack {
  readonly target: Target;
  readonly pack: Pick<PackEntry, "id" | "files">;
  readonly groups: readonly GroupEntry[];
  readonly totals: readonly GroupTotals[];
}

/**
 * The day, and a hash of all that the atlas answers with: which cells each scenario and year of each hazard has, on which
 * grid, and how their steps are read.
 */
function releaseName(hazards: readonly HazardEntry[], createdAt: string): string {
  const content = hazards.map(({ hazard, grid, rules, packs }) => {
    const live = packs.flatMap(({ id, groups }) =>
      groups.flatMap(({ scenario, year, layers, superseded }, index) =>
        superseded === true ? [] : [JSON.stringify([scenario, year, id, index, layers])],
      ),
    );
    return [hazard, grid, rules, live.toSorted()];
  });
  const hash = createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 8);
  return `${createdAt.slice(0, 10).replaceAll("-", "")}-${hash}`;
}

export const keyOfGroup = (hazard: string, group: { readonly scenario: string; readonly year: number }): string =>
  `${hazard}/${group.scenario}/${group.year}`;

export function changedCatalogue(
  current: Catalogue | undefined,
  written: readonly WrittenPack[],
  { release, replaced }: { readonly release: string | undefined; readonly replaced: Set<string> },
): Omit<Catalogue, "sha256"> {
  let hazards: readonly HazardEntry[] = current?.hazards ?? [];
  for (const { target, pack, groups } of written) {
    const { hazard, rules } = target.plan;
    const existing = hazards.find((entry) => entry.hazard === hazard);
    const fresh = new Set(groups.map((group) => keyOfGroup(hazard, group)));
    // Groups keep their places in the packs they were written to: positions in the files count on it. Packs are
    // named by their cells alone, so that two scenarios with equal maps share files: an id may stand here twice.
    const older = (existing?.packs ?? [])
      .map((entry) => ({
        ...entry,
        groups: entry.groups.map((group) => {
          if (!fresh.has(keyOfGroup(hazard, group)) || group.superseded === true) return group;
          replaced.add(keyOfGroup(hazard, group));
          return { ...group, superseded: true };
        }),
      }))
      .filter((entry) => entry.groups.some((group) => group.superseded !== true));
    const entry: HazardEntry = {
      hazard,
      grid: existing?.grid ?? gridEntryOf(target.grid),
      rules: { ...rules },
      packs: [...older, { ...pack, groups: [...groups] }],
    };
    hazards = [...hazards.filter((other) => other.hazard !== hazard), entry];
  }
  const order = (hazard: string): number => (HAZARD_NAMES as readonly string[]).indexOf(hazard);
  const ordered = hazards.toSorted((a, b) => order(a.hazard) - order(b.hazard));
  const createdAt = new Date().toISOString();
  return {
    format: "isotherm-atlas",
    format_version: FORMAT_VERSION,
    release: release ?? releaseName(ordered, createdAt),
    created_at: createdAt,
    synthetic: false,
    hazards: ordered,
  };
}
