import type { ProblemItem } from "../../contract/wireTypes.ts";
import { useExplorer } from "../context.ts";
import { SnippetPanel } from "../snippetPanel.tsx";
import { AnswerStatus, CompanyView } from "./companyView.tsx";
import { ClimateRiskForm } from "./climateRiskForm.tsx";
import { ClimateRiskResults } from "./climateRiskResults.tsx";
import { formatPercent } from "./companyFormat.ts";
import { useCompanyNames } from "./fields.tsx";
import { companyPrograms } from "./companySnippets.ts";
import { decodeRiskForm, encodeRiskForm, EXAMPLE_RISK, type RiskForm, riskCallOf } from "./riskForm.ts";
import { useLatestAnswer, useReference } from "./companyHooks.ts";

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
  const names = useCompanyNames();
  const scenarios = useReference((signal) => data.scenarios(signal))?.items ?? [];
  const { request, items: unreadable } = riskCallOf(form);
  const answer = useLatestAnswer(request === undefined ? undefined : JSON.stringify(request), async (signal) => {
    if (request === undefined) throw new Error("the form contains years that are not numbers");
    return { request, answered: await data.totalClimateRisk(request, signal) };
  });
  const items: readonly ProblemItem[] = unreadable ?? answer.error?.items ?? [];
  const shown = answer.value;
  return (
    <CompanyView
      title="Total climate risk"
      intro="Annual losses of a company from transition and physical risk, by scenario and year, and their effect on its value and credit. Physical risk is a national average from published tables: the atlas of hazards is not used."
      isUnreadable={linked === undefined}
      isExample={text === undefined || linked === undefined}
      onReset={() => (state.climateRiskInput.value = undefined)}
      items={items}
      isLoading={answer.isLoading}
      mainFigure={shown && `Worst case: ${formatPercent(shown.answered.headline.max.pct_of_ebitda)} of EBITDA`}
      form={<ClimateRiskForm form={form} edit={edit} names={names} scenarios={scenarios} answer={shown?.answered} />}
      results={
        <>
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
            <SnippetPanel
              title="Copy this request"
              codeName="Request"
              programs={companyPrograms({ method: "totalClimateRisk", request })}
              answer={answer.current?.answered}
            />
          )}
        </>
      }
    />
  );
}
