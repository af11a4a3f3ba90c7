import type { ExplorerError } from "../data/explorerData.ts";

/** Says that a request failed, and what can be done. */
export function FailureNotice({ error, onRetry }: { readonly error: ExplorerError; readonly onRetry: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{error.message}</p>
      {error.items.length > 0 ? (
        <ul>
          {error.items.map(({ detail }) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      ) : null}
      {error.retryAfterS === undefined ? null : <p>Try again in {error.retryAfterS} s.</p>}
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}
