import { useEffect, useMemo, useState } from "preact/hooks";
import { asExplorerError, type ExplorerError } from "./data/explorerData.ts";

/** A request that depends on what the user chooses. */
interface DelayedRequest<Answer> {
  /** Time without a further change after which the request is sent. */
  readonly delayMs: number;
  readonly load: (signal: AbortSignal) => Promise<Answer>;
  readonly onAnswer: (answer: Answer) => void;
  readonly onError: (error: ExplorerError) => void;
}

/**
 * Sends a request when its id has not changed for a moment. When the id changes, the request is canceled, and its outcome is
 * not reported.
 *
 * @param id what the request depends on; undefined to send none
 */
export function useDelayedRequest<Answer>(
  id: string | undefined,
  { delayMs, load, onAnswer, onError }: DelayedRequest<Answer>,
): void {
  useEffect(() => {
    if (id === undefined) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      load(abort.signal).then(
        (answer) => {
          if (!abort.signal.aborted) onAnswer(answer);
        },
        (error: unknown) => {
          if (!abort.signal.aborted) onError(asExplorerError(error));
        },
      );
    }, delayMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
    // The other members depend on the id alone.
  }, [id]);
}

/** The state of a request that follows the choices of the user. */
type AnswerState<Query, Answer> =
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
  const retry = (): void => {
    setSettled(undefined);
    setAttempt((count) => count + 1);
  };
  useDelayedRequest(key === undefined ? undefined : `${attempt} ${key}`, {
    delayMs: DELAY_MS,
    load: (signal) => load(query as Query, signal),
    onAnswer: (answer) => setSettled({ key: key ?? "", state: { kind: "answered", query: query as Query, answer } }),
    onError: (error) => setSettled({ key: key ?? "", state: { kind: "failed", error, retry } }),
  });
  return useMemo(() => {
    if (key === undefined) return { kind: "none" };
    // A settled state of another query is outdated.
    if (settled?.key === key) return settled.state;
    return { kind: "loading", previous: settled?.state.kind === "answered" ? settled.state : undefined };
  }, [key, settled]);
}
