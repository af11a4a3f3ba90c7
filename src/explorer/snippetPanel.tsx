/** The request behind the results, to copy in several languages. */
import { useState } from "preact/hooks";
import { pageFolder } from "./openData.ts";
import { type ApiCall, SNIPPET_LANGUAGES, type SnippetLanguage, snippetOf } from "./snippets.ts";

/** Address in snippets of a published page, which has no service. */
const LOCAL_SERVICE = "http://127.0.0.1:8080";

interface SnippetPanelProps {
  readonly call: ApiCall;
  /** Whether the page gets its numbers from the service that sent it. */
  readonly hasService: boolean;
}

export function SnippetPanel({ call, hasService }: SnippetPanelProps) {
  const [language, setLanguage] = useState<SnippetLanguage>("curl");
  const [message, setMessage] = useState("");
  const text = snippetOf(language, call, hasService ? pageFolder() : LOCAL_SERVICE);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setMessage("Copied."),
      () => setMessage("The browser does not allow copying. Select the text instead."),
    );
  };
  return (
    <section class="snippets" aria-label="Request to copy">
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
            {name}
          </button>
        ))}
        <button type="button" class="copy" onClick={copy}>
          Copy
        </button>
        <span role="status">{message}</span>
      </div>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      {hasService ? null : (
        <p class="hint">Send it to a service of your choice: the page itself computes without one.</p>
      )}
    </section>
  );
}
