import { useEffect, useMemo, useState } from "preact/hooks";
import { ExplorerError } from "../data/explorerData.ts";

/** The state of a request that follows the choices of the user. */
export type AnswerState<Query, Answer> =
  | { readonly kind: "none" }
  | {
      readonly kind: "loading";
      /** The last answer, to another query. */ readonly previous: Answered<Query, Answer> | undefined;
    }
  | Answered<Query, Answer>
  | { readonly kind: "failed"; readonly error: ExplorerError; readonly retry: () => void };

interface Answered<Query, Answer> {
  readonly kind: "answered";
  readonly query: Query;
  readonly answer: Answer;
}

/** Time without a further change after which a request is sent. */
const DELAY_MS = 200;

/**
 * Requests the answer to a query when the query has not changed for a moment. An outdated request is canceled, and its answer
 * is never shown.
 *
 * @param query undefined if there is nothing to request; must be equal as JSON if and only if it is the same query
 */
export function useAnswer<Query, Answer>(
  query: Query | undefined,
  load: (query: Query, signal: AbortSignal) => Promise<Answer>,
): AnswerState<Query, Answer> {
  const key = query === undefined ? undefined : JSON.stringify(query);
  const [attempt, setAttempt] = useState(0);
  const [settled, setSettled] = useState<
    { readonly key: string; readonly state: AnswerState<Query, Answer> } | undefined
  >();
  useEffect(() => {
    if (query === undefined || key === undefined) return undefined;
    const abort = new AbortController();
    const settle = (state: AnswerState<Query, Answer>): void => {
      if (!abort.signal.aborted) setSettled({ key, state });
    };
    const retry = (): void => {
      setSettled(undefined);
      setAttempt((count) => count + 1);
    };
    const timer = setTimeout(() => {
      load(query, abort.signal).then(
        (answer) => settle({ kind: "answered", query, answer }),
        (error: unknown) => settle({ kind: "failed", error: explorerError(error), retry }),
      );
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key, attempt]);
  return useMemo(() => {
    if (key === undefined) return { kind: "none" };
    // A settled state of another query is outdated.
    if (settled?.key === key) return settled.state;
    return { kind: "loading", previous: settled?.state.kind === "answered" ? settled.state : undefined };
  }, [key, settled]);
}

function explorerError(error: unknown): ExplorerError {
  return error instanceof ExplorerError
    ? error
    : new ExplorerError("unexpected_error", error instanceof Error ? error.message : String(error));
}
