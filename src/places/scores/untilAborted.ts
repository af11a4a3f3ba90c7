/**
 * Passes on the items of a generator. Throws the signal's reason when it is aborted, even while the generator waits for its
 * source; the generator is then closed when the source answers.
 */
export async function* untilAborted<Item>(
  items: AsyncGenerator<Item, void, undefined>,
  signal: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  try {
    for (;;) {
      const { value, done } = await orAborted(items.next(), signal);
      if (done === true) return;
      yield value;
    }
  } finally {
    const closed = items.return();
    if (signal.aborted) closed.catch(() => undefined);
    else await closed;
  }
}

/** Returns what a promise does, or rejects with the signal's reason. Nothing remains on the signal afterwards. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
