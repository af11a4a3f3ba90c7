import type { EngineArguments, EngineFunction, EngineRequest, EngineResponse, EngineResult } from "./engineMessages.ts";
import { ExplorerError, type ExplorerData } from "./explorerData.ts";
import { TileLoader } from "./tileLoader.ts";

/** What the page uses of a worker. */
export interface EngineThread {
  send(request: EngineRequest): void;
  onResponse(listener: (response: EngineResponse) => void): void;
  /** Calls the listener if the worker cannot be loaded or ends with an error. */
  onFailure(listener: (message: string) => void): void;
  /** Ends the worker, with everything that it is doing. */
  end(): void;
}

interface PendingCall {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns the data of a published atlas, computed by the engine in a worker.
 *
 * @param atlasAddress a web address, or "demo"
 */
export function engineData(atlasAddress: string, thread: EngineThread = startEngineWorker()): ExplorerData {
  const calls = new EngineCalls(thread);
  thread.send({ kind: "open", atlasAddress });
  const tiles = new TileLoader((address, signal) => calls.run("valueTile", [address], signal));
  return {
    kind: "published",
    atlasAddress,
    valueTile: (address, signal) => tiles.tile(address, signal),
    catalog: (signal) => calls.run("catalog", [], signal),
    hazardRisk: (query, signal) => calls.run("hazardRisk", [query], signal),
    hazardRiskBatch: (queries, signal) => calls.run("hazardRiskBatch", [queries], signal),
    curve: (query, signal) => calls.run("curve", [query], signal),
    curveBatch: (queries, signal) => calls.run("curveBatch", [queries], signal),
    alignTemperature: (request, parameters, signal) => calls.run("alignTemperature", [request, parameters], signal),
    totalClimateRisk: (request, signal) => calls.run("totalClimateRisk", [request], signal),
    industries: (signal) => calls.run("industries", [], signal),
    countries: (signal) => calls.run("countries", [], signal),
    scenarios: (signal) => calls.run("scenarios", [], signal),
    close: () => calls.close(),
  };
}

/** Sends calls to the worker and resolves them with its responses. */
class EngineCalls {
  readonly #thread: EngineThread;
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;
  /** Set when the worker has failed or has been ended. */
  #failure: ExplorerError | undefined;

  constructor(thread: EngineThread) {
    this.#thread = thread;
    thread.onResponse((response) => {
      const call = this.#pending.get(response.id);
      this.#pending.delete(response.id);
      if ("result" in response) call?.resolve(response.result);
      else {
        const { code, message, items } = response.problem;
        call?.reject(new ExplorerError(code, message, items));
      }
    });
    thread.onFailure((message) =>
      this.#fail(new ExplorerError("engine_failed", `The engine of this page failed: ${message}. Reload the page.`)),
    );
  }

  close(): void {
    this.#thread.end();
    this.#fail(new ExplorerError("engine_closed", "The engine of this page was ended. Reload the page."));
  }

  /** Rejects the pending calls, and later ones. */
  #fail(error: ExplorerError): void {
    this.#failure ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }

  /** @throws ExplorerError; the signal's reason */
  async run<Name extends EngineFunction>(
    name: Name,
    args: EngineArguments<Name>,
    signal: AbortSignal | undefined,
  ): Promise<EngineResult<Name>> {
    signal?.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure;
    const id = ++this.#lastId;
    const onAbort = (): void => {
      this.#pending.get(id)?.reject(signal?.reason);
      this.#pending.delete(id);
      this.#thread.send({ kind: "cancel", id });
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const result = await new Promise<unknown>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject });
        this.#thread.send({ kind: "call", id, name, args });
      });
      return result as EngineResult<Name>;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }
}

function startEngineWorker(): EngineThread {
  const worker = new Worker(new URL("engineWorker.ts", import.meta.url), { type: "module" });
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- for windows; workers have no target origin
    send: (request) => worker.postMessage(request),
    onResponse: (listener) =>
      worker.addEventListener("message", ({ data }: MessageEvent<EngineResponse>) => listener(data)),
    onFailure: (listener) =>
      worker.addEventListener("error", ({ message }) => listener(message === "" ? "it could not be loaded" : message)),
    end: () => worker.terminate(),
  };
}
