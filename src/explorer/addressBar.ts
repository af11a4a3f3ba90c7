/** Keeps the address of the page and the state equal. */
import { batch, effect, type Signal, untracked } from "@preact/signals";
import { type AddressPage, AddressWriter } from "./addressWriter.ts";
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
