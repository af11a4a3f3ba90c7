/** Keeps the address of the page and the state equal. */
import { batch, effect, type Signal, untracked } from "@preact/signals";
import { fragmentOf, historyStepOf, type LinkReading, readLink } from "./permalink.ts";
import type { ExplorerState, View } from "./state.ts";

/** Whether the next change of the address replaces the entry of the browser's history. */
let isReplacing = false;

/** Runs a change of the state that does not add an entry to the browser's history, also within an effect. */
export function withoutHistoryStep(state: ExplorerState, change: () => void): void {
  const fragment = untracked(() => fragmentOf(state));
  isReplacing = true;
  batch(change);
  if (fragment === untracked(() => fragmentOf(state))) isReplacing = false;
}

/** Returns the address of a view in the present state. */
export function viewLink(state: ExplorerState, view: View): string {
  return `#${fragmentOf(state).replace(/^view=[^&]*/, `view=${view}`)}`;
}

/** The parts of `window` that the address bar uses. */
export interface AddressBarPage extends AddressPage {
  addEventListener(type: string, listener: () => void): void;
}

/**
 * Writes the state into the fragment, and sets the state when the user goes back or edits the fragment. Changes of the map
 * and of sliders replace the entry of the history, at most every 200 ms; others add one at once.
 *
 * @param link is set when the fragment is read, and when a step of the history replaces what it ignored
 * @param beforeRead is called when the fragment has changed, before it is read
 */
export function connectAddressBar(
  state: ExplorerState,
  link: Signal<LinkReading>,
  beforeRead: () => void,
  page: AddressBarPage = window,
): void {
  const writer = new AddressWriter(page);
  let step = historyStepOf(state);
  isReplacing = true;
  effect(() => {
    const fragment = `#${fragmentOf(state)}`;
    const nextStep = historyStepOf(state);
    const isStep = nextStep !== step && !isReplacing;
    step = nextStep;
    isReplacing = false;
    if (isStep) link.value = { ...link.peek(), ignored: [] };
    writer.write({ fragment, isStep });
  });
  const read = (): void => {
    beforeRead();
    const { hash } = page.location;
    const fragment = `#${untracked(() => fragmentOf(state))}`;
    if (hash === fragment) return;
    // A link that contains nothing but the key keeps the state.
    if (hash === "") writer.write({ fragment, isStep: false });
    else withoutHistoryStep(state, () => (link.value = readLink(state, hash)));
  };
  // Going back or forward, and editing the address.
  page.addEventListener("popstate", read);
  page.addEventListener("hashchange", read);
  // The page may be closed, or frozen in the background.
  page.addEventListener("pagehide", () => writer.flush());
  page.addEventListener("visibilitychange", () => writer.flush());
}

/** Writes the fragment of the page's address, rarely enough for every browser. */

/** The parts of `window` that an address is read from and written to. */
interface AddressPage {
  readonly location: { readonly hash: string };
  readonly history: Pick<History, "pushState" | "replaceState">;
}

interface AddressChange {
  /** With `#`. */
  readonly fragment: string;
  /** Whether the change adds an entry to the browser's history. */
  readonly isStep: boolean;
}

/** Safari rejects more than 100 writes within 10 s. */
const INTERVAL_MS = 200;
const RETRY_MS = 10_000;

/**
 * Writes changes of the fragment. A step of the history is written at once. Of other changes the first is written at once,
 * and the last one of every 200 ms after it. A write that the browser rejects is repeated after 10 s, or with the next step.
 */
class AddressWriter {
  readonly #page: AddressPage;
  #pending: AddressChange | undefined;
  /** Runs until the next change may be written. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(page: AddressPage) {
    this.#page = page;
  }

  write({ fragment, isStep }: AddressChange): void {
    // The entry that a step leaves keeps the last change before it.
    if (isStep) this.flush();
    this.#pending = { fragment, isStep: isStep || this.#pending?.isStep === true };
    if (isStep || this.#timer === undefined) this.flush();
  }

  /** Writes the pending change now. */
  flush(): void {
    if (this.#pending === undefined) return;
    const { fragment, isStep } = this.#pending;
    if (fragment === this.#page.location.hash) {
      this.#pending = undefined;
      return;
    }
    let delayMs = INTERVAL_MS;
    try {
      this.#page.history[isStep ? "pushState" : "replaceState"](null, "", fragment);
      this.#pending = undefined;
    } catch {
      // The browser has had too many writes.
      delayMs = RETRY_MS;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.flush();
    }, delayMs);
  }
}
