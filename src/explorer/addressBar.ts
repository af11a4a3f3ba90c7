/** Keeps the address of the page and the state equal. */
import { batch, effect } from "@preact/signals";
import { applyFragment, fragmentOf, historyStepOf } from "./permalink.ts";
import type { ExplorerState, View } from "./state.ts";

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
  let isReading = true;
  effect(() => {
    const fragment = `#${fragmentOf(state)}`;
    const nextStep = historyStepOf(state);
    const isStep = nextStep !== step && !isReading;
    step = nextStep;
    isReading = false;
    if (fragment === window.location.hash) return;
    window.history[isStep ? "pushState" : "replaceState"](null, "", fragment);
  });
  const read = (): void => {
    isReading = true;
    batch(() => applyFragment(state, window.location.hash));
    isReading = false;
  };
  window.addEventListener("popstate", read);
}
