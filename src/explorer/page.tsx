import { type Signal, signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { connectAddressBar } from "./addressBar.ts";
import { App } from "./app.tsx";
import { type Explorer, ExplorerContext } from "./context.ts";
import { KeyForm } from "./keyForm.tsx";
import { createMapModel } from "./map/mapModel.ts";
import { createMapOverlay } from "./map/mapOverlay.ts";
import { configurationAddress } from "./data/publishedData.ts";
import { isCredentialProblem, openSource, type Source } from "./openData.ts";
import { applyFragment } from "./permalink.ts";
import { type Credentials, forgetCredentials, hasCredentials, keepCredentials, takeCredentials } from "./session.ts";
import { type ExplorerState, initialState } from "./state.ts";

/** What the page shows: a form for the key, a loading message, an error, or the explorer. */
type Phase =
  | { readonly kind: "asking"; readonly error?: string }
  | { readonly kind: "opening"; readonly source: Source }
  | { readonly kind: "failed"; readonly source: Source; readonly error: string }
  | { readonly kind: "open"; readonly explorer: Explorer };

/** Opens the data, asks for a key if there is none, and shows the explorer. */
export function Page() {
  const phase = useSignal<Phase>({ kind: "asking" });
  const { state, ignored, credentials, offered } = useMemo(openState, []);
  const openWith = (credentials: Credentials | undefined): void => {
    phase.value =
      credentials === undefined ? { kind: "asking" } : { kind: "opening", source: { kind: "service", credentials } };
  };
  useMemo(() => {
    const configuration = configurationAddress(document);
    if (configuration === undefined) openWith(credentials);
    else phase.value = { kind: "opening", source: { kind: "published", configuration } };
  }, []);
  useEffect(() => offered.subscribe((credentials) => credentials !== undefined && openWith(credentials)), []);
  const source = useComputed(() => (phase.value.kind === "opening" ? phase.value.source : undefined));
  useEffect(() => openPhase(phase, source.value, state), [source.value]);

  const current = phase.value;
  if (current.kind === "asking") return <KeyForm error={current.error} onSubmit={openWith} />;
  if (current.kind === "opening") {
    return (
      <main class="message">
        <h1>Isotherm</h1>
        <p role="status">Loading the catalog of the atlas</p>
      </main>
    );
  }
  if (current.kind === "failed") {
    return (
      <main class="message">
        <h1>Isotherm</h1>
        <p role="alert">{current.error}</p>
        <button type="button" onClick={() => (phase.value = { kind: "opening", source: current.source })}>
          Try again
        </button>
      </main>
    );
  }
  const { explorer } = current;
  const forget = (): void => {
    forgetCredentials(window);
    openWith(undefined);
  };
  return (
    <ExplorerContext.Provider value={explorer}>
      <App ignoredParameters={ignored} onForget={explorer.data.kind === "service" ? forget : undefined} />
    </ExplorerContext.Provider>
  );
}

/** Reads the permalink, after the key has been removed from it, and keeps the address and the state equal from then on. */
function openState() {
  const credentials = takeCredentials(window);
  const state = initialState();
  const ignored = applyFragment(state, window.location.hash);
  // The link that the service prints may be opened in a tab that shows the page already.
  const offered = signal<Credentials | undefined>(undefined);
  connectAddressBar(state, () => {
    if (hasCredentials(window)) offered.value = takeCredentials(window);
  });
  return { state, ignored, credentials, offered };
}

/** Opens the data of the phase `opening`. Returns a function that cancels it. */
function openPhase(phase: Signal<Phase>, source: Source | undefined, state: ExplorerState): (() => void) | undefined {
  if (source === undefined) return undefined;
  const abort = new AbortController();
  openSource(source, abort.signal).then(
    ({ data, catalog }) => {
      if (abort.signal.aborted) return;
      if (source.kind === "service") keepCredentials(window, source.credentials);
      const map = createMapModel(catalog, state);
      phase.value = { kind: "open", explorer: { data, catalog, state, map, overlay: createMapOverlay() } };
    },
    (error: unknown) => {
      if (abort.signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      if (!isCredentialProblem(error)) {
        phase.value = { kind: "failed", source, error: message };
        return;
      }
      forgetCredentials(window);
      phase.value = { kind: "asking", error: message };
    },
  );
  return () => abort.abort();
}
