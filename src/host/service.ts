import { Authenticator } from "../ledger/authenticator.ts";
import type { HostAtlas } from "../pool/hostAtlas.ts";
import { SharedCalls } from "../concurrency/sharedCalls.ts";
import { Turns } from "../concurrency/turns.ts";
import { SizedCache } from "../concurrency/sizedCache.ts";
import { version } from "../version.ts";
import { AccountRateLimiter } from "./admission/limiters.ts";
import { AdmissionControl } from "./admission/admissionControl.ts";
import { ClientGate } from "./admission/limiters.ts";
import { BulkRequests } from "./bulk/bulkRequests.ts";
import { ClientAddresses } from "./http/clientAddress.ts";
import { CorsPolicy } from "./http/cors.ts";
import { RequestListener, type RequestListenerOptions } from "./http/requestListener.ts";
import type { ServiceOptions, Settings } from "./options.ts";
import type { ServiceState } from "./serviceGauges.ts";
import { Pipeline } from "./pipeline.ts";
import { ROUTES } from "./routes/routeList.ts";
import { TileTokens } from "./tiles/tileTokens.ts";
import { warmUp } from "./warmUp.ts";

/** Map tiles in progress per worker: one is computed while the worker waits for the data of the other. */
const TILES_PER_WORKER = 2;
/** Memory of the bodies of recent tiles: 85 value tiles with their compressed forms, or some thousand images. */
const TILE_BODY_BYTES_MAX = 32 << 20;

/** Settings that differ between `createHandler` and `serve`. */
export interface ServiceSetup
  extends
    Pick<Settings<unknown>, "limits" | "load" | "clients">,
    Pick<RequestListenerOptions, "workTimeoutMs" | "bodyTimeoutMs" | "bodyRate" | "isContinueDue" | "recordResponse"> {
  /** Called with the reason for each request that was rejected or abandoned because of overload. */
  readonly onShed?: ((reason: string) => void) | undefined;
}

/**
 * The service without a server. All state is in the instance, so that a process can have several services.
 */
export class Service {
  readonly listener: RequestListener;
  readonly addresses: ClientAddresses;
  /** Resolves when the service has warmed up and /readyz reports ready. */
  readonly ready: Promise<void>;
  readonly #options: ServiceOptions;
  readonly #clients: ClientGate;
  readonly #authenticator: Authenticator;
  readonly #admission: AdmissionControl;
  /** Undefined without worker threads. */
  readonly #bulk: BulkRequests | undefined;
  #isWarm = false;
  readonly #closing = new AbortController();

  constructor(options: ServiceOptions, setup: ServiceSetup) {
    const { ledger, prefix = "", corsOrigins = [], trustedProxies = [], log } = options;
    const atlas: HostAtlas = options.atlas;
    const { executor } = atlas;
    const {
      limits,
      load,
      clients: clientLimits,
      onShed = () => undefined,
      workTimeoutMs,
      bodyTimeoutMs,
      bodyRate,
      isContinueDue,
      recordResponse,
    } = setup;
    this.#options = options;
    // Large requests are subject to both jobDeadlineMs and workTimeoutMs; the shorter applies.
    const jobDeadlineMs = Math.min(load.jobDeadlineMs, workTimeoutMs);
    const admission = new AdmissionControl({
      limits: { ...load, jobDeadlineMs },
      workerCount: executor?.workerCount ?? 1,
      onShed,
    });
    this.#admission = admission;
    if (executor !== undefined) {
      const ownerOf = (query: unknown): number | undefined => atlas.ownerOf?.(query);
      this.#bulk = new BulkRequests({ executor, ownerOf, limits, prefix, jobs: admission.jobs });
    }
    this.addresses = new ClientAddresses({ trustedProxies, exemptAddresses: clientLimits.exemptAddresses });
    this.#clients = new ClientGate({ limits: clientLimits, addresses: this.addresses, onShed });
    this.#authenticator = new Authenticator(ledger, {
      startLookup: (address) => this.#clients.startLookup(address),
      countRejectedKey: (address) => this.#clients.countRejectedKey(address),
    });
    const tokens = new TileTokens(ledger);
    // Apart from all other requests, so that clients that pan a map do not delay data calls.
    const gate = new Turns({
      runningMax: executor === undefined ? 1 : TILES_PER_WORKER * executor.workerCount,
      waitingPerTenantMax: limits.tileBurst,
      onFull: (waitingCount) => {
        const message = `The account already has ${waitingCount} map tiles waiting; retry when some have been answered.`;
        return admission.reject("too_many_tiles_of_account", message);
      },
    });
    const tileRate = { requestsPerS: limits.tilesPerS, requestBurst: limits.tileBurst };
    const pipeline = new Pipeline({
      routes: ROUTES,
      services: {
        atlas,
        ledger,
        limits,
        prefix,
        readiness: this,
        tiles: { tokens, gate, calls: new SharedCalls(), recent: new SizedCache(TILE_BODY_BYTES_MAX) },
      },
      authenticator: this.#authenticator,
      rateLimiters: { account: new AccountRateLimiter(limits), tiles: new AccountRateLimiter(tileRate, "tiles") },
      tokens,
      originOf: (request) => this.addresses.originOf(request),
      admission,
      clients: this.#clients,
      cors: new CorsPolicy(corsOrigins),
      bulk: this.#bulk,
      version,
      workTimeoutMs,
    });
    const listenerSettings = { workTimeoutMs, bodyTimeoutMs, bodyRate, isContinueDue, log, recordResponse };
    this.listener = new RequestListener({ pipeline, ...listenerSettings });
    this.ready = this.#becomeReady();
  }

  /** Whether /readyz reports ready: the service is warm, its ledger works, and it is not being closed. */
  get isReady(): boolean {
    return this.#isWarm && !this.#closing.signal.aborted && this.#options.ledger.failure === undefined;
  }

  /** The state of the service that metrics show, except for its connections. */
  get state(): Omit<ServiceState, "connections"> {
    const { ledger } = this.#options;
    return {
      jobs: { jobCount: this.#admission.jobs.count, heldBytes: this.#admission.jobs.heldBytes },
      requestCount: this.listener.activeCount,
      keyLookupCount: this.#clients.lookupCount,
      isLedgerWritable: () =>
        ledger.checkWritable().then(
          () => true,
          () => false,
        ),
      waitingReportCount: ledger.waitingReportCount,
      anchorUnwrittenMs: ledger.anchorUnwrittenMs,
    };
  }

  /** Makes /readyz report 503, and every response close its connection. */
  announceClose(): void {
    this.#closing.abort();
    this.listener.closeConnections();
  }

  /**
   * Answers further requests with 503, finishes those in progress and, if `ownsResources` is set, closes the ledger and the
   * atlas.
   *
   * @param drainTimeoutMs time after which the connections of unfinished responses are destroyed
   */
  async close(drainTimeoutMs: number): Promise<void> {
    this.announceClose();
    await this.listener.close(drainTimeoutMs);
    await this.#admission.jobs.close();
    this.#authenticator.close();
    if (this.#options.ownsResources !== true) return;
    const { atlas, ledger } = this.#options;
    try {
      await ledger.close();
    } finally {
      await atlas.close();
    }
  }

  async #becomeReady(): Promise<void> {
    const { atlas, warmUp: isWarmUpWanted = true } = this.#options;
    if (isWarmUpWanted) {
      // Workers that fail to start are started again with their first job, which reports the error.
      await Promise.all([warmUp(atlas, this.#closing.signal), this.#bulk?.warmUp().catch(() => undefined)]);
    }
    this.#isWarm = true;
  }
}
