import { randomBytes } from "node:crypto";
import pg from "pg";
import { Fault } from "../errors.ts";
import { chainState, type ChainState } from "./chainAudit.ts";
import { checkEntry, RECORD_TIMEOUT_MS } from "./entry.ts";
import { type RecordResult, type UsageEntry } from "./ledger.ts";
import { closedError, LedgerBase, type LedgerClock, reportTurns } from "./ledgerBase.ts";
import {
  accountOf,
  type ArgumentOf,
  callMethod,
  LONG_METHODS,
  type MethodName,
  REPORT_METHODS,
  type ResultOf,
} from "./methods.ts";
import {
  asLedgerFault,
  connectionConfig,
  openPool,
  type PooledStorage,
  rejectForeignTables,
} from "./postgresConnections.ts";
import { PostgresListener } from "./postgresListener.ts";
import { PostgresRecorder } from "./postgresRecorder.ts";
import { migrate } from "./schema.ts";

const AUDIT_TIMEOUT_MS = 3_600_000;
const LOOKUP_CONNECTION_COUNT = 6;
const REPORT_CONNECTION_COUNT = 2;

export interface PostgresLedgerOptions extends LedgerClock {
  /** `postgres://user:password@host:port/name` */
  readonly database: string;
  /** Time after which an entry is rejected if the server does not respond. */
  readonly recordTimeoutMs?: number | undefined;
  /** Creates the connections that record and listen; tests replace it to inject faults. */
  readonly createClient?: (config: pg.ClientConfig) => pg.Client;
}

/** A ledger in PostgreSQL, which replicas can share. */
export class PostgresLedger extends LedgerBase {
  readonly #recorder: PostgresRecorder;
  readonly #listener: PostgresListener;
  readonly #lookups: PooledStorage;
  readonly #reports: PooledStorage;
  /** For methods that read all events, and for migrations. */
  readonly #audits: PooledStorage;
  readonly #reportQueue = reportTurns(REPORT_CONNECTION_COUNT);
  #closing: Promise<void> | undefined;

  private constructor(options: PostgresLedgerOptions) {
    super(options);
    const { database, now, monotonicNow, recordTimeoutMs = RECORD_TIMEOUT_MS } = options;
    const { createClient = (config) => new pg.Client(config) } = options;
    const config = connectionConfig(database);
    this.#lookups = openPool(config, { max: LOOKUP_CONNECTION_COUNT, nowMs: now });
    this.#reports = openPool(config, { max: REPORT_CONNECTION_COUNT, nowMs: now });
    this.#audits = openPool(config, { max: 1, nowMs: now, statementTimeoutMs: AUDIT_TIMEOUT_MS });
    this.#recorder = new PostgresRecorder({
      createClient: () => createClient(config),
      now,
      isServerClockChecked: monotonicNow !== undefined,
      timeoutMs: recordTimeoutMs,
      onCommit: (commit) => this.notifyCommit(commit),
      onClockFault: (error) => this.noteRejection(error),
    });
    this.#listener = new PostgresListener({
      createClient: () => createClient({ ...config, statement_timeout: 0, query_timeout: 0 }),
      readChangeCount: () => this.#readChangeCount(),
      onChange: (customer) => this.notifyChange(customer),
    });
  }

  /**
   * @throws Fault `configuration_invalid` if the address is invalid, the server's settings do not guarantee durability,
   *   or a newer release wrote the ledger; `ledger_unavailable` if the server cannot be reached
   */
  static async open(options: PostgresLedgerOptions): Promise<PostgresLedger> {
    if (!/^postgres(ql)?:\/\/./.test(options.database) || !URL.canParse(options.database)) {
      const message = "database must be an address such as postgres://user:password@host:port/name.";
      throw new Fault("configuration_invalid", message);
    }
    const ledger = new PostgresLedger(options);
    try {
      await rejectForeignTables(await ledger.#recorder.connect());
      // Filling a new table takes as long as reading all events.
      await migrate(ledger.#audits.storage, () => randomBytes(32).toString("hex"));
      await ledger.#listener.start();
      return ledger;
    } catch (error) {
      await ledger.close();
      throw asLedgerFault(error);
    }
  }

  record(entry: UsageEntry): Promise<RecordResult> {
    checkEntry(entry);
    if (this.#closing !== undefined) return Promise.reject(closedError());
    const { clockDriftFault } = this;
    if (clockDriftFault !== undefined) return Promise.reject(clockDriftFault);
    return this.#recorder.record(entry);
  }

  protected async dispatch<Name extends MethodName>(
    name: Name,
    argument: ArgumentOf<Name>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Name>> {
    if (this.#closing !== undefined) throw closedError();
    const callOn = ({ storage }: PooledStorage): Promise<ResultOf<Name>> => callMethod(storage, name, argument);
    try {
      if (!REPORT_METHODS.has(name)) return await callOn(this.#lookups);
      if (LONG_METHODS.has(name)) return await callOn(this.#audits);
      return await this.#reportQueue.run(accountOf(argument), signal, () => callOn(this.#reports));
    } catch (error) {
      if (signal?.aborted === true && error === signal.reason) throw error;
      throw asLedgerFault(error);
    }
  }

  protected readChainState(query: { readonly batch?: number }): Promise<ChainState> {
    return chainState(this.#lookups.storage, query);
  }

  async #readChangeCount(): Promise<number> {
    const state = this.#lookups.storage.db.selectFrom("ledger_state").select("change_count");
    return (await state.executeTakeFirstOrThrow()).change_count;
  }

  get waitingReportCount(): number {
    return this.#reportQueue.waitingCount;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#listener.stop();
    this.#reportQueue.close(closedError());
    await this.#recorder.drain();
    await this.closeChain();
    this.#recorder.close();
    await this.#listener.close();
    await this.#lookups.pool.end();
    await this.#reports.pool.end();
    await this.#audits.pool.end();
  }
}
