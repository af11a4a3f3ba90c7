import type { ProblemItem } from "../../contract/wireTypes.ts";
import { useExplorer } from "../context.ts";
import { AnswerStatus } from "./answerStatus.tsx";
import { ClimateRiskForm } from "./climateRiskForm.tsx";
import { ClimateRiskResults } from "./climateRiskResults.tsx";
import { formatPercent } from "./companyFormat.ts";
import { CompanySnippetPanel } from "./companySnippetPanel.tsx";
import { FaultItems } from "./fields.tsx";
import "./charts.css";
import "./company.css";
import { decodeRiskForm, encodeRiskForm, EXAMPLE_RISK, type RiskForm, riskCallOf } from "./riskForm.ts";
import { useAnswer } from "./useAnswer.ts";
import { useReference } from "./useReference.ts";

/** Pointers that the form has a field for. */
const PLACED =
  /^\/(name|country|industry|revenue|total_assets|ebitda|total_debt|total_liabilities|exposure|pd|lgd|damage_function|iam|scope[123](_upstream|_downstream)?|assumptions\/(discount_rate|shock_year|pass_through)|transition_scenarios(\/\d+)?|assessment_years(\/\d+)?)$/;

/** Total climate risk of a company: its request to edit, and the losses of the scenarios side by side. */
export function ClimateRiskView() {
  const { data, state } = useExplorer();
  const text = state.climateRiskInput.value;
  const linked = text === undefined ? EXAMPLE_RISK : decodeRiskForm(text);
  const form = linked ?? EXAMPLE_RISK;
  const edit = (change: Partial<RiskForm>): void => {
    state.climateRiskInput.value = encodeRiskForm({ ...form, ...change });
  };
  const industries = useReference((signal) => data.industries(signal))?.items ?? [];
  const countries = useReference((signal) => data.countries(signal))?.items ?? [];
  const scenarios = useReference((signal) => data.scenarios(signal))?.items ?? [];
  const { request, items: unreadable } = riskCallOf(form);
  const answer = useAnswer(request === undefined ? undefined : JSON.stringify(request), async (signal) => {
    if (request === undefined) throw new Error("the form contains years that are not numbers");
    return { request, answered: await data.totalClimateRisk(request, signal) };
  });
  const items: readonly ProblemItem[] = unreadable ?? answer.error?.items ?? [];
  const isExample = text === undefined || linked === undefined;
  const shown = answer.value;
  return (
    <FaultItems.Provider value={items}>
      <div class="company-view">
        <h2>Total climate risk</h2>
        <p class="intro">
          Annual losses of a company from transition and physical risk, by scenario and year, and their effect on its
          value and credit. Physical risk is a national average from published tables: the atlas of hazards is not used.
        </p>
        {linked === undefined ? (
          <p class="notice" role="alert">
            The link contains no company that can be read, so the example is shown.
          </p>
        ) : null}
        {shown === undefined ? null : (
          <p class="company-glance" aria-hidden="true">
            Worst case: {formatPercent(shown.answered.headline.max.pct_of_ebitda)} of EBITDA
          </p>
        )}
        <div class="company-columns">
          <form class="company-form" aria-label="Company" onSubmit={(event) => event.preventDefault()}>
            <div class="form-bar">
              {isExample ? <p class="example">This is an example, not a real company. Edit any value.</p> : null}
              <button type="button" disabled={isExample} onClick={() => (state.climateRiskInput.value = undefined)}>
                Reset to the example
              </button>
            </div>
            <ClimateRiskForm
              form={form}
              edit={edit}
              countries={countries.map(({ name }) => name)}
              industries={industries.flatMap(({ name, aliases }) => [name, ...aliases])}
              scenarios={scenarios}
              answer={shown?.answered}
            />
          </form>
          <section class="company-results" aria-label="Results" aria-busy={answer.isLoading}>
            <AnswerStatus
              items={items}
              unplaced={items.filter(({ pointer }) => pointer === undefined || !PLACED.test(pointer))}
              answer={answer}
            />
            {shown === undefined ? null : (
              <div class={items.length > 0 || answer.error !== undefined ? "outdated" : undefined}>
                <ClimateRiskResults answer={shown.answered} request={shown.request} />
              </div>
            )}
            {request === undefined ? null : (
              <CompanySnippetPanel call={{ method: "totalClimateRisk", request }} answer={shown?.answered} />
            )}
          </section>
        </div>
      </div>
    </FaultItems.Provider>
  );
}
