interface Subscription {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const subscriptions = new WeakMap<AbortSignal, Subscription>();

/**
 * Calls a function when a signal is aborted. All functions of a signal share one listener, because Node.js prints a warning
 * if a signal has more than ten listeners, which the tasks of one run can exceed.
 *
 * @returns a function that removes the callback
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, listener } = subscriptions.get(signal) ?? subscribe(signal);
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    signal.removeEventListener("abort", listener);
    subscriptions.delete(signal);
  };
}

function subscribe(signal: AbortSignal): Subscription {
  const callbacks = new Set<() => void>();
  const listener = (): void => callbacks.forEach((callback) => callback());
  signal.addEventListener("abort", listener);
  const subscription = { callbacks, listener };
  subscriptions.set(signal, subscription);
  return subscription;
}
