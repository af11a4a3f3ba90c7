import type { HazardName, MetricName, PlaceFileOptions, PlaceOptions, Scenario } from "../../contract/wireTypes.ts";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../../errors.ts";
import type { Atlas, AtlasHoldings } from "../../hazard/answer.ts";
import { HAZARDS, SCENARIOS } from "../../hazard/hazards.ts";
import type { ScoreGroup } from "../../hazard/scoring/scoreRequest.ts";
import { summarizeItems } from "../../validation/schemaErrors.ts";

/** What is computed for every place of a portfolio. */
export interface ScorePlan {
  /** At least one, hazard by hazard. */
  readonly groups: readonly ScoreGroup[];
  /** Aggregation over circles. */
  readonly method: "max" | "mean";
  /** Whether values are changes since the baseline. */
  readonly anthropogenic: boolean;
  /** Radius of all places; undefined if each place has its own. */
  readonly radiusKm: number | undefined;
  /** Requested combinations for which there is no group. */
  readonly omissions: readonly Omission[];
}

/** A requested combination that a hazard does not offer, or of which the atlas holds nothing. */
export interface Omission {
  readonly hazard: HazardName;
  readonly scenario?: Scenario;
  readonly analysis_year?: number;
  /** Why there is no group. */
  readonly detail: string;
}

/**
 * Determines the groups that the options select from an atlas. Without a list of scenarios or years, they are those that
 * the atlas holds, each stored scenario and year once; with both lists, all their combinations that the hazard offers, even
 * if the atlas does not hold them.
 *
 * @param options valid, see `parsePlaceOptions` and `parsePlaceFileOptions`
 * @throws Fault `combination_unavailable` with all values that no requested hazard offers, thresholds without curves, or if
 *   nothing is left to compute
 */
export function planScores(
  { holdings }: Pick<Atlas, "holdings">,
  options: PlaceOptions & Pick<PlaceFileOptions, "radius_column">,
): ScorePlan {
  const hazards = options.hazards ?? holdings.map(({ hazard }) => hazard);
  const items = [...offerErrors(hazards, options), ...thresholdErrors(holdings, hazards, options)];
  const omissions: Omission[] = [];
  const groups =
    items.length > 0 ? [] : hazards.flatMap((hazard) => groupsOf(hazard, { holdings, options, omissions }));
  if (items.length === 0 && groups.length === 0) items.push(nothingSelected(holdings, omissions));
  if (items.length > 0) {
    const first = items.slice(0, FAULT_ITEM_COUNT_MAX);
    throw new Fault("combination_unavailable", summarizeItems(first, "the options"), { items: first });
  }
  return {
    groups,
    method: options.aggregation_method ?? "max",
    anthropogenic: options.anthropogenic ?? false,
    radiusKm: options.radius_column === undefined ? (options.radius ?? 0) : undefined,
    omissions,
  };
}

/** Returns the errors of values that none of the hazards offers. */
function offerErrors(
  hazards: readonly HazardName[],
  { scenarios = [], analysis_years = [], metrics = [] }: PlaceOptions,
): readonly FaultItem[] {
  const specs = hazards.map((hazard) => HAZARDS[hazard]);
  const offered = {
    scenarios: SCENARIOS.filter((scenario) => specs.some((spec) => spec.scenarios.includes(scenario))),
    analysis_years: [...new Set(specs.flatMap(({ years }) => years))].toSorted((a, b) => a - b),
    metrics: [...new Set(specs.flatMap((spec) => spec.metrics.map(({ metric }) => metric)))],
  };
  const errorsOf = (
    name: keyof typeof offered,
    values: readonly (string | number)[],
    allowed: readonly (string | number)[],
  ): readonly FaultItem[] =>
    [...values.entries()]
      .filter(([, value]) => !allowed.includes(value))
      .map(([index, value]) => {
        const detail = `None of ${hazards.join(", ")} offers ${value}; ${name} must be of ${allowed.join(", ")}.`;
        return { pointer: `/${name}/${index}`, code: "combination_unavailable", detail, allowed };
      });
  return [
    ...errorsOf("scenarios", scenarios, offered.scenarios),
    ...errorsOf("analysis_years", analysis_years, offered.analysis_years),
    ...errorsOf("metrics", metrics, offered.metrics),
  ];
}

function thresholdErrors(
  holdings: readonly AtlasHoldings[],
  hazards: readonly HazardName[],
  { thresholds = {} }: PlaceOptions,
): readonly FaultItem[] {
  const withCurves = holdings
    .filter(({ layers }) => layers.some(({ curve_return_periods }) => curve_return_periods !== undefined))
    .map(({ hazard }) => hazard);
  return (Object.keys(thresholds) as HazardName[]).flatMap((hazard) => {
    if (thresholds[hazard] === undefined) return [];
    const location = { pointer: `/thresholds/${hazard}`, code: "combination_unavailable" } as const;
    if (!hazards.includes(hazard)) {
      return [
        { ...location, detail: `${hazard} has a threshold but is not scored; hazards are ${hazards.join(", ")}.` },
      ];
    }
    if (withCurves.includes(hazard)) return [];
    const offer =
      withCurves.length === 0
        ? "it has none of any hazard; curves are kept by ingesting return-period maps with --keep-curves"
        : `it has curves of ${withCurves.join(", ")}; curves are kept by ingesting return-period maps with --keep-curves`;
    const detail = `A threshold needs curves, and this atlas has no return-period curves of ${hazard}: ${offer}.`;
    return [{ ...location, detail, allowed: withCurves }];
  });
}

interface Selection {
  readonly holdings: readonly AtlasHoldings[];
  readonly options: PlaceOptions;
  /** Receives what is left out. */
  readonly omissions: Omission[];
}

function groupsOf(hazard: HazardName, selection: Selection): readonly ScoreGroup[] {
  const { options, omissions } = selection;
  const metrics = metricsOf(hazard, options);
  if (metrics.length === 0) {
    omissions.push({ hazard, detail: `${hazard} has none of the requested metrics.` });
    return [];
  }
  const threshold = options.thresholds?.[hazard];
  return layersOf(hazard, selection).map(({ scenario, analysisYear }) => ({
    hazard,
    scenario,
    analysisYear,
    metrics,
    ...(threshold === undefined ? {} : { threshold }),
  }));
}

/** Returns the requested metrics of a hazard, in its order. */
function metricsOf(hazard: HazardName, { metrics, total_hazard = false }: PlaceOptions): readonly MetricName[] {
  return HAZARDS[hazard].metrics
    .map(({ metric }) => metric)
    .filter((metric) =>
      metric === "total_hazard"
        ? total_hazard || metrics?.includes(metric) === true
        : (metrics?.includes(metric) ?? true),
    );
}

/** Returns the scenarios and years of a hazard's groups. */
function layersOf(hazard: HazardName, selection: Selection): readonly Pick<ScoreGroup, "scenario" | "analysisYear">[] {
  const { holdings, omissions } = selection;
  const { scenarios, analysis_years } = selection.options;
  const spec = HAZARDS[hazard];
  for (const scenario of scenarios ?? []) {
    if (spec.scenarios.includes(scenario)) continue;
    const detail = `${hazard} has no scenario ${scenario}; it offers ${spec.scenarios.join(", ")}.`;
    omissions.push({ hazard, scenario, detail });
  }
  for (const year of analysis_years ?? []) {
    if (spec.years.includes(year)) continue;
    const detail = `${hazard} has no analysis year ${year}; it offers ${spec.years.join(", ")}.`;
    omissions.push({ hazard, analysis_year: year, detail });
  }
  const offeredScenarios = scenarios?.filter((scenario) => spec.scenarios.includes(scenario));
  const offeredYears = analysis_years?.filter((year) => spec.years.includes(year));
  if (offeredScenarios !== undefined && offeredYears !== undefined) {
    return offeredScenarios.flatMap((scenario) => offeredYears.map((analysisYear) => ({ scenario, analysisYear })));
  }
  const held = (holdings.find((each) => each.hazard === hazard)?.layers ?? []).map((layer) => ({
    scenario: layer.scenario,
    analysisYear: layer.analysis_year,
  }));
  const addUnheld = (name: "scenario" | "analysis_year", value: Scenario | number, isHeld: boolean): void => {
    if (!isHeld) omissions.push({ hazard, [name]: value, detail: `The atlas holds no ${hazard} of ${value}.` });
  };
  if (offeredScenarios !== undefined) {
    return offeredScenarios.flatMap((scenario) => {
      const ofScenario = held.filter((layer) => layer.scenario === scenario);
      addUnheld("scenario", scenario, ofScenario.length > 0);
      return ofScenario;
    });
  }
  if (offeredYears === undefined) {
    if (held.length === 0) omissions.push({ hazard, detail: `The atlas holds no ${hazard}.` });
    return held;
  }
  for (const year of offeredYears)
    addUnheld(
      "analysis_year",
      year,
      held.some((layer) => layer.analysisYear === year),
    );
  return held.filter(({ analysisYear }) => offeredYears.includes(analysisYear));
}

function nothingSelected(holdings: readonly AtlasHoldings[], omissions: readonly Omission[]): FaultItem {
  const reasons = omissions.map(({ detail }) => ` ${detail}`).join("");
  const held = holdings.map(({ hazard }) => hazard).join(", ");
  const detail = `The options select nothing that the atlas can score; it holds ${held === "" ? "no hazard" : held}.${reasons}`;
  return { pointer: "", code: "combination_unavailable", detail };
}
