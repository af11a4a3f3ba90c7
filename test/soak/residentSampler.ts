import { setTimeout } from "node:timers/promises";
import type { ServiceProcess } from "./serviceProcess.ts";

/** Samples the resident memory of a service until stopped, or until the service has exited. */
export function sampleResidentBytes(
  service: ServiceProcess,
  { intervalMs = 250 }: { readonly intervalMs?: number } = {},
): { stop(): Promise<readonly number[]> } {
  const stopped = new AbortController();
  const samples: number[] = [];
  const sampling = (async () => {
    while (!stopped.signal.aborted) {
      const residentBytes = await service.residentBytes().catch(() => undefined);
      if (residentBytes === undefined) break;
      samples.push(residentBytes);
      await setTimeout(intervalMs);
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await sampling;
      return samples;
    },
  };
}
