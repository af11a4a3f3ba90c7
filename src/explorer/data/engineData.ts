import { ThreadCalls, type ReplyMessage, type WorkerThread } from "../../concurrency/threadCalls.ts";
import { isFault } from "../../errors.ts";
import { ExplorerError, type ExplorerData } from "./explorerData.ts";
import { TileLoader } from "./tileLoader.ts";

/** The functions of the engine, which the worker runs: everything that a view can request. */
export type Engine = Omit<ExplorerData, "kind" | "atlasAddress" | "newRelease" | "close">;
type EngineFunction = keyof Engine;

/** Parameters of a function without the signal, which cannot be sent to a worker. */
type EngineArguments<Name extends EngineFunction> =
  Required<Parameters<Engine[Name]>> extends [...infer Arguments, AbortSignal] ? Arguments : never;

/** A call of a function in the worker. */
export interface EngineCall {
  readonly name: EngineFunction;
  readonly args: readonly unknown[];
}

/**
 * Returns the data of a published atlas, computed by the engine in a worker.
 *
 * @param atlasAddress a web address, or "demo"
 */
export function engineData(atlasAddress: string, thread: WorkerThread = startEngineWorker()): ExplorerData {
  const calls = new ThreadCalls(thread);
  calls.call("open", atlasAddress).catch(() => undefined); // every call reports a failure
  /** @throws ExplorerError; the signal's reason */
  const run = async <Name extends EngineFunction>(
    name: Name,
    args: EngineArguments<Name>,
    signal: AbortSignal | undefined,
  ): Promise<Awaited<ReturnType<Engine[Name]>>> => {
    try {
      return (await calls.call("run", { name, args } satisfies EngineCall, { signal })) as Awaited<
        ReturnType<Engine[Name]>
      >;
    } catch (error) {
      if (signal?.aborted === true || error instanceof ExplorerError) throw error;
      if (isFault(error)) throw new ExplorerError(error.code, error.message, error.items);
      throw new ExplorerError("internal_error", `The engine failed: ${String(error)}`);
    }
  };
  const tiles = new TileLoader((address, signal) => run("valueTile", [address], signal));
  return {
    kind: "published",
    atlasAddress,
    valueTile: (address, signal) => tiles.tile(address, signal),
    catalog: (signal) => run("catalog", [], signal),
    hazardRisk: (query, signal) => run("hazardRisk", [query], signal),
    hazardRiskBatch: (queries, signal) => run("hazardRiskBatch", [queries], signal),
    curve: (query, signal) => run("curve", [query], signal),
    curveBatch: (queries, signal) => run("curveBatch", [queries], signal),
    alignTemperature: (request, parameters, signal) => run("alignTemperature", [request, parameters], signal),
    totalClimateRisk: (request, signal) => run("totalClimateRisk", [request], signal),
    industries: (signal) => run("industries", [], signal),
    countries: (signal) => run("countries", [], signal),
    scenarios: (signal) => run("scenarios", [], signal),
    close: () =>
      void calls.end(new ExplorerError("engine_closed", "The engine of this page was ended. Reload the page.")),
  };
}

function startEngineWorker(): WorkerThread {
  const worker = new Worker(new URL("engineWorker.ts", import.meta.url), { type: "module" });
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- for windows; workers have no target origin
    send: (message, transfer = []) => worker.postMessage(message, { transfer: [...transfer] }),
    onMessage: (listener) =>
      worker.addEventListener("message", ({ data }: MessageEvent<ReplyMessage>) => listener(data)),
    onEnd: (listener) =>
      worker.addEventListener("error", ({ message }) => {
        const reason = message === "" ? "it could not be loaded" : message;
        listener(new ExplorerError("engine_failed", `The engine of this page failed: ${reason}. Reload the page.`));
      }),
    setReferenced: () => undefined,
    end: () => Promise.resolve(worker.terminate()),
  };
}
