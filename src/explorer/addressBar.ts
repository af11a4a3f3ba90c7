/** Keeps the address of the page and the state equal. */
import { batch, effect, untracked } from "@preact/signals";
import { applyFragment, fragmentOf, historyStepOf } from "./permalink.ts";
import type { ExplorerState, View } from "./state.ts";

/** Events after which the fragment may have changed: going back or forward, and editing the address. */
export const FRAGMENT_EVENTS = ["popstate", "hashchange"] as const;

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
 */
export function connectAddressBar(state: ExplorerState): void {
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
    const { hash } = window.location;
    if (hash === `#${untracked(() => fragmentOf(state))}`) return;
    // A link that contains nothing but the key keeps the state.
    if (hash === "") window.history.replaceState(null, "", `#${fragmentOf(state)}`);
    else withoutHistoryStep(state, () => applyFragment(state, hash));
  };
  for (const event of FRAGMENT_EVENTS) window.addEventListener(event, read);
}
