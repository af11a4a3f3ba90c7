import { useExplorer } from "../context.ts";
import { SnippetPanel } from "../snippetPanel.tsx";
import type { AlignmentResult, ProblemItem } from "../../contract/wireTypes.ts";
import { AlignmentEntityForm } from "./alignmentEntity.tsx";
import {
  type AlignmentCall,
  alignmentCallOf,
  type AlignmentForm,
  decodeAlignmentForm,
  encodeAlignmentForm,
  EXAMPLE_ALIGNMENT,
} from "./alignmentForm.ts";
import { AlignmentResults } from "./alignmentResults.tsx";
import { headlineOf } from "./alignmentSeries.ts";
import { AnswerStatus, CompanyView } from "./companyView.tsx";
import { formatTemperature } from "./companyFormat.ts";
import { focusField, useCompanyNames } from "./fields.tsx";
import { companyPrograms } from "./companySnippets.ts";
import { useLatestAnswer } from "./companyHooks.ts";

/** Pointers that the form has a field or a table row for. */
const PLACED = /^(\/0\/(entity_info\/|data\/0|projected_emissions)|\?(basis|benchmark|budget_scenario|convergence)$)/;

/** Temperature alignment of a company: its entity to edit, and the temperatures that move with it. */
export function AlignmentView() {
  const { data, state } = useExplorer();
  const text = state.alignmentInput.value;
  const linked = text === undefined ? EXAMPLE_ALIGNMENT : decodeAlignmentForm(text);
  const form = linked ?? EXAMPLE_ALIGNMENT;
  const edit = (change: Partial<AlignmentForm>): void => {
    state.alignmentInput.value = encodeAlignmentForm({ ...form, ...change });
  };
  const names = useCompanyNames();
  const call = alignmentCallOf(form);
  const answer = useLatestAnswer(call.request === undefined ? undefined : JSON.stringify(call), async (signal) => {
    const { request, parameters } = sendable(call);
    // The charts need the figures behind the temperatures.
    const answered = await data.alignTemperature(request, { ...parameters, detail: true }, signal);
    return { answered, baselineYear: request[0]?.data[0]?.year ?? NaN, include: parameters.include ?? [] };
  });
  const items: readonly ProblemItem[] = call.items ?? answer.error?.items ?? [];
  const unplaced = items.filter(({ pointer, parameter }) => !PLACED.test(pointer ?? `?${parameter ?? ""}`));
  const shown = answer.value;
  const [result] = shown?.answered.results ?? [];
  return (
    <CompanyView
      title="Temperature alignment"
      intro="The global warming in 2100 that the emissions of a company imply, if they are compared with the pathways of the NGFS scenarios. The atlas of hazards is not used."
      isUnreadable={linked === undefined}
      isExample={text === undefined || linked === undefined}
      onReset={() => (state.alignmentInput.value = undefined)}
      items={items}
      isLoading={answer.isLoading}
      mainFigure={
        result && mainFigureOf(shown?.include.includes("overall") === true ? result : { ...result, overall: null })
      }
      form={
        <>
          <DidYouMean suggestions={items.length > 0 ? undefined : result?.did_you_mean} edit={edit} />
          <AlignmentEntityForm form={form} edit={edit} names={names} />
        </>
      }
      results={
        <>
          <AnswerStatus items={items} unplaced={unplaced} answer={answer} />
          {shown === undefined || result === undefined ? null : (
            <div class={items.length > 0 || answer.error !== undefined ? "outdated" : undefined}>
              <AlignmentResults
                result={result}
                baselineYear={shown.baselineYear}
                include={shown.include}
                method={shown.answered.method}
                benchmark={shown.answered.benchmark}
              />
            </div>
          )}
          {call.request === undefined ? null : (
            <SnippetPanel
              title="Copy this request"
              codeName="Request"
              programs={companyPrograms({ method: "alignTemperature", ...call })}
              answer={answer.current?.answered}
              note="The page itself adds detail=true, for the figures of the charts."
            />
          )}
        </>
      }
    />
  );
}

type SentCall = Extract<AlignmentCall, { readonly items?: never }>;

function sendable(call: AlignmentCall): SentCall {
  if (call.request === undefined) throw new Error("the form contains texts that are not numbers");
  return call;
}

/** Returns the main figure of a result in a few words. */
function mainFigureOf(result: AlignmentResult): string {
  const headline = headlineOf(result);
  if (headline === undefined) return "No temperature";
  return `${formatTemperature(headline.temperatureC)} °C, ${headline.name === "All years" ? "all years" : headline.name}`;
}

interface DidYouMeanProps {
  readonly suggestions: { readonly country?: string; readonly industry?: string; readonly sector?: string } | undefined;
  readonly edit: (change: Partial<AlignmentForm>) => void;
}

/** Known names that resemble unknown ones. The method never replaces a name by itself. */
function DidYouMean({ suggestions = {}, edit }: DidYouMeanProps) {
  const names = (["country", "industry", "sector"] as const).flatMap((member) => {
    const name = suggestions[member];
    return name === undefined ? [] : [{ member, name }];
  });
  return (
    <div role="status">
      {names.length === 0 ? null : (
        <ul class="suggestions">
          {names.map(({ member, name }) => (
            <li key={member}>
              The {member} is not known.{" "}
              <button
                type="button"
                onClick={() => {
                  edit({ [member]: name });
                  focusField(`/0/entity_info/${member}`);
                }}
              >
                Use “{name}”
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
