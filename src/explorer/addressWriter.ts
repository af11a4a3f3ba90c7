/** Writes the fragment of the page's address, rarely enough for every browser. */

/** The parts of `window` that an address is read from and written to. */
export interface AddressPage {
  readonly location: { readonly hash: string };
  readonly history: Pick<History, "pushState" | "replaceState">;
}

export interface AddressChange {
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
export class AddressWriter {
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
