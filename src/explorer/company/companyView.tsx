/** The state of a request in words: running, refused because of some values, or failed. */
import type { ComponentChildren } from "preact";
import type { ProblemItem } from "../../contract/wireTypes.ts";
import { FaultItems } from "./fields.tsx";
import { FailureNotice } from "../failureNotice.tsx";
import type { LatestAnswer } from "./companyHooks.ts";

import "./charts.css";
import "./company.css";

interface CompanyViewProps {
  readonly title: string;
  readonly intro: string;
  /** Whether the link contains a company that cannot be read. */
  readonly isUnreadable: boolean;
  readonly isExample: boolean;
  readonly onReset: () => void;
  /** Errors of values, which the fields of the form show. */
  readonly items: readonly ProblemItem[];
  readonly isLoading: boolean;
  /** The main figure in a few words; undefined until there is one. */
  readonly mainFigure: string | undefined;
  readonly form: ComponentChildren;
  readonly results: ComponentChildren;
}

/** A view of a company: a form that starts with an example, and the results beside it. */
export function CompanyView(props: CompanyViewProps) {
  const { title, intro, isUnreadable, isExample, onReset, items, isLoading, mainFigure, form, results } = props;
  return (
    <FaultItems.Provider value={items}>
      <div class="company-view">
        <h2>{title}</h2>
        <p class="intro">{intro}</p>
        {isUnreadable ? (
          <p class="notice" role="alert">
            The link contains no company that can be read, so the example is shown.
          </p>
        ) : null}
        {/* Exists before it has a text: screen readers do not announce the first text of a new element. */}
        <p class="visually-hidden" role="status">
          {mainFigure}
        </p>
        {mainFigure === undefined ? null : (
          <p class="company-glance" aria-hidden="true">
            {mainFigure}
          </p>
        )}
        <div class="company-columns">
          <form class="company-form" aria-label="Company" onSubmit={(event) => event.preventDefault()}>
            <div class="form-bar">
              {isExample ? <p class="example">This is an example, not a real company. Edit any value.</p> : null}
              <button type="button" disabled={isExample} onClick={onReset}>
                Reset to the example
              </button>
            </div>
            {form}
          </form>
          <section class="company-results" aria-label="Results" aria-busy={isLoading}>
            {results}
          </section>
        </div>
      </div>
    </FaultItems.Provider>
  );
}

interface StatusProps {
  /** Errors of values; the latest request was refused, or not sent because of them. */
  readonly items: readonly ProblemItem[];
  /** Those that no field of the form shows. */
  readonly unplaced: readonly ProblemItem[];
  readonly answer: LatestAnswer<unknown>;
}

export function AnswerStatus({ items, unplaced, answer }: StatusProps) {
  const { error, isLoading, retry, value } = answer;
  if (items.length > 0) {
    return (
      <div class="problem" role="alert">
        <p>
          {items.length === 1 ? "One value needs" : `${items.length} values need`} correction; see the form.
          {value === undefined ? "" : " The results below belong to the last valid input."}
        </p>
        {unplaced.length === 0 ? null : (
          <ul>
            {unplaced.map(({ detail }) => (
              <li key={detail}>{detail}</li>
            ))}
          </ul>
        )}
      </div>
    );
  }
  if (error !== undefined) return <FailureNotice error={error} onRetry={retry} />;
  return isLoading && value === undefined ? <p class="hint">Computing</p> : null;
}
