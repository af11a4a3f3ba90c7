/** The worker that runs the engine. */
import { type ParentPort, serveCalls } from "../../concurrency/threadCalls.ts";
import { openEngine } from "./engine.ts";
import type { Engine, EngineCall } from "./engineData.ts";

/** Answers the calls of the page. The first one names the atlas. */
export async function serveEngine(
  port: ParentPort,
  open: (atlasAddress: string) => Promise<Engine> = openEngine,
): Promise<void> {
  let engine: Promise<Engine> | undefined;
  const functions = {
    open: (atlasAddress: string) => {
      engine = open(atlasAddress);
      engine.catch(() => undefined); // every call reports it
      return { result: undefined };
    },
    run: async ({ name, args }: EngineCall, signal: AbortSignal) => {
      if (engine === undefined) throw new Error("the first message must name the atlas");
      const run = (await engine)[name] as (...args: readonly unknown[]) => Promise<unknown>;
      signal.throwIfAborted();
      const result = await run(...args, signal);
      return { result, transfer: transferOf(result) };
    },
  };
  await serveCalls(port, () => Promise.resolve({ functions }));
}

/** The steps of a tile are moved to the page instead of being copied. */
function transferOf(result: unknown): ArrayBuffer[] {
  if (typeof result !== "object" || result === null || !("steps" in result)) return [];
  const { steps } = result;
  return steps instanceof Uint16Array && steps.buffer instanceof ArrayBuffer ? [steps.buffer] : [];
}
