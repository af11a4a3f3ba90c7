/** Longer texts are computed every time. */
const CACHED_TEXT_LENGTH_MAX = 200;
const CACHED_TEXT_COUNT_MAX = 4096;

/**
 * Returns a function that remembers its results by text, since portfolios repeat a few hundred names. The memory is
 * cleared when it is full.
 */
export function rememberByText<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, { readonly result: Result }>();
  return (text) => {
    if (text.length > CACHED_TEXT_LENGTH_MAX) return compute(text);
    const known = results.get(text);
    if (known !== undefined) return known.result;
    const result = compute(text);
    if (results.size >= CACHED_TEXT_COUNT_MAX) results.clear();
    results.set(text, { result });
    return result;
  };
}
