import { useSignal } from "@preact/signals";
import type { TargetedEvent } from "preact";
import { useEffect, useId } from "preact/hooks";
import type { CatalogHazard, CurveQueryInput, CurveResult, MetricName } from "../../contract/wireTypes.ts";
import { useExplorer } from "../context.ts";
import { formatMetricNumber, formatMetricTick, metricTitle, metricUnit } from "../format.ts";
import { returnPeriodOf } from "../map/layerChoice.ts";
import { FailureNotice } from "../failureNotice.tsx";
import {
  curveMetric,
  curveQuery,
  curveValueText,
  exceedanceText,
  keepsCurves,
  namedCurves,
  periodText,
  returnPeriodsOf,
  valueAt,
} from "./curveTable.ts";
import { LineChart } from "./lineChart.tsx";
import { SCENARIO_COLORS } from "./metricSection.tsx";
import { BASELINE_YEAR, type PlaceChoice } from "./placeQuery.ts";
import { SnippetSection } from "./snippetSection.tsx";
import { useAnswer } from "../useDelayedRequest.ts";

const THRESHOLD_ERROR = "The threshold must be a number above 0.";

interface CurveSectionProps {
  readonly hazard: CatalogHazard;
  readonly choice: PlaceChoice;
}

/**
 * The return-period curves of a place. They are requested when the section is opened: by the user, or because the map shows
 * the values of a return period.
 */
export function CurveSection({ hazard, choice }: CurveSectionProps) {
  const isOnMap = returnPeriodOf(useExplorer().state.metric.value) !== undefined;
  const isOpen = useSignal(isOnMap);
  useEffect(() => {
    if (isOnMap) isOpen.value = true;
  }, [isOnMap]);
  if (!keepsCurves(hazard)) {
    return <p class="note">This atlas keeps no return-period curves of this hazard.</p>;
  }
  return (
    <details
      class="panel-part"
      open={isOpen.value}
      onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}
    >
      <summary>Return-period curve</summary>
      {isOpen.value ? <Curves hazard={hazard} choice={choice} /> : null}
    </details>
  );
}

function Curves({ hazard, choice }: CurveSectionProps) {
  const { data, state } = useExplorer();
  const id = useId();
  const years = hazard.analysis_years.filter((year) => year !== BASELINE_YEAR);
  const year = useSignal(years.includes(state.year.peek()) ? state.year.peek() : (years[0] ?? BASELINE_YEAR));
  useEffect(() => {
    // The year of the map, until the user chooses another one here.
    if (years.includes(state.year.value)) year.value = state.year.value;
  }, [state.year.value]);
  const threshold = useSignal<number | undefined>(undefined);
  /** What the user has typed. It is kept while it is no valid threshold, such as the "0" of "0.5". */
  const thresholdText = useSignal("");
  const thresholdError = useSignal("");
  const checkThreshold = ({ currentTarget }: TargetedEvent<HTMLInputElement>): void => {
    const { value, valueAsNumber, validity } = currentTarget;
    const isEmpty = value === "" && !validity.badInput;
    thresholdError.value = isEmpty || valueAsNumber > 0 ? "" : THRESHOLD_ERROR;
  };
  const metric = curveMetric(hazard);
  const shownYear = years.includes(year.value) ? year.value : (years[0] ?? BASELINE_YEAR);
  const query = curveQuery(hazard, choice, { year: shownYear, threshold: threshold.value });
  const loaded = useAnswer<CurveQueryInput, CurveResult>(query, (wanted, signal) => data.curve(wanted, signal));
  return (
    <>
      <div class="curve-controls">
        <label for={`${id}-year`}>Year</label>
        <select
          id={`${id}-year`}
          value={shownYear}
          onChange={({ currentTarget }) => (year.value = Number(currentTarget.value))}
        >
          {years.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
        <label for={`${id}-threshold`}>Threshold ({metricUnit(metric)})</label>
        <input
          id={`${id}-threshold`}
          type="number"
          min={0}
          step="any"
          inputMode="decimal"
          placeholder="none"
          value={thresholdText.value}
          aria-describedby={`${id}-error`}
          onInput={({ currentTarget: { value, valueAsNumber } }) => {
            thresholdText.value = value;
            threshold.value = valueAsNumber > 0 ? valueAsNumber : undefined;
            // "0" may become "0.5".
            thresholdError.value = valueAsNumber < 0 ? THRESHOLD_ERROR : "";
          }}
          onChange={checkThreshold}
          onBlur={checkThreshold}
        />
      </div>
      <p id={`${id}-error`} role={thresholdError.value === "" ? undefined : "alert"}>
        {thresholdError.value}
      </p>
      {loaded.kind === "failed" ? <FailureNotice error={loaded.error} onRetry={loaded.retry} /> : null}
      {loaded.kind === "loading" ? <p role="status">Loading the curves</p> : null}
      {loaded.kind === "answered" ? (
        <CurveAnswer
          result={loaded.answer}
          metric={metric}
          threshold={loaded.query.threshold}
          shownPeriod={returnPeriodOf(state.metric.value)}
        />
      ) : null}
      {loaded.kind === "answered" ? <SnippetSection call={{ method: "curve", query }} answer={loaded.answer} /> : null}
    </>
  );
}

interface CurveAnswerProps {
  readonly result: CurveResult;
  readonly metric: MetricName;
  readonly threshold: number | undefined;
  /** Return period of the layer on the map, years; undefined if the map shows another metric. */
  readonly shownPeriod: number | undefined;
}

function CurveAnswer({ result, metric, threshold, shownPeriod }: CurveAnswerProps) {
  const curves = namedCurves(result);
  const periods = returnPeriodsOf(curves);
  const caveats = new Set(curves.flatMap(({ result }) => result.detail?.caveats ?? []));
  return (
    <>
      {periods.length === 0 ? null : (
        <LineChart
          x={periods}
          isLogX
          formatX={periodText}
          formatY={(value) => formatMetricTick(metric, value)}
          markedY={threshold}
          lines={curves
            .filter((curve) => curve.result.curve !== null)
            .map((curve) => ({
              title: curve.title,
              color: SCENARIO_COLORS[curve.scenario],
              isDashed: curve.scenario === "baseline",
              values: periods.map((period) => valueAt(curve, period)),
            }))}
        />
      )}
      {threshold === undefined ? null : (
        <dl class="exceedances" aria-live="polite">
          {curves.map((curve) => (
            <div key={curve.title}>
              <dt>
                {curve.title}: {formatMetricNumber(metric, threshold)} {metricUnit(metric)} or more
              </dt>
              <dd>
                {curve.result.curve === null
                  ? curveValueText(curve, 0, metric)
                  : exceedanceText(curve.result.exceedance)}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <div class="table-frame" role="region" aria-label="Table of return periods" tabIndex={0}>
        <table class="values">
          <caption class="visually-hidden">
            {metricTitle(metric)} by return period, {metricUnit(metric)}
          </caption>
          <thead>
            <tr>
              <th scope="col">Years</th>
              {curves.map(({ title }) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(periods.length === 0 ? [0] : periods).map((period) => (
              <tr key={period} class={period === shownPeriod ? "on-map" : undefined}>
                <th scope="row">
                  {period === 0 ? "" : periodText(period)}
                  {period === shownPeriod ? <span class="note"> on the map</span> : null}
                </th>
                {curves.map((curve) => (
                  <td key={curve.title}>{curveValueText(curve, period, metric)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="note">
        Value that is reached or exceeded once in the given number of years on average. Values are not extrapolated
        beyond the return periods of the maps.
      </p>
      {[...caveats].map((caveat) => (
        <p key={caveat} class="note">
          {caveat}
        </p>
      ))}
    </>
  );
}
