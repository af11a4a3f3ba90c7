/**
 * Adds layers for years and scenarios that the sources lack, on request: years between two epochs, with interpolated curves,
 * and scenarios for which another one is declared as a proxy. The provenance of each layer states how it was made.
 */
import { isDeepStrictEqual } from "node:util";
import { Fault, FAULT_ITEM_COUNT_MAX, type FaultItem } from "../errors.ts";
import { BASELINE, type HazardName, HAZARDS, type Scenario } from "../hazard/hazards.ts";
import { interpolatedCurve } from "./derivedRasters.ts";
import type { IngestOptions } from "./options.ts";
import type { CurveSource, GroupPlan, HazardPlan } from "./plan.ts";
import type { Raster } from "./raster.ts";

type LayerRequests = Pick<IngestOptions, "interpolateYears" | "interpolateFromBaseline" | "proxyScenario">;

/**
 * Returns plans with the requested layers added. Layers that the sources have are never replaced.
 * @throws Fault `invalid_request` with one item for each request that cannot be met or has no effect
 */
export function withRequestedLayers(plans: readonly HazardPlan[], requests: LayerRequests): readonly HazardPlan[] {
  const items: FaultItem[] = [];
  const isAdded = new Set<string>();
  const added = plans.map((plan) => {
    const interpolated = addYears(plan, requests, { items, isAdded });
    return addProxies(interpolated, requests, { items, isAdded });
  });
  for (const [index, year] of (requests.interpolateYears ?? []).entries()) {
    if (isAdded.has(String(year)) || items.some(({ pointer }) => pointer === `/interpolateYears/${index}`)) continue;
    const detail = `--interpolate-years ${year} (interpolateYears) has no effect: no scenario of the sources lacks that year.`;
    items.push({ pointer: `/interpolateYears/${index}`, code: "not_expected", detail });
  }
  if (requests.interpolateFromBaseline === true && (requests.interpolateYears ?? []).length === 0) {
    const detail = "--interpolate-from-baseline (interpolateFromBaseline) has no effect without --interpolate-years.";
    items.push({ pointer: "/interpolateFromBaseline", code: "not_expected", detail });
  }
  const [first] = items;
  if (first === undefined) return added;
  const message = items.length === 1 ? (first.detail ?? "") : `${items.length} requested layers cannot be made.`;
  throw new Fault("invalid_request", message, { items: items.slice(0, FAULT_ITEM_COUNT_MAX) });
}

/** Where errors, and the years and scenarios that were added, are collected. */
interface Collected {
  readonly items: FaultItem[];
  readonly isAdded: Set<string>;
}

/** A group and the year that its maps are for. */
interface Epoch {
  readonly group: GroupPlan;
  readonly year: number;
}

function addYears(
  plan: HazardPlan,
  { interpolateYears = [], interpolateFromBaseline = false }: LayerRequests,
  { items, isAdded }: Collected,
): HazardPlan {
  const { hazard, groups } = plan;
  const scenarios = HAZARDS[hazard].scenarios.filter((scenario) => scenario !== BASELINE.scenario);
  const added: GroupPlan[] = [];
  for (const [index, year] of interpolateYears.entries()) {
    const reject = (code: FaultItem["code"], detail: string): void =>
      void items.push({ pointer: `/interpolateYears/${index}`, code, detail });
    if (!HAZARDS[hazard].years.includes(year) || year === BASELINE.year) {
      const accepted = HAZARDS[hazard].years.filter((other) => other !== BASELINE.year).join(", ");
      reject("not_allowed", `${hazard} has no year ${year} to interpolate; its years are ${accepted}.`);
      continue;
    }
    for (const scenario of scenarios) {
      const ofScenario = groups.filter((group) => group.scenario === scenario);
      if (ofScenario.length === 0 || ofScenario.some((group) => group.year === year)) continue;
      const baseline = interpolateFromBaseline ? groups.filter((group) => group.scenario === BASELINE.scenario) : [];
      const epochs = [...baseline, ...ofScenario]
        .map((group): Epoch => ({ group, year: group.epochYear ?? group.year }))
        .toSorted((a, b) => a.year - b.year);
      const earlier = epochs.findLast((epoch) => epoch.year < year);
      const later = epochs.find((epoch) => epoch.year > year);
      if (earlier === undefined || later === undefined) {
        const years = epochs.map((epoch) => epoch.year).join(", ");
        const hint = interpolateFromBaseline ? "" : " --interpolate-from-baseline also uses the baseline.";
        reject(
          "combination_unavailable",
          `${hazard} ${scenario} ${year} is not between two years with maps (${years}), and nothing is extrapolated.${hint}`,
        );
        continue;
      }
      const outcome = interpolatedGroup(hazard, { earlier, later }, year);
      if (typeof outcome === "string") reject("combination_unavailable", outcome);
      else {
        added.push(outcome);
        isAdded.add(String(year));
      }
    }
  }
  return added.length === 0 ? plan : { ...plan, groups: sorted(hazard, [...groups, ...added]) };
}

/** Returns a group between two epochs, or why there is none. */
function interpolatedGroup(
  hazard: HazardName,
  { earlier, later }: { readonly earlier: Epoch; readonly later: Epoch },
  year: number,
): GroupPlan | string {
  const [before, after] = [earlier.group, later.group];
  const name = `${hazard} ${after.scenario} ${year}`;
  if (before.content.kind !== "curves" || after.content.kind !== "curves")
    return `${name} cannot be interpolated: only curves of return-period maps are, not maps of metrics.`;
  const weight = (year - earlier.year) / (later.year - earlier.year);
  const isFromBaseline = before.scenario === BASELINE.scenario;
  const models: CurveSource[] = [];
  for (const { model, maps } of after.content.models) {
    const [only, ...others] = before.content.models;
    // The present climate usually has one curve, which is the start for every climate model.
    const start =
      isFromBaseline && others.length === 0 ? only : before.content.models.find((other) => other.model === model);
    if (start === undefined)
      return `${name} cannot be interpolated: ${before.scenario} ${before.year} has no maps of the model ${model}.`;
    const periodsOf = (curve: CurveSource): string =>
      curve.maps.map(({ returnPeriodYears }) => returnPeriodYears).join(", ");
    if (periodsOf(start) !== maps.map(({ returnPeriodYears }) => returnPeriodYears).join(", "))
      return (
        `${name} cannot be interpolated: the return periods of ${before.scenario} ${before.year} (${periodsOf(start)}) ` +
        `differ from those of ${after.scenario} ${after.year} (${periodsOf({ model, maps })}).`
      );
    const rasters = interpolatedCurve(start.maps, maps, weight);
    models.push({
      model,
      maps: maps.map(({ returnPeriodYears }, index) => ({
        raster: rasters[index] as Raster,
        band: 1,
        unitFactor: 1,
        returnPeriodYears,
      })),
    });
  }
  return {
    scenario: after.scenario,
    year,
    content: { kind: "curves", models },
    provenance: {
      ...provenanceBetween(before, after),
      interpolated: [earlier.year, later.year],
      ...(isFromBaseline ? { interpolated_from_baseline: true } : {}),
    },
  };
}

/** Members of a provenance about the years that maps are for, which are not those of an interpolated layer. */
const YEAR_MEMBERS: ReadonlySet<string> = new Set([
  "sea_level_year",
  "period",
  "baseline_window",
  "baseline_window_note",
]);

/**
 * Returns the provenance of a layer between two epochs: that of the later epoch, and where the two differ, the members of each in
 * `interpolated_epochs`.
 */
function provenanceBetween(before: GroupPlan, after: GroupPlan): Readonly<Record<string, unknown>> {
  const names = new Set([before, after].flatMap(({ provenance }) => Object.keys(provenance)));
  const differing = [...names].filter((name) => !isDeepStrictEqual(before.provenance[name], after.provenance[name]));
  if (differing.length === 0) return after.provenance;
  const isKept = (name: string): boolean => !(differing.includes(name) && YEAR_MEMBERS.has(name));
  const epochs = [before, after].map(({ scenario, year, provenance }) => ({
    scenario,
    year,
    ...Object.fromEntries(Object.entries(provenance).filter(([name]) => differing.includes(name))),
  }));
  return {
    ...Object.fromEntries(Object.entries(after.provenance).filter(([name]) => isKept(name))),
    interpolated_epochs: epochs,
  };
}

function addProxies(plan: HazardPlan, { proxyScenario = {} }: LayerRequests, { items }: Collected): HazardPlan {
  const { hazard } = plan;
  const { scenarios } = HAZARDS[hazard];
  const added: GroupPlan[] = [];
  for (const [ours, theirs] of Object.entries(proxyScenario)) {
    const reject = (code: FaultItem["code"], why: string): void =>
      void items.push({ pointer: `/proxyScenario/${ours}`, code, detail: `${ours}=${theirs}: ${why}` });
    const scenario = scenarios.find((known) => known === ours && known !== BASELINE.scenario);
    if (scenario === undefined) {
      const accepted = scenarios.filter((known) => known !== BASELINE.scenario).join(", ");
      reject("not_allowed", `${hazard} has no scenario ${ours} that may have a proxy; accepted are ${accepted}.`);
      continue;
    }
    const proxies = plan.groups.filter((group) => group.scenario === theirs && theirs !== BASELINE.scenario);
    const existing = plan.groups.find((group) => group.scenario === scenario);
    if (proxies.length === 0) reject("combination_unavailable", `the sources have no maps of ${hazard} for ${theirs}.`);
    else if (existing !== undefined) reject("not_expected", `the sources have maps of ${hazard} for ${ours}.`);
    else added.push(...proxies.map((group) => proxyOf(group, scenario)));
  }
  return added.length === 0 ? plan : { ...plan, groups: sorted(hazard, [...plan.groups, ...added]) };
}

function proxyOf(group: GroupPlan, scenario: Scenario): GroupPlan {
  const { proxy_of: before } = group.provenance;
  const chain = before === undefined ? group.scenario : [group.scenario, ...[before].flat()];
  return { ...group, scenario, provenance: { ...group.provenance, proxy_of: chain } };
}

/** Sorts groups by scenario and year, as recipes do. */
function sorted(hazard: HazardName, groups: readonly GroupPlan[]): readonly GroupPlan[] {
  const { scenarios } = HAZARDS[hazard];
  return groups.toSorted((a, b) => scenarios.indexOf(a.scenario) - scenarios.indexOf(b.scenario) || a.year - b.year);
}
