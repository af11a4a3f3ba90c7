import { isFault } from "../../errors.ts";
import { openEngine } from "./engine.ts";
import type { Engine, EngineProblem, EngineRequest, EngineResponse } from "./engineMessages.ts";

/** The messages of the worker. */
export interface EnginePort {
  receive(listener: (request: EngineRequest) => void): void;
  send(response: EngineResponse, transfer: ArrayBuffer[]): void;
}

/** Answers the calls of the page, in any order. The first message names the atlas. */
export function serveEngine(port: EnginePort, open: (atlasAddress: string) => Promise<Engine> = openEngine): void {
  const running = new Map<number, AbortController>();
  let engine: Promise<Engine> | undefined;

  const answer = async ({ id, name, args }: EngineRequest & { readonly kind: "call" }): Promise<void> => {
    const abort = new AbortController();
    running.set(id, abort);
    try {
      if (engine === undefined) throw new Error("the first message must name the atlas");
      const run = (await engine)[name] as (...args: readonly unknown[]) => Promise<unknown>;
      abort.signal.throwIfAborted();
      const result = await run(...args, abort.signal);
      if (!abort.signal.aborted) port.send({ id, result }, transferOf(result));
    } catch (error) {
      // The page has forgotten the calls that it cancelled.
      if (!abort.signal.aborted) port.send({ id, problem: problemOf(error) }, []);
    } finally {
      running.delete(id);
    }
  };

  port.receive((request) => {
    if (request.kind === "call") void answer(request);
    else if (request.kind === "cancel") running.get(request.id)?.abort();
    else {
      engine = open(request.atlasAddress);
      engine.catch(() => undefined); // every call reports it
    }
  });
}

/** The steps of a tile are moved to the page instead of being copied. */
function transferOf(result: unknown): ArrayBuffer[] {
  if (typeof result !== "object" || result === null || !("steps" in result)) return [];
  const { steps } = result;
  return steps instanceof Uint16Array && steps.buffer instanceof ArrayBuffer ? [steps.buffer] : [];
}

function problemOf(error: unknown): EngineProblem {
  if (isFault(error)) return { code: error.code, message: error.message, items: error.items };
  return { code: "internal_error", message: `The engine failed: ${String(error)}`, items: [] };
}
