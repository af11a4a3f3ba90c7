import { useContext } from "preact/hooks";
import { ForgetKeyContext } from "./context.ts";
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
      <RecoveryButton error={error} onRetry={onRetry} />
    </div>
  );
}

/** Tries again; if the service rejects the key or the customer, forgets both instead, because a repetition fails too. */
export function RecoveryButton({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  const onForget = useContext(ForgetKeyContext);
  const isKeyFaulty = onForget !== undefined && faultyCredentialOf(error) !== undefined;
  return (
    <button type="button" onClick={isKeyFaulty ? onForget : onRetry}>
      {isKeyFaulty ? "Forget key" : "Try again"}
    </button>
  );
}

function adviceFor(error: ExplorerError): string {
  if (error.retryAfterS !== undefined) return `Wait ${error.retryAfterS} seconds, then try again.`;
  return faultyCredentialOf(error) === undefined ? "" : "Choose “Forget key”, then enter another key and customer.";
}
