import { useEffect, useId } from "preact/hooks";
import type { CatalogHazard, HazardQueryInput, HazardResult } from "../../contract/wireTypes.ts";
import { RADIUS_KM_MAX } from "../../contract/ranges.ts";
import { useExplorer } from "../context.ts";
import { formatLocation, hazardTitle, metricTitle, scenarioTitle } from "../format.ts";
import { metricLabel, returnPeriodOf } from "../map/layerChoice.ts";
import { type MapRing, placeBeyondMapText } from "../map/mapOverlay.ts";
import type { SelectedPlace } from "../state.ts";
import { FailureNotice } from "../failureNotice.tsx";
import { CurveSection } from "./curveSection.tsx";
import { HazardOverview } from "./hazardOverview.tsx";
import { MetricSection } from "./metricSection.tsx";
import {
  answerOf,
  BASELINE_YEAR,
  metricTable,
  metricValue,
  type PlaceChoice,
  placeQuery,
  rangeText,
  valueText,
} from "./placeQuery.ts";
import { ProvenanceSection } from "./provenanceSection.tsx";
import { SnippetSection } from "./snippetSection.tsx";
import { useAnswer } from "../useDelayedRequest.ts";
import { useRadiusInput } from "../useNumberInput.ts";

/** The place that was chosen: its values, and how they were computed. */
export function PlacePanel() {
  const { state } = useExplorer();
  const place = state.place.value;
  if (place === undefined) {
    return (
      <p class="note">
        Choose a place: click on the map, or enter coordinates or the name of a city. The values of the place appear
        here.
      </p>
    );
  }
  return <ChosenPlace place={place} />;
}

function ChosenPlace({ place }: { readonly place: SelectedPlace }) {
  const { catalog, data, map, overlay, state } = useExplorer();
  const hazard = map.hazard.value;
  const choice: PlaceChoice = {
    place,
    radiusKm: state.radiusKm.value,
    method: state.method.value,
    totalHazard: state.totalHazard.value,
    anthropogenic: state.anthropogenic.value,
  };
  const query = placeQuery(hazard, choice);
  const loaded = useAnswer<HazardQueryInput, HazardResult>(query, (wanted, signal) => data.hazardRisk(wanted, signal));
  const previous = loaded.kind === "loading" ? loaded.previous : undefined;
  // While the radius changes, the values before the change stay visible, marked as outdated.
  const isSamePlace =
    previous?.query.latitude === place.latitude &&
    previous.query.longitude === place.longitude &&
    previous.query.hazards[0] === hazard.hazard;
  const shown = loaded.kind === "answered" ? loaded : isSamePlace ? previous : undefined;
  const cell = shown?.answer.results[0]?.scenarios[0]?.analysis_years[0]?.detail?.cell_center;
  useCircle(place, choice.radiusKm, cell, hazard);
  useEffect(() => () => overlay.showCircle(undefined), [overlay]);
  const location = formatLocation(place);
  const beyondMap = placeBeyondMapText(place);
  return (
    <article class="place-panel" aria-busy={loaded.kind === "loading"}>
      <header>
        <h2>{place.name ?? location}</h2>
        {place.name === undefined ? null : <p class="note">{location}</p>}
        <button
          type="button"
          class="close"
          aria-label="Remove the place"
          onClick={() => (state.place.value = undefined)}
        >
          ×
        </button>
      </header>
      {beyondMap === undefined ? null : <p class="note">{beyondMap}</p>}
      <RadiusControls />
      {loaded.kind === "failed" ? <FailureNotice error={loaded.error} onRetry={loaded.retry} /> : null}
      <p class="visually-hidden" role="status">
        {loaded.kind === "loading" ? "Loading values" : loaded.kind === "answered" ? "Values loaded" : ""}
      </p>
      {loaded.kind === "loading" ? <p class="note">{isSamePlace ? "Updating" : "Loading values"}</p> : null}
      {shown === undefined ? null : (
        <div class={loaded.kind === "loading" ? "outdated" : undefined}>
          <Answer hazard={hazard} choice={choice} query={shown.query} result={shown.answer} release={catalog.release} />
        </div>
      )}
    </article>
  );
}

interface AnswerProps {
  readonly hazard: CatalogHazard;
  readonly choice: PlaceChoice;
  readonly query: HazardQueryInput;
  readonly result: HazardResult;
  readonly release: string;
}

function Answer({ hazard, choice, query, result, release }: AnswerProps) {
  const { map, state } = useExplorer();
  const isChange = query.anthropogenic === true;
  const metrics = hazard.metrics
    .map(({ metric }) => metric)
    .filter((metric) => metric !== "total_hazard" || query.total_hazard === true)
    // The metric of the map first, then that of the hazard.
    .toSorted((a, b) => Number(b === map.scaleMetric.value) - Number(a === map.scaleMetric.value));
  const [scenario, year] = [state.scenario.value, state.year.value];
  const answer = answerOf(result, scenario, year);
  return (
    <>
      <section class="headline" aria-label="Values of the layer on the map">
        <h3>
          {hazardTitle(hazard.hazard)}, {scenarioTitle(scenario)} {scenario === "baseline" ? BASELINE_YEAR : year}
          {isChange ? `, change since ${BASELINE_YEAR}` : ""}
        </h3>
        {answer === undefined ? null : (
          <dl class="pairs">
            {metrics.map((metric) => {
              const value = metricValue(answer, metric);
              return (
                <div key={metric}>
                  <dt>{metricTitle(metric)}</dt>
                  <dd class={value.value === null ? "no-value" : undefined}>
                    {valueText(metric, value, isChange)}
                    {value.range === undefined || value.value === null ? "" : ` (${rangeText(metric, value.range)})`}
                  </dd>
                </div>
              );
            })}
          </dl>
        )}
        {returnPeriodOf(state.metric.value) === undefined ? null : (
          <p class="note">
            The map shows “{metricLabel(hazard, state.metric.value)}”{map.isDifference.value ? " as a difference" : ""},
            which is in the return-period curve below.
          </p>
        )}
      </section>
      <HazardOverview choice={choice} />
      <CurveSection hazard={hazard} choice={choice} />
      {metrics.map((metric) => (
        <MetricSection key={metric} hazard={hazard} table={metricTable(result, metric, isChange)} isChange={isChange} />
      ))}
      <ProvenanceSection result={result} scenario={scenario} year={year} release={release} />
      <SnippetSection call={{ method: "hazardRisk", query }} answer={result} />
    </>
  );
}

/** Chooses the radius, the aggregation and the options of the query. */
function RadiusControls() {
  const { state } = useExplorer();
  const id = useId();
  const radiusKm = state.radiusKm.value;
  const { input, error } = useRadiusInput();
  return (
    <fieldset class="radius-controls">
      <legend class="visually-hidden">Radius and options</legend>
      <label for={id}>Radius</label>
      <input
        id={id}
        type="range"
        min={0}
        max={RADIUS_KM_MAX}
        step={1}
        value={radiusKm}
        aria-valuetext={radiusKm === 0 ? "0 km, the cell at the place" : `${radiusKm} km`}
        onInput={({ currentTarget }) => (state.radiusKm.value = currentTarget.valueAsNumber)}
      />
      <span class="with-unit">
        <input
          {...input}
          aria-label="Radius in kilometers"
          aria-describedby={error === undefined ? undefined : `${id}-error`}
        />
        km
      </span>
      <label for={`${id}-method`}>Value</label>
      <select
        id={`${id}-method`}
        value={state.method.value}
        disabled={radiusKm === 0}
        aria-describedby={`${id}-note`}
        onChange={({ currentTarget }) => (state.method.value = currentTarget.value === "mean" ? "mean" : "max")}
      >
        <option value="max">Largest of the cells (max)</option>
        <option value="mean">Mean of the cells (mean)</option>
      </select>
      <p class="note" id={`${id}-note`}>
        {radiusKm === 0
          ? "The value of the cell at the place. Increase the radius to aggregate the cells around it."
          : "Over the cells whose centers are within the circle, and the cell at the place."}
      </p>
      {error === undefined ? null : (
        <p id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={state.anthropogenic.value}
          onChange={({ currentTarget }) => (state.anthropogenic.value = currentTarget.checked)}
        />
        Change since {BASELINE_YEAR}
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={state.totalHazard.value}
          onChange={({ currentTarget }) => (state.totalHazard.value = currentTarget.checked)}
        />
        Total hazard (intensity times probability)
      </label>
    </fieldset>
  );
}

/** Time without a further change after which the outline is computed exactly. */
const EXACT_DELAY_MS = 150;
/** Distance between the circle and its outline while the radius changes, less than a pixel at the scale of a circle. */
const DRAFT_TOLERANCE_M = 20;

/** Draws the circle on the map; with a radius of 0, the outline of the cell. */
function useCircle(
  place: SelectedPlace,
  radiusKm: number,
  cell: { readonly latitude: number; readonly longitude: number } | undefined,
  { grid }: CatalogHazard,
): void {
  const { overlay } = useExplorer();
  const { latitude, longitude } = place;
  useEffect(() => {
    let isCurrent = true;
    const show = (ring: MapRing | undefined): void => {
      if (isCurrent) overlay.showCircle(ring === undefined ? undefined : [ring]);
    };
    const draw = async (toleranceM?: number): Promise<void> => {
      const { cellOutline, geodesicCircle } = await import("./geodesicCircle.ts");
      if (!isCurrent) return;
      if (radiusKm > 0) show(geodesicCircle({ latitude, longitude }, radiusKm, toleranceM));
      else show(cell === undefined || grid === null ? undefined : cellOutline(cell, grid));
    };
    void draw(DRAFT_TOLERANCE_M);
    const timer = setTimeout(() => void draw(), EXACT_DELAY_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [latitude, longitude, radiusKm, cell?.latitude, cell?.longitude, grid]);
}
