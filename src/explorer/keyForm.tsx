import { useEffect, useRef } from "preact/hooks";
import { pageFolder } from "./openData.ts";
import type { Credentials } from "./session.ts";

/** Why the previous credentials were not accepted. */
export interface FaultyCredentials {
  /** The one to correct. */
  readonly field: keyof Credentials;
  readonly error: string;
  /** What the form contains at first. */
  readonly given: Credentials;
  /** Whether it contains the credentials of a link, which have not been tried. */
  readonly isFromLink: boolean;
}

interface KeyFormProps {
  readonly faulty: FaultyCredentials | undefined;
  readonly onSubmit: (credentials: Credentials) => void;
}

/** Asks for the API key and the customer. */
export function KeyForm({ faulty, onSubmit }: KeyFormProps) {
  const keyInput = useRef<HTMLInputElement>(null);
  const customerInput = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const [key, customer] = [keyInput.current, customerInput.current];
    if (key === null || customer === null) return;
    // As properties: attributes would be part of the document's text.
    key.value = faulty?.given.apiKey ?? "";
    customer.value = faulty?.given.customerId ?? "";
    const first = faulty?.field === "customerId" ? customer : key;
    first.focus();
    first.select();
  }, [faulty]);
  const descriptionOf = (field: keyof Credentials) => ({
    "aria-invalid": faulty?.field === field && !faulty.isFromLink,
    "aria-describedby": faulty?.field === field ? "key-error" : undefined,
  });
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
            {...descriptionOf("apiKey")}
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
            {...descriptionOf("customerId")}
          />
        </label>
        <p id="key-error" role="alert">
          {faulty?.error}
          {faulty?.isFromLink === true
            ? " The link contains another key and customer, which are entered above. Open the explorer to use them."
            : ""}
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
