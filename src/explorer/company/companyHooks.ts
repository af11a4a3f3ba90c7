import { useEffect, useRef, useState } from "preact/hooks";
import type { ExplorerError } from "../data/explorerData.ts";
import { useDelayedRequest } from "../useDelayedRequest.ts";
import type { RefObject } from "preact";

/** Time after the last edit before a request is sent. */
const DEBOUNCE_MS = 300;

/** The answer to the latest request that succeeded, and what happened to the latest one. */
export interface LatestAnswer<Answer> {
  readonly value: Answer | undefined;
  /** The answer to the latest request; undefined while it is running and if it failed. */
  readonly current: Answer | undefined;
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
export function useLatestAnswer<Answer>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<Answer>,
): LatestAnswer<Answer> {
  const [attempt, setAttempt] = useState(0);
  const [outcome, setOutcome] = useState<Outcome<Answer>>({});
  const id = key === undefined ? undefined : `${attempt} ${key}`;
  const isFirst = outcome.id === undefined;
  const settle = (settled: Outcome<Answer>): void => setOutcome((last) => ({ ...last, ...settled, id: id ?? "" }));
  useDelayedRequest(id, {
    delayMs: isFirst ? 0 : DEBOUNCE_MS,
    load,
    onAnswer: (value) => settle({ value, error: undefined }),
    onError: (error) => settle({ error }),
  });
  const isLoading = id !== undefined && outcome.id !== id;
  const error = isLoading ? undefined : outcome.error;
  return {
    value: outcome.value,
    current: isLoading || error !== undefined ? undefined : outcome.value,
    error,
    isLoading,
    retry: () => setAttempt((last) => last + 1),
  };
}

/**
 * Returns the response of a list of reference data; undefined until it is there, and if it cannot be loaded: it only adds
 * suggestions to fields that accept any text.
 */
export function useReference<List>(load: (signal: AbortSignal) => Promise<List>): List | undefined {
  const [list, setList] = useState<List>();
  useEffect(() => {
    const controller = new AbortController();
    load(controller.signal).then(
      (loaded) => {
        if (!controller.signal.aborted) setList(loaded);
      },
      () => undefined,
    );
    return () => controller.abort();
  }, []);
  return list;
}

/** Returns a reference for an element, and its width in pixels; 0 until it is known. */
export function useWidth<Target extends Element>(): readonly [RefObject<Target | null>, number] {
  const ref = useRef<Target>(null);
  const [widthPx, setWidthPx] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidthPx(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, widthPx];
}
