import { useId } from "preact/hooks";
import { useExplorer } from "../context.ts";
import { metricUnit } from "../format.ts";
import { type ChoiceOption, choiceOptions, metricMeaning } from "../map/layerChoice.ts";
import { useNumberInput } from "../useNumberInput.ts";
import { positionOfThreshold, thresholdAt, thresholdPositionMax } from "../map/legendModel.ts";

/** Chooses hazard, metric, scenario, year, comparison and threshold. */
export function HazardControls() {
  const { catalog, map } = useExplorer();
  const choice = map.choice.value;
  const options = choiceOptions(catalog, choice);
  return (
    <form class="controls" noValidate onSubmit={(event) => event.preventDefault()}>
      <Choice
        label="Hazard"
        value={choice.hazard}
        options={options.hazards}
        onChange={(hazard) => map.choose({ hazard })}
      />
      <Choice
        label="Metric"
        value={choice.metric}
        options={options.metrics}
        note={metricMeaning(map.hazard.value, choice.metric)}
        onChange={(metric) => map.choose({ metric })}
      />
      <div class="control-row">
        <Choice
          label="Scenario"
          value={choice.scenario}
          options={options.scenarios}
          onChange={(scenario) => map.choose({ scenario })}
        />
        <Choice label="Year" value={choice.year} options={options.years} onChange={(year) => map.choose({ year })} />
      </div>
      <Choice
        label="Subtract"
        value={choice.comparison}
        options={options.comparisons}
        onChange={(comparison) => map.choose({ comparison })}
      />
      <ThresholdControl />
    </form>
  );
}

interface ChoiceProps<T extends string | number> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly ChoiceOption<T>[];
  /** Explains the chosen entry. */
  readonly note?: string;
  readonly onChange: (value: T) => void;
}

function Choice<T extends string | number>({ label, value, options, note, onChange }: ChoiceProps<T>) {
  const id = useId();
  const onSelect = ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }): void => {
    const option = options[currentTarget.selectedIndex];
    if (option !== undefined) onChange(option.value);
  };
  return (
    <div class="control">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={onSelect}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.unavailable !== undefined}>
            {option.unavailable === undefined ? option.label : `${option.label} - ${option.unavailable}`}
          </option>
        ))}
      </select>
      {note === undefined ? null : (
        <p class="note" id={`${id}-note`}>
          {note}
        </p>
      )}
    </div>
  );
}

/** Hides values below a threshold: a slider, and a field for exact values. */
function ThresholdControl() {
  const { state, map } = useExplorer();
  const { scale, threshold } = map.rule.value;
  const metric = map.scaleMetric.value;
  // The page shows probabilities as percentages.
  const factor = metric === "probability" ? 100 : 1;
  const unit = metricUnit(metric);
  const id = useId();
  const set = (value: number | undefined): void => {
    state.threshold.value = value !== undefined && value > 0 ? value : undefined;
  };
  const shown = threshold === undefined ? 0 : shownNumber(threshold, factor);
  const { input, isFaulty } = useNumberInput(shown, {
    isValid: (value) => value >= 0,
    onChange: (value) => set(value / factor),
  });
  return (
    <div class="control">
      <label for={id}>
        {map.isDifference.value ? "Hide differences smaller than" : "Hide values below"}
        {unit === "" ? "" : ` (${unit})`}
      </label>
      <div class="threshold">
        <input
          id={id}
          type="range"
          min={0}
          max={thresholdPositionMax(scale)}
          value={positionOfThreshold(scale, threshold)}
          aria-valuetext={threshold === undefined ? "nothing hidden" : `${shown} ${unit}`}
          onInput={({ currentTarget }) => set(thresholdAt(scale, currentTarget.valueAsNumber))}
        />
        <input
          {...input}
          aria-label={`Threshold${unit === "" ? "" : ` in ${unit}`}`}
          aria-describedby={isFaulty ? `${id}-error` : undefined}
        />
      </div>
      {isFaulty ? (
        <p id={`${id}-error`} role="alert">
          The threshold must be a number of at least 0. The last valid threshold, {`${shown} ${unit}`.trim()}, stays in
          effect.
        </p>
      ) : null}
    </div>
  );
}

/** Removes the rounding error of the conversion to percent. */
function shownNumber(value: number, factor: number): number {
  return Number((value * factor).toPrecision(12));
}
