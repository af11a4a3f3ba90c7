import { useEffect, useRef } from "preact/hooks";
import { pageFolder } from "./openData.ts";
import type { Credentials } from "./session.ts";

interface KeyFormProps {
  /** Why the previous key was not accepted. */
  readonly error: string | undefined;
  readonly onSubmit: (credentials: Credentials) => void;
}

/** Asks for the API key and the customer. */
export function KeyForm({ error, onSubmit }: KeyFormProps) {
  const keyInput = useRef<HTMLInputElement>(null);
  const customerInput = useRef<HTMLInputElement>(null);
  useEffect(() => keyInput.current?.focus(), [error]);
  return (
    <main class="message">
      <h1>Isotherm</h1>
      <p>
        Enter an API key of this service and a customer that requests are attributed to. Both are kept in this tab until
        it is closed, and are sent to this service only.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const apiKey = keyInput.current?.value.trim() ?? "";
          const customerId = customerInput.current?.value.trim() ?? "";
          if (apiKey !== "" && customerId !== "") onSubmit({ apiKey, customerId });
        }}
      >
        <label>
          API key
          <input
            ref={keyInput}
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            aria-describedby="key-error"
          />
        </label>
        <label>
          Customer ID
          <input
            ref={customerInput}
            type="text"
            autocomplete="off"
            spellcheck={false}
            required
            placeholder="00000000-0000-4000-8000-000000000000"
          />
        </label>
        <p id="key-error" role="alert">
          {error}
        </p>
        <button type="submit">Open the explorer</button>
      </form>
      <p>
        The operator of the service issues keys. The <a href={`${pageFolder()}docs`}>API page</a> describes how to
        register a customer.
      </p>
    </main>
  );
}
