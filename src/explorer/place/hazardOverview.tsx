import { useSignal } from "@preact/signals";
import type {
  CatalogHazard,
  HazardQueryInput,
  HazardResult,
  RefusedQuery,
  Scenario,
} from "../../contract/wireTypes.ts";
import { useExplorer } from "../context.ts";
import { hazardTitle, metricTitle, scenarioTitle } from "../format.ts";
import { FailureNotice } from "../failureNotice.tsx";
import { answerOf, BASELINE_YEAR, metricValue, type PlaceChoice, placeQuery, valueText } from "./placeQuery.ts";
import { useAnswer } from "../useDelayedRequest.ts";

type Results = readonly (HazardResult | RefusedQuery)[];

/** All hazards at a place, for one scenario and year. They are requested when the section is opened. */
export function HazardOverview({ choice }: { readonly choice: PlaceChoice }) {
  const isOpen = useSignal(false);
  return (
    <details class="panel-part" onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>All hazards at this place</summary>
      {isOpen.value ? <Overview choice={choice} /> : null}
    </details>
  );
}

function Overview({ choice }: { readonly choice: PlaceChoice }) {
  const { catalog, data, map, state } = useExplorer();
  const [scenario, year] = [state.scenario.value, state.year.value];
  const hazards = catalog.hazards;
  const queried = hazards.filter((hazard) => offers(hazard, scenario, year));
  const queries = queried.map((hazard) => overviewQuery(hazard, choice, scenario, year));
  const loaded = useAnswer<readonly HazardQueryInput[], Results>(
    queries.length === 0 ? undefined : queries,
    (wanted, signal) => data.hazardRiskBatch(wanted, signal),
  );
  if (loaded.kind === "failed") return <FailureNotice error={loaded.error} onRetry={loaded.retry} />;
  if (loaded.kind === "loading") return <p role="status">Loading all hazards</p>;
  const results = loaded.kind === "answered" ? loaded.answer : [];
  return (
    <div class="table-frame" role="region" aria-label="Table of all hazards" tabIndex={0}>
      <table class="values">
        <caption>
          {scenarioTitle(scenario)} {scenario === "baseline" ? BASELINE_YEAR : year}
          {choice.anthropogenic ? `, change since ${BASELINE_YEAR}` : ""}
        </caption>
        <tbody>
          {hazards.map((hazard) => {
            const result = results[queried.indexOf(hazard)];
            return (
              <tr key={hazard.hazard}>
                <th scope="row">
                  <button
                    type="button"
                    class="link"
                    aria-current={state.hazard.value === hazard.hazard}
                    onClick={() => map.choose({ hazard: hazard.hazard })}
                  >
                    {hazardTitle(hazard.hazard)}
                  </button>
                </th>
                <td>
                  {queried.includes(hazard) ? (
                    <HazardValues hazard={hazard} result={result} scenario={scenario} year={year} choice={choice} />
                  ) : (
                    <span class="no-value">not offered for this scenario and year</span>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface HazardValuesProps {
  readonly hazard: CatalogHazard;
  readonly result: HazardResult | RefusedQuery | undefined;
  readonly scenario: Scenario;
  readonly year: number;
  readonly choice: PlaceChoice;
}

function HazardValues({ hazard, result, scenario, year, choice }: HazardValuesProps) {
  if (result === undefined) return <span class="no-value">no answer</span>;
  if ("error" in result) return <span class="no-value">{result.error.detail}</span>;
  const answer = answerOf(result, scenario, year);
  if (answer === undefined) return <span class="no-value">no answer</span>;
  const values = hazard.metrics
    .filter(({ metric }) => metric in answer.metrics)
    .map(({ metric }) => ({ metric, text: valueText(metric, metricValue(answer, metric), choice.anthropogenic) }));
  const texts = new Set(values.map(({ text }) => text));
  const areAllNull = values.every(({ metric }) => answer.metrics[metric] === null);
  // One reason for all metrics is said once.
  if (areAllNull && texts.size === 1) return <span class="no-value">{[...texts][0]}</span>;
  return (
    <>
      {values.map(({ metric, text }) => (
        <div key={metric}>
          {metricTitle(metric)}: {text}
        </div>
      ))}
    </>
  );
}

function offers({ scenarios, analysis_years }: CatalogHazard, scenario: Scenario, year: number): boolean {
  return scenarios.includes(scenario) && (scenario === "baseline" || analysis_years.includes(year));
}

/** Returns the query for one scenario and year. */
function overviewQuery(hazard: CatalogHazard, choice: PlaceChoice, scenario: Scenario, year: number): HazardQueryInput {
  const query = placeQuery(hazard, choice);
  return scenario === "baseline"
    ? { ...query, analysis_years: [BASELINE_YEAR], scenarios: query.scenarios.slice(0, 1) }
    : { ...query, analysis_years: [year], scenarios: [scenario] };
}
