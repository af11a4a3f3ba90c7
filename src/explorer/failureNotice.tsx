import type { ExplorerError } from "./data/explorerData.ts";
import { faultyCredentialOf } from "./openData.ts";

/** Says that a request failed, and what can be done. */
export function FailureNotice({ error, onRetry }: { readonly error: ExplorerError; readonly onRetry: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>
        {error.message} {adviceFor(error)}
      </p>
      {error.items.length > 0 ? (
        <ul>
          {error.items.map(({ detail }) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      ) : null}
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

function adviceFor(error: ExplorerError): string {
  if (error.retryAfterS !== undefined) return `Wait ${error.retryAfterS} seconds, then try again.`;
  return faultyCredentialOf(error) === undefined
    ? ""
    : "Choose “Forget key” at the top of the page, then enter another key and customer.";
}
