/** Returns docs/methods/plausibility.md as computed from dist/, before formatting. */
export function plausibilityPage(): Promise<string>;
