/** The state of a request in words: running, refused because of some values, or failed. */
import type { ProblemItem } from "../../contract/wireTypes.ts";
import { FailureNotice } from "../failureNotice.tsx";
import type { LatestAnswer } from "./useLatestAnswer.ts";

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
