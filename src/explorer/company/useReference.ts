import { useEffect, useState } from "preact/hooks";

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
