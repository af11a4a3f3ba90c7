import { signal } from "@preact/signals";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type AddressBarPage, connectAddressBar, withoutHistoryStep } from "../../src/explorer/addressBar.ts";
import { type ExplorerState, initialState } from "../../src/explorer/state.ts";

/** A tab with its history, and the state of the page in it. */
class Tab implements AddressBarPage {
  readonly #events = new EventTarget();
  /** Fragments of the history; the last one is the present entry. */
  readonly entries: string[];
  /** All writes, as the name of the method and the radius in the fragment. */
  readonly writes: string[] = [];
  isRejecting = false;
  readonly state: ExplorerState = initialState();

  constructor(fragment = "#view=hazards") {
    this.entries = [fragment];
    connectAddressBar(this.state, signal({ accepted: new Set(), ignored: [] }), () => undefined, this);
  }

  get location() {
    return { hash: this.entries.at(-1) ?? "" };
  }

  readonly history = {
    pushState: (_: unknown, __: string, fragment?: string | URL | null): void => {
      this.#write("push", fragment);
      this.entries.push(String(fragment));
    },
    replaceState: (_: unknown, __: string, fragment?: string | URL | null): void => {
      this.#write("replace", fragment);
      this.entries.splice(-1, 1, String(fragment));
    },
  };

  addEventListener(type: string, listener: () => void): void {
    this.#events.addEventListener(type, listener);
  }

  dispatch(type: string): void {
    this.#events.dispatchEvent(new Event(type));
  }

  #write(method: string, fragment: string | URL | null | undefined): void {
    this.writes.push(`${method} ${radiusIn(String(fragment))}`);
    if (this.isRejecting) throw new DOMException("too many calls", "SecurityError");
  }
}

function radiusIn(fragment: string | undefined): string {
  return new URLSearchParams(fragment?.slice(1)).get("radius") ?? "0";
}

/** Opens a tab that has written its first address, and may write again. */
function openTab(): Tab {
  const tab = new Tab();
  vi.advanceTimersByTime(200);
  tab.writes.length = 0;
  return tab;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the address bar", () => {
  test("writes the state when it is connected", () => {
    const tab = new Tab("#view=places&unknown=1");
    expect(tab.entries).toEqual([expect.stringMatching(/^#view=hazards&hazard=riverine_floods/)]);
  });

  test("writes the first step of a slider at once, then the last one of every 200 ms", () => {
    const tab = openTab();
    for (let radius = 1; radius <= 50; radius++) {
      tab.state.radiusKm.value = radius;
      vi.advanceTimersByTime(10);
    }
    expect(tab.writes).toEqual(["replace 1", "replace 20", "replace 40"]);
    vi.advanceTimersByTime(200);
    expect(tab.writes).toEqual(["replace 1", "replace 20", "replace 40", "replace 50"]);
    vi.advanceTimersByTime(60_000);
    expect(tab.writes).toHaveLength(4);
    expect(tab.entries).toHaveLength(1);
  });

  test.each(["pagehide", "visibilitychange"])("writes the last change on %s, once", (type) => {
    const tab = openTab();
    tab.state.radiusKm.value = 1;
    tab.state.radiusKm.value = 2;
    expect(tab.writes).toEqual(["replace 1"]);
    tab.dispatch(type);
    expect(tab.writes).toEqual(["replace 1", "replace 2"]);
    vi.advanceTimersByTime(60_000);
    expect(tab.writes).toHaveLength(2);
  });

  test("does not write a change that was undone before it was written", () => {
    const tab = openTab();
    tab.state.radiusKm.value = 1;
    tab.state.radiusKm.value = 2;
    tab.state.radiusKm.value = 1;
    vi.advanceTimersByTime(60_000);
    expect(tab.writes).toEqual(["replace 1"]);
  });

  test("adds a step to the history at once, and the entry before it keeps its last change", () => {
    const tab = openTab();
    tab.state.radiusKm.value = 1;
    tab.state.radiusKm.value = 2;
    tab.state.year.value = 2030;
    expect(tab.writes).toEqual(["replace 1", "replace 2", "push 2"]);
    tab.state.year.value = 2080;
    expect(tab.entries.map((entry) => /year=(\d+)/.exec(entry)?.[1])).toEqual(["2050", "2030", "2080"]);
    expect(tab.entries.map(radiusIn)).toEqual(["2", "2", "2"]);
  });

  test("a change without a step of the history replaces the entry", () => {
    const tab = openTab();
    withoutHistoryStep(tab.state, () => (tab.state.year.value = 2030));
    expect(tab.entries).toEqual([expect.stringContaining("year=2030")]);
  });

  test("repeats a write that the browser rejects after 10 s, with the last change", () => {
    const tab = openTab();
    tab.isRejecting = true;
    tab.state.radiusKm.value = 1;
    tab.state.radiusKm.value = 2;
    vi.advanceTimersByTime(9_999);
    expect(tab.writes).toEqual(["replace 1"]);
    tab.isRejecting = false;
    vi.advanceTimersByTime(1);
    expect(tab.writes).toEqual(["replace 1", "replace 2"]);
    expect(tab.entries.map(radiusIn)).toEqual(["2"]);
  });

  test("repeats a step that the browser rejects as a step", () => {
    const tab = openTab();
    tab.isRejecting = true;
    tab.state.year.value = 2030;
    tab.state.radiusKm.value = 2;
    tab.isRejecting = false;
    vi.advanceTimersByTime(10_000);
    expect(tab.entries.map((entry) => /year=(\d+)/.exec(entry)?.[1])).toEqual(["2050", "2030"]);
    expect(tab.entries.map(radiusIn)).toEqual(["0", "2"]);
  });

  test("does not write a change of an entry that the user has left", () => {
    const tab = openTab();
    tab.state.year.value = 2030;
    vi.advanceTimersByTime(200);
    tab.state.radiusKm.value = 1;
    tab.state.radiusKm.value = 2;
    tab.writes.length = 0;
    tab.entries.pop();
    tab.dispatch("popstate");
    expect([tab.state.year.value, tab.state.radiusKm.value]).toEqual([2050, 0]);
    vi.advanceTimersByTime(60_000);
    expect(tab.writes).toEqual([]);
    expect(tab.entries).toHaveLength(1);
  });

  test("restores the state after a link that contained only the key", () => {
    const tab = openTab();
    tab.state.radiusKm.value = 2;
    tab.entries.splice(-1, 1, "");
    tab.dispatch("hashchange");
    vi.advanceTimersByTime(200);
    expect(tab.entries.map(radiusIn)).toEqual(["2"]);
  });
});
