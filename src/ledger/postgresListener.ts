import type pg from "pg";
import { CHANGE_CHANNEL, changedCustomer } from "./changes.ts";
import type { CustomerRef } from "./ledger.ts";

/** How long caches may be out of date if notifications from the server are lost. */
const FALLBACK_POLL_INTERVAL_MS = 5_000;
const RETRY_DELAY_MS = 1_000;

export interface PostgresListenerOptions {
  /** Creates a connection, which is not connected yet. */
  readonly createClient: () => pg.Client;
  /** Returns the number of changes so far. */
  readonly readChangeCount: () => Promise<number>;
  /** Called when entities that are cached may have changed; with a customer, nothing else has. */
  readonly onChange: (customer?: CustomerRef) => void;
}

/** Listens for notifications of changes by other processes, and reconnects when the connection ends. */
export class PostgresListener {
  readonly #options: PostgresListenerOptions;
  #client: pg.Client | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #changeCount = 0;
  #isClosed = false;

  constructor(options: PostgresListenerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#changeCount = await this.#options.readChangeCount();
    await this.#listen();
    this.#pollTimer = setInterval(() => void this.#pollChanges(), FALLBACK_POLL_INTERVAL_MS).unref();
  }

  async #listen(): Promise<void> {
    const client = this.#options.createClient();
    client.on("notification", ({ payload }) => this.#options.onChange(changedCustomer(payload)));
    const reconnect = (): void => {
      if (this.#client !== client) return;
      this.#client = undefined;
      void client.end().catch(() => undefined);
      this.#scheduleListen();
    };
    client.on("error", reconnect);
    client.on("end", reconnect);
    this.#client = client;
    await client.connect();
    await client.query(`listen ${CHANGE_CHANNEL}`);
  }

  #scheduleListen(): void {
    if (this.#isClosed) return;
    this.#retryTimer = setTimeout(() => {
      this.#listen().then(
        // Changes may have been missed while disconnected.
        () => this.#options.onChange(),
        () => {
          const client = this.#client;
          this.#client = undefined;
          void client?.end().catch(() => undefined);
          this.#scheduleListen();
        },
      );
    }, RETRY_DELAY_MS).unref();
  }

  /** Polls for changes, for servers whose notifications get lost, for example behind a connection pooler. */
  async #pollChanges(): Promise<void> {
    try {
      const changeCount = await this.#options.readChangeCount();
      if (changeCount === this.#changeCount) return;
      this.#changeCount = changeCount;
      this.#options.onChange();
    } catch {
      // The calls that need the server report its failure.
    }
  }

  /** Stops polling and reconnecting. */
  stop(): void {
    this.#isClosed = true;
    clearInterval(this.#pollTimer);
    clearTimeout(this.#retryTimer);
  }

  async close(): Promise<void> {
    this.stop();
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }
}
