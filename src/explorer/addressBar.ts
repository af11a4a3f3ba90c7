/** Keeps the address of the page and the state equal. */
import { batch, effect, untracked } from "@preact/signals";
import { applyFragment, fragmentOf, historyStepOf } from "./permalink.ts";
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

/**
 * Writes the state into the fragment, and sets the state when the user goes back or edits the fragment. Changes of the map
 * and of sliders replace the entry of the history; others add one.
 *
 * @param beforeRead is called when the fragment has changed, before it is read
 */
export function connectAddressBar(state: ExplorerState, beforeRead: () => void): void {
  let step = historyStepOf(state);
  isReplacing = true;
  effect(() => {
    const fragment = `#${fragmentOf(state)}`;
    const nextStep = historyStepOf(state);
    const isStep = nextStep !== step && !isReplacing;
    step = nextStep;
    isReplacing = false;
    if (fragment === window.location.hash) return;
    window.history[isStep ? "pushState" : "replaceState"](null, "", fragment);
  });
  const read = (): void => {
    beforeRead();
    const { hash } = window.location;
    if (hash === `#${untracked(() => fragmentOf(state))}`) return;
    // A link that contains nothing but the key keeps the state.
    if (hash === "") window.history.replaceState(null, "", `#${fragmentOf(state)}`);
    else withoutHistoryStep(state, () => applyFragment(state, hash));
  };
  // Going back or forward, and editing the address.
  window.addEventListener("popstate", read);
  window.addEventListener("hashchange", read);
}
