import { useSignal } from "@preact/signals";
import { useExplorer } from "./context.ts";
import type { ExplorerData } from "./data/explorerData.ts";
import { pageFolder } from "./openData.ts";
import {
  LANGUAGE_TITLES,
  SNIPPET_LANGUAGES,
  snippetIn,
  type SnippetLanguage,
  snippetNote,
  type SnippetPrograms,
  type SnippetTarget,
} from "./snippets.ts";
import "./snippetPanel.css";

interface SnippetPanelProps {
  /** What the panel offers, such as "Copy this request". */
  readonly title: string;
  /** Name of the code for assistive technology, such as "Request". */
  readonly codeName: string;
  readonly programs: SnippetPrograms;
  /** The answer to the request, to copy; undefined until it is there. */
  readonly answer: unknown;
  /** What the page sends besides the request. */
  readonly note?: string | undefined;
}

/** A request as a program to copy, and its answer as JSON. */
export function SnippetPanel({ title, codeName, programs, answer, note }: SnippetPanelProps) {
  const target = targetOf(useExplorer().data);
  const language = useSignal<SnippetLanguage>(target.kind === "service" ? "curl" : "typescript");
  const message = useSignal("");
  const languageTitle = LANGUAGE_TITLES[language.value];
  const snippet = snippetIn(language.value, target, programs);
  const copy = async (text: string, what: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      message.value = `${what} copied.`;
    } catch {
      message.value = "The browser does not allow copying. Select the text and copy it.";
    }
  };
  return (
    <details class="snippet-panel">
      <summary>{title}</summary>
      <div class="snippet-buttons" role="group" aria-label="Language">
        {SNIPPET_LANGUAGES.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={language.value === name}
            onClick={() => {
              language.value = name;
              message.value = "";
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
          <p class="note">
            {snippetNote(language.value, target, programs)} {note}
          </p>
          <pre tabIndex={0} role="region" aria-label={`${codeName} as ${languageTitle}`}>
            <code>{snippet.code}</code>
          </pre>
          <div class="snippet-buttons">
            <button type="button" onClick={() => void copy(snippet.code, languageTitle)}>
              Copy
            </button>
            {answer === undefined ? null : (
              <button type="button" onClick={() => void copy(JSON.stringify(answer, undefined, 2), "Answer")}>
                Copy the answer as JSON
              </button>
            )}
          </div>
        </>
      )}
      <p role="status">{message.value}</p>
    </details>
  );
}

/** Returns where programs send requests: the service that sent the page, or the published atlas. */
function targetOf({ atlasAddress }: ExplorerData): SnippetTarget {
  return atlasAddress === undefined
    ? { kind: "service", baseUrl: pageFolder() }
    : { kind: "published", atlasUrl: atlasAddress };
}
