import { useEffect } from "preact/hooks";
import { asExplorerError, type ExplorerError } from "./data/explorerData.ts";

/** A request that depends on what the user chooses. */
export interface DelayedRequest<Answer> {
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
