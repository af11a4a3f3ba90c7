import { type ReadonlySignal, type Signal, signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { connectAddressBar } from "./addressBar.ts";
import { App } from "./app.tsx";
import { type Explorer, ExplorerContext, ForgetKeyContext } from "./context.ts";
import { configurationAddress } from "./data/publishedData.ts";
import { type FaultyCredentials, KeyForm } from "./keyForm.tsx";
import { createMapModel } from "./map/mapModel.ts";
import { createMapOverlay } from "./map/mapOverlay.ts";
import { faultyCredentialOf, openSource, type Source } from "./openData.ts";
import { type LinkReading, readLink } from "./permalink.ts";
import { createListModel, type ListModel } from "./places/listModel.ts";
import { type Credentials, forgetCredentials, hasCredentials, keepCredentials, takeCredentials } from "./session.ts";
import { type ExplorerState, initialState } from "./state.ts";

/** What the page shows: a form for the key, a loading message, an error, or the explorer. */
type Phase =
  | { readonly kind: "asking"; readonly faulty?: FaultyCredentials }
  | { readonly kind: "opening"; readonly source: Source }
  | { readonly kind: "failed"; readonly source: Source; readonly error: string }
  | { readonly kind: "open"; readonly source: Source; readonly explorer: Explorer; readonly places: ListModel };

/** Opens the data, asks for a key if there is none, and shows the explorer. */
export function Page() {
  const phase = useSignal<Phase>({ kind: "asking" });
  /** Credentials of a link that the tab does not use, because it has others. */
  const offered = useSignal<Credentials | undefined>(undefined);
  const { state, link } = useMemo(() => openState(phase, offered), []);
  const source = useComputed(() => (phase.value.kind === "opening" ? phase.value.source : undefined));
  useEffect(() => openPhase({ phase, offered, source: source.value, state, link }), [source.value]);

  const current = phase.value;
  /** Leaves the explorer that is shown. Its list must not send further requests with a key that is no longer used. */
  const leaveTo = (next: Phase): void => {
    if (current.kind === "open") current.places.clear();
    offered.value = undefined;
    phase.value = next;
  };
  const openWith = (credentials: Credentials): void => leaveTo(openingWith(credentials));
  if (current.kind === "asking") return <KeyForm faulty={current.faulty} onSubmit={openWith} />;
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
  const { explorer, places } = current;
  const forget = (): void => {
    forgetCredentials(window);
    leaveTo({ kind: "asking" });
  };
  const other = offered.value;
  return (
    <ExplorerContext.Provider value={explorer}>
      <ForgetKeyContext.Provider value={explorer.data.kind === "service" ? forget : undefined}>
        <App
          places={places}
          ignoredParameters={link.value.ignored}
          otherKey={
            other === undefined
              ? undefined
              : { onUse: () => openWith(other), onDismiss: () => (offered.value = undefined) }
          }
        />
      </ForgetKeyContext.Provider>
    </ExplorerContext.Provider>
  );
}

function openingWith(credentials: Credentials): Phase {
  return { kind: "opening", source: { kind: "service", credentials } };
}

/**
 * Starts to open the data, reads the permalink after the key has been removed from it, and keeps the address and the state
 * equal from then on.
 */
function openState(phase: Signal<Phase>, offered: Signal<Credentials | undefined>) {
  const configuration = configurationAddress(document);
  const useLink = (current?: Credentials): void => {
    const taken = takeCredentials(window, current);
    // A published page needs no key.
    if (configuration !== undefined) return;
    if (taken.offered !== undefined) offered.value = taken.offered;
    if (taken.used !== undefined && phase.peek().kind === "asking") phase.value = openingWith(taken.used);
  };
  useLink();
  if (configuration !== undefined) phase.value = { kind: "opening", source: { kind: "published", configuration } };
  const state = initialState();
  const link = signal(readLink(state, window.location.hash));
  // A link with a key, such as the one that the service prints, may be opened in a tab that shows the page already.
  connectAddressBar(state, link, () => {
    if (!hasCredentials(window)) return;
    const current = phase.peek();
    const source = current.kind === "asking" ? undefined : current.source;
    useLink(source?.kind === "service" ? source.credentials : undefined);
  });
  return { state, link };
}

interface OpeningOptions {
  readonly phase: Signal<Phase>;
  readonly offered: Signal<Credentials | undefined>;
  /** Undefined unless the phase is `opening`. */
  readonly source: Source | undefined;
  readonly state: ExplorerState;
  readonly link: ReadonlySignal<LinkReading>;
}

/** Opens the data of the phase `opening`. Returns a function that cancels it. */
function openPhase({ phase, offered, source, state, link }: OpeningOptions): (() => void) | undefined {
  if (source === undefined) return undefined;
  const abort = new AbortController();
  openSource(source, abort.signal).then(
    ({ data, catalog }) => {
      if (abort.signal.aborted) {
        data.close();
        return;
      }
      if (source.kind === "service") keepCredentials(window, source.credentials);
      const map = createMapModel(catalog, state, link);
      const explorer = { data, catalog, state, map, overlay: createMapOverlay() };
      phase.value = { kind: "open", source, explorer, places: createListModel() };
    },
    (error: unknown) => {
      if (abort.signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      const field = faultyCredentialOf(error);
      if (field === undefined || source.kind !== "service") {
        phase.value = { kind: "failed", source, error: message };
        return;
      }
      forgetCredentials(window);
      const linked = offered.peek();
      offered.value = undefined;
      const given = linked ?? source.credentials;
      phase.value = { kind: "asking", faulty: { field, error: message, given, isFromLink: linked !== undefined } };
    },
  );
  return () => abort.abort();
}
