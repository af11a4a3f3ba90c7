import { useSignal } from "@preact/signals";
import { useExplorer } from "../context.ts";
import type { ExplorerData } from "../data/explorerData.ts";
import { pageFolder } from "../openData.ts";
import { LANGUAGE_TITLES, SNIPPET_LANGUAGES, type SnippetLanguage, type SnippetTarget } from "../snippets.ts";
import { querySnippet, type SnippetCall, snippetNote } from "./querySnippets.ts";

const QUERY_TITLES: Readonly<Record<SnippetCall["method"], string>> = {
  hazardRisk: "Query of the values",
  curve: "Query of the curves",
};

interface SnippetSectionProps {
  readonly call: SnippetCall;
  readonly answer: unknown;
}

/** The query that is shown, as a program to copy, and its answer as JSON. */
export function SnippetSection({ call, answer }: SnippetSectionProps) {
  const target = snippetTarget(useExplorer().data);
  const language = useSignal<SnippetLanguage>(target.kind === "service" ? "curl" : "typescript");
  const copied = useSignal("");
  const snippet = querySnippet(language.value, target, call);
  const copy = async (text: string, what: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      copied.value = `${what} copied.`;
    } catch {
      copied.value = "The browser does not allow copying. Select the text and copy it.";
    }
  };
  return (
    <details class="panel-part">
      <summary>Copy the {QUERY_TITLES[call.method].toLowerCase()}</summary>
      <div class="snippet-languages" role="group" aria-label="Language">
        {SNIPPET_LANGUAGES.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={language.value === name}
            onClick={() => {
              language.value = name;
              copied.value = "";
            }}
          >
            {LANGUAGE_TITLES[name]}
          </button>
        ))}
      </div>
      {"unavailable" in snippet ? (
        <p class="note">{snippet.unavailable}</p>
      ) : (
        <>
          <p class="note">{snippetNote(language.value, target, call)}</p>
          <pre
            class="snippet"
            tabIndex={0}
            role="group"
            aria-label={`${QUERY_TITLES[call.method]} as ${LANGUAGE_TITLES[language.value]}`}
          >
            <code>{snippet.code}</code>
          </pre>
          <div class="snippet-actions">
            <button type="button" onClick={() => void copy(snippet.code, LANGUAGE_TITLES[language.value])}>
              Copy
            </button>
            <button type="button" onClick={() => void copy(JSON.stringify(answer, undefined, 2), "Answer")}>
              Copy the answer as JSON
            </button>
          </div>
        </>
      )}
      <p role="status">{copied.value}</p>
    </details>
  );
}

/** Returns where programs send queries: the service that sent the page, or the published atlas. */
function snippetTarget({ atlasAddress }: ExplorerData): SnippetTarget {
  return atlasAddress === undefined
    ? { kind: "service", baseUrl: pageFolder() }
    : { kind: "published", atlasUrl: atlasAddress };
}
