import { type Signal, useComputed, useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useContext, useEffect } from "preact/hooks";
import { ForgetKeyContext, useExplorer } from "./context.ts";
import { HazardControls } from "./mapView/hazardControls.tsx";
import { HazardMap } from "./mapView/hazardMap.tsx";
import { Legend } from "./mapView/legend.tsx";
import { PlacePanel } from "./place/placePanel.tsx";
import { PlaceSearch } from "./place/placeSearch.tsx";
import type { ListModel } from "./places/listModel.ts";
import { PlacesList } from "./places/placesList.tsx";
import type { View } from "./state.ts";
import { viewLink } from "./addressBar.ts";

const VIEW_NAMES: Readonly<Record<View, string>> = {
  hazards: "Hazard map",
  places: "Places",
  alignment: "Temperature",
  "climate-risk": "Climate risk",
};

/** Parts of the hazard views, which a narrow screen shows one at a time. */
const TABS = ["map", "settings", "details"] as const;
type Tab = (typeof TABS)[number];

interface AppProps {
  /** The list of places, and the values computed with the key that is used. */
  readonly places: ListModel;
  /** Parameters of the address that are unknown or faulty. */
  readonly ignoredParameters: readonly string[];
  /** What the user can do with the key of a link, if it is not the key of the tab. */
  readonly otherKey: { readonly onUse: () => void; readonly onDismiss: () => void } | undefined;
}

/** The page, once it has a catalog: header, navigation and the chosen view. */
export function App({ places, ignoredParameters, otherKey }: AppProps) {
  const onForget = useContext(ForgetKeyContext);
  const { data, state, catalog, map } = useExplorer();
  const replacement = map.replacement.value;
  const newRelease = data.newRelease?.value;
  const view = state.view.value;
  useEffect(() => {
    document.title = `${VIEW_NAMES[view]} - Isotherm explorer`;
  }, [view]);
  return (
    <>
      <a class="skip-link" href="#content" onClick={focusContent}>
        Skip to the content
      </a>
      <header class="page-header">
        <h1>Isotherm</h1>
        <nav aria-label="Views">
          {(Object.keys(VIEW_NAMES) as View[]).map((name) => (
            <a
              key={name}
              href={viewLink(state, name)}
              aria-current={name === view ? "page" : undefined}
              onClick={(event) => {
                if (opensNewTab(event)) return;
                event.preventDefault();
                state.view.value = name;
              }}
            >
              {VIEW_NAMES[name]}
            </a>
          ))}
        </nav>
        <p class="release" title={`Atlas release ${catalog.release}`}>
          Atlas <span>{catalog.release}</span>
        </p>
        <ColorSchemeSwitch />
        {onForget === undefined ? null : (
          <button type="button" class="quiet" onClick={onForget}>
            Forget key
          </button>
        )}
      </header>
      {catalog.synthetic ? (
        <section class="synthetic" aria-label="About the data">
          <strong>Synthetic data.</strong> All hazard values of this atlas are invented. Do not base decisions on them.
        </section>
      ) : null}
      <div role="status">
        {ignoredParameters.length === 0 ? null : (
          <p class="notice">
            The address contains values that are not understood and were ignored: {ignoredParameters.join(", ")}.
          </p>
        )}
        {replacement === undefined ? null : <p class="notice">{replacement}</p>}
        {newRelease === undefined ? null : (
          <div class="notice">
            The service now answers from another release of the atlas ({newRelease}). This page was opened with{" "}
            {catalog.release}, so its values can belong to either of them.{" "}
            <button type="button" onClick={() => window.location.reload()}>
              Load the page again
            </button>
          </div>
        )}
        {otherKey === undefined ? null : (
          <div class="notice">
            The link contains another API key or customer. This tab continues with its present ones.{" "}
            <button type="button" onClick={otherKey.onUse}>
              Use those of the link
            </button>{" "}
            <button type="button" onClick={otherKey.onDismiss}>
              Keep the present ones
            </button>
          </div>
        )}
      </div>
      <main id="content" tabIndex={-1}>
        {view === "hazards" || view === "places" ? <HazardViews view={view} places={places} /> : null}
        {view === "alignment" ? <OnDemand load={loadAlignmentView} /> : null}
        {view === "climate-risk" ? <OnDemand load={loadClimateRiskView} /> : null}
      </main>
    </>
  );
}

interface HazardViewsProps {
  readonly view: "hazards" | "places";
  readonly places: ListModel;
}

/** The map with its settings, and the chosen place or the list of places beside it. */
function HazardViews({ view, places }: HazardViewsProps) {
  const { state } = useExplorer();
  const tab = useSignal<Tab>("map");
  const hasPlace = useComputed(() => state.place.value !== undefined);
  useEffect(() => {
    if (view === "places" && places.list.peek() === undefined) tab.value = "details";
  }, [view]);
  const tabNames: Readonly<Record<Tab, string>> = {
    map: "Map",
    settings: "Settings",
    details: view === "hazards" ? "Place" : "List",
  };
  return (
    <div class={`hazard-views view-${view} show-${tab.value}`}>
      <div class="tabs" role="group" aria-label="Parts of the view">
        {TABS.map((name) => (
          <button key={name} type="button" aria-pressed={tab.value === name} onClick={() => (tab.value = name)}>
            {tabNames[name]}
            {name === "details" && view === "hazards" && hasPlace.value ? (
              <span class="dot" aria-hidden="true" />
            ) : null}
          </button>
        ))}
      </div>
      <section class="settings" aria-label="Settings of the map">
        <HazardControls />
        <Legend />
      </section>
      <section class="map" aria-label="Map">
        <HazardMap />
        {view === "hazards" && hasPlace.value ? (
          <button type="button" class="to-details" onClick={() => (tab.value = "details")}>
            Show the values of the place
          </button>
        ) : null}
      </section>
      <section class="details" aria-label={view === "hazards" ? "Place" : "List of places"}>
        {view === "hazards" ? (
          <>
            <PlaceSearch />
            <PlacePanel />
          </>
        ) : (
          <PlacesList model={places} />
        )}
      </section>
    </div>
  );
}

const loadAlignmentView = async () => (await import("./company/alignmentView.tsx")).AlignmentView;
const loadClimateRiskView = async () => (await import("./company/climateRiskView.tsx")).ClimateRiskView;

/** A view that is loaded when it is first shown. */
function OnDemand({ load }: { readonly load: () => Promise<ComponentType> }) {
  const loaded: Signal<{ readonly Component?: ComponentType; readonly isFailed?: boolean }> = useSignal({});
  const start = (): void => {
    loaded.value = {};
    load().then(
      (Component) => (loaded.value = { Component }),
      () => (loaded.value = { isFailed: true }),
    );
  };
  useEffect(start, [load]);
  const { Component, isFailed } = loaded.value;
  if (Component !== undefined) return <Component />;
  if (isFailed !== true) return <p role="status">Loading</p>;
  return (
    <p role="alert">
      This view could not be loaded. <button onClick={start}>Try again</button>
    </p>
  );
}

function opensNewTab({ ctrlKey, metaKey, shiftKey, button }: MouseEvent): boolean {
  return ctrlKey || metaKey || shiftKey || button !== 0;
}

/** Moves the focus without changing the fragment, which contains the state. */
function focusContent(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#content")?.focus();
}

const SCHEMES = { "light dark": "System", light: "Light", dark: "Dark" } as const;
type Scheme = keyof typeof SCHEMES;

/** Follows the color scheme of the system until the user chooses one, for as long as the page is open. */
function ColorSchemeSwitch() {
  const scheme = useSignal<Scheme>("light dark");
  useEffect(() => {
    document.documentElement.style.colorScheme = scheme.value;
  }, [scheme.value]);
  return (
    <label class="color-scheme">
      <span class="visually-hidden">Colors of the page</span>
      <select value={scheme.value} onChange={({ currentTarget }) => (scheme.value = currentTarget.value as Scheme)}>
        {Object.entries(SCHEMES).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
