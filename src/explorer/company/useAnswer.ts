import { useEffect, useState } from "preact/hooks";
import { ExplorerError } from "../data/explorerData.ts";

/** Time after the last edit before a request is sent. */
const DEBOUNCE_MS = 300;

/** The answer to the latest request that succeeded, and what happened to the latest one. */
export interface LatestAnswer<Answer> {
  readonly value: Answer | undefined;
  /** Error of the latest request; undefined while it is running and if it succeeded. */
  readonly error: ExplorerError | undefined;
  readonly isLoading: boolean;
  /** Repeats the latest request. */
  readonly retry: () => void;
}

interface Outcome<Answer> {
  readonly value?: Answer;
  readonly error?: ExplorerError | undefined;
  /** Key and attempt of the request that the outcome belongs to. */
  readonly id?: string;
}

/**
 * Sends a request when its key has not changed for a moment, and cancels it when the key changes.
 *
 * @param key what the request depends on; undefined to send none
 */
export function useAnswer<Answer>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<Answer>,
): LatestAnswer<Answer> {
  const [attempt, setAttempt] = useState(0);
  const [outcome, setOutcome] = useState<Outcome<Answer>>({});
  const id = key === undefined ? undefined : `${attempt} ${key}`;
  const isFirst = outcome.id === undefined;
  useEffect(() => {
    if (id === undefined) return undefined;
    const controller = new AbortController();
    const settle = (settled: Outcome<Answer>): void => {
      if (!controller.signal.aborted) setOutcome((last) => ({ ...last, ...settled, id }));
    };
    const timer = setTimeout(
      () => {
        load(controller.signal).then(
          (value) => settle({ value, error: undefined }),
          (error: unknown) => settle({ error: explorerErrorOf(error) }),
        );
      },
      isFirst ? 0 : DEBOUNCE_MS,
    );
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
    // `load` depends on the key alone.
  }, [id]);
  const isLoading = id !== undefined && outcome.id !== id;
  return {
    value: outcome.value,
    error: isLoading ? undefined : outcome.error,
    isLoading,
    retry: () => setAttempt((last) => last + 1),
  };
}

function explorerErrorOf(error: unknown): ExplorerError {
  return error instanceof ExplorerError ? error : new ExplorerError("internal", `The page failed: ${String(error)}`);
}
