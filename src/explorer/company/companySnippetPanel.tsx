/** The request behind the results, to copy in several languages. */
import { useState } from "preact/hooks";
import { useExplorer } from "../context.ts";
import { pageFolder } from "../openData.ts";
import { LANGUAGE_TITLES, SNIPPET_LANGUAGES, type SnippetLanguage, type SnippetTarget } from "../snippets.ts";
import { type CompanyCall, companySnippet, companySnippetNote } from "./companySnippets.ts";

interface SnippetPanelProps {
  readonly call: CompanyCall;
  /** The answer to the request, to copy; undefined until it is there. */
  readonly answer: unknown;
  /** What the page sends besides the request. */
  readonly note?: string;
}

export function CompanySnippetPanel({ call, answer, note }: SnippetPanelProps) {
  // Programs for the library compute without an atlas.
  const target: SnippetTarget =
    useExplorer().data.kind === "service"
      ? { kind: "service", baseUrl: pageFolder() }
      : { kind: "published", atlasUrl: pageFolder() };
  const [language, setLanguage] = useState<SnippetLanguage>(target.kind === "service" ? "curl" : "typescript");
  const [message, setMessage] = useState("");
  const snippet = companySnippet(language, target, call);
  const copy = (text: string, what: string): void => {
    navigator.clipboard.writeText(text).then(
      () => setMessage(`${what} copied.`),
      () => setMessage("The browser does not allow copying. Select the text and copy it."),
    );
  };
  return (
    <details class="snippets">
      <summary>Copy this request</summary>
      <div class="snippet-bar" role="group" aria-label="Language">
        {SNIPPET_LANGUAGES.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === language}
            onClick={() => {
              setLanguage(name);
              setMessage("");
            }}
          >
            {LANGUAGE_TITLES[name]}
          </button>
        ))}
      </div>
      {"unavailable" in snippet ? (
        <p class="hint">{snippet.unavailable}</p>
      ) : (
        <>
          <p class="hint">
            {companySnippetNote(language, target, call)} {note}
          </p>
          <pre tabIndex={0} role="region" aria-label={`Request as ${LANGUAGE_TITLES[language]}`}>
            <code>{snippet.code}</code>
          </pre>
          <div class="buttons">
            <button type="button" onClick={() => copy(snippet.code, LANGUAGE_TITLES[language])}>
              Copy
            </button>
            {answer === undefined ? null : (
              <button type="button" onClick={() => copy(JSON.stringify(answer, undefined, 2), "Answer")}>
                Copy the answer as JSON
              </button>
            )}
          </div>
        </>
      )}
      <p role="status">{message}</p>
    </details>
  );
}
