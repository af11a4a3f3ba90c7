/** Results of the climate-risk view: waterfalls of the scenarios side by side, and tables. */
import { useState } from "preact/hooks";
import type { CompanyAnswer, CompanyRequest } from "../../contract/wireTypes.ts";
import { useExplorer } from "../context.ts";
import { AnswerStatus } from "./companyView.tsx";
import {
  ComparisonTable,
  CreditTable,
  DriverTable,
  EmissionsTable,
  LossTable,
  QualityTable,
  resultsOfYear,
  ValueTable,
  yearsOf,
} from "./climateRiskTables.tsx";
import {
  formatFraction,
  formatMoney,
  formatMoneyChange,
  formatPercent,
  moneyScaleFor,
  transitionScenarioTitle,
} from "./companyFormat.ts";
import { useLatestAnswer } from "./companyHooks.ts";
import {
  discountedParts,
  LOSS_PART_MEANINGS,
  type LossPart,
  lossPartsOf,
  shownParts,
  TAX_RATE,
  VALUE_YEARS,
  valueWaterfall,
  type WaterfallStep,
  yearWaterfall,
} from "./waterfall.ts";
import { WaterfallChart } from "./waterfallChart.tsx";

interface ResultsProps {
  readonly answer: CompanyAnswer;
  /** The request of the answer. */
  readonly request: CompanyRequest;
}

const VALUE = "value";

export function ClimateRiskResults({ answer, request }: ResultsProps) {
  const years = yearsOf(answer);
  const [chosen, choose] = useState<number | typeof VALUE | undefined>(undefined);
  // A year that is no longer assessed is replaced by the first one.
  const shown = chosen === VALUE || (chosen !== undefined && years.includes(chosen)) ? chosen : (years[0] ?? VALUE);
  const tableYear = shown === VALUE ? (years.at(-1) ?? 0) : shown;
  return (
    <>
      <RiskHeadline answer={answer} />
      <div class="field inline">
        <label for="waterfall-of">Waterfall of</label>
        <select
          id="waterfall-of"
          value={String(shown)}
          onChange={({ currentTarget: { value } }) => choose(value === VALUE ? VALUE : Number(value))}
        >
          {years.map((year) => (
            <option key={year} value={String(year)}>
              EBITDA of {year}
            </option>
          ))}
          <option value={VALUE}>the value of the company, losses of 2026 to 2050</option>
        </select>
      </div>
      {shown === VALUE ? <ValueWaterfalls request={request} /> : <YearWaterfalls answer={answer} year={shown} />}
      <LossTable answer={answer} />
      <Remarks answer={answer} />
      <ValueTable answer={answer} />
      <CreditTable answer={answer} year={tableYear} />
      <details>
        <summary>Carbon prices, warming and other drivers</summary>
        <DriverTable answer={answer} year={tableYear} />
      </details>
      <EmissionsTable answer={answer} />
      <details>
        <summary>Quality of the figures</summary>
        <QualityTable answer={answer} />
      </details>
      <details>
        <summary>Sources and method</summary>
        <ul>
          {answer.sources.map(({ what, source, terms }) => (
            <li key={what}>
              <strong>{what}</strong>: {source} ({terms})
            </li>
          ))}
        </ul>
        <p>Method version {answer.method_version}.</p>
      </details>
    </>
  );
}

/** The worst case. */
function RiskHeadline({ answer: { headline, results } }: { readonly answer: CompanyAnswer }) {
  const { scenario, year } = headline.max;
  const worst = results.find((result) => result.scenario === scenario && result.year === year);
  if (worst === undefined) return null;
  const { pct_of_ebitda, low, high, rating, measured_by } = worst.total;
  return (
    <p class="company-headline">
      <span class="company-headline-value">
        {formatPercent(pct_of_ebitda)} of EBITDA, rating {rating}
      </span>{" "}
      <span>
        in the worst case: {transitionScenarioTitle(scenario)} in {year}, range {formatPercent(low)} to{" "}
        {formatPercent(high)}
        {measured_by === "normal_ebitda" ? "; measured by half of the normal EBITDA of the industry" : ""}. Estimate,
        see the remarks.
      </span>
    </p>
  );
}

function YearWaterfalls({ answer, year }: { readonly answer: CompanyAnswer; readonly year: number }) {
  const results = resultsOfYear(answer, year);
  const parts = shownParts(results.map(lossPartsOf));
  const ebitdaUsd = answer.company.figures.normalized_ebitda;
  return (
    <Waterfalls
      caption={`From EBITDA before to EBITDA after the losses of ${year}`}
      unit={answer.units.money}
      scenarios={results.map((result) => ({
        scenario: result.scenario,
        steps: yearWaterfall(result, ebitdaUsd, parts),
      }))}
    />
  );
}

/** Waterfalls of the value, from the parts of all years that it takes into account. */
function ValueWaterfalls({ request }: { readonly request: CompanyRequest }) {
  const { data } = useExplorer();
  const yearly: CompanyRequest = { ...request, assessment_years: VALUE_YEARS };
  const loaded = useLatestAnswer(JSON.stringify(yearly), (signal) => data.totalClimateRisk(yearly, signal));
  if (loaded.value === undefined || loaded.error !== undefined) {
    return <AnswerStatus items={loaded.error?.items ?? []} unplaced={loaded.error?.items ?? []} answer={loaded} />;
  }
  const answer = loaded.value;
  const rate = answer.assumptions.discount_rate;
  const byScenario = answer.valuation.map((valuation) => ({
    valuation,
    parts: discountedParts(
      answer.results.filter(({ scenario }) => scenario === valuation.scenario),
      rate,
    ),
  }));
  const parts = shownParts(byScenario.map((value) => value.parts));
  return (
    <div class={loaded.isLoading ? "outdated" : undefined} aria-busy={loaded.isLoading}>
      <Waterfalls
        caption="From the value before to the value after the losses of 2026 to 2050"
        unit="USD 2025"
        scenarios={byScenario.map((value) => ({
          scenario: value.valuation.scenario,
          steps: valueWaterfall(value.valuation, value.parts, parts),
        }))}
      />
      <p class="hint waterfall-note">
        {loaded.isLoading ? "This chart belongs to the previous input; the new one is being computed. " : ""}
        Present values after {TAX_RATE * 100} % tax at a real discount rate of {formatFraction(rate)}. This chart
        requested the results of all years, {answer.results.length} in total.
      </p>
    </div>
  );
}

interface WaterfallsProps {
  readonly caption: string;
  readonly unit: string;
  readonly scenarios: readonly { readonly scenario: string; readonly steps: readonly WaterfallStep[] }[];
}

/** Waterfalls with a common axis, and the same figures as a table. */
function Waterfalls({ caption, unit, scenarios }: WaterfallsProps) {
  const levelsUsd = scenarios.flatMap(({ steps }) => steps.flatMap(({ fromUsd, toUsd }) => [fromUsd, toUsd]));
  const scale = moneyScaleFor(levelsUsd);
  const [first] = scenarios;
  if (first === undefined) return null;
  const unitName = `${scale.name}${unit}`;
  return (
    <>
      <figure>
        <figcaption>
          {caption}, {unitName}
        </figcaption>
        <div class="waterfalls">
          {scenarios.map(({ scenario, steps }) => (
            <div key={scenario}>
              <p class="panel-name">{transitionScenarioTitle(scenario)}</p>
              <WaterfallChart
                steps={steps}
                axisUsd={levelsUsd}
                scale={scale}
                title={`${transitionScenarioTitle(scenario)}: ${caption}. The table below has the figures.`}
              />
            </div>
          ))}
        </div>
      </figure>
      <ComparisonTable
        caption={`Parts, ${unitName}`}
        firstColumn="Part"
        columns={scenarios.map(({ scenario }) => transitionScenarioTitle(scenario))}
        groups={[
          {
            rows: first.steps.map(({ id, name }, index) => {
              const isEnd = id === "before" || id === "after";
              return {
                name,
                isTotal: isEnd,
                hint: isEnd ? undefined : LOSS_PART_MEANINGS[id satisfies LossPart],
                cells: scenarios.map(({ steps }) => {
                  const amountUsd = steps[index]?.amountUsd ?? NaN;
                  return isEnd ? formatMoney(amountUsd, scale) : formatMoneyChange(amountUsd, scale);
                }),
              };
            }),
          },
        ]}
      />
    </>
  );
}

function Remarks({ answer: { warnings } }: { readonly answer: CompanyAnswer }) {
  return (
    <section class="remarks">
      <h3>Remarks</h3>
      {warnings.length === 0 ? (
        <p>None.</p>
      ) : (
        <ul>
          {warnings.map(({ code, detail }) => (
            <li key={`${code} ${detail}`}>
              {detail} <code>{code}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
