import type { ServiceProcess } from "../soak/serviceProcess.ts";

/** How busy a service was between two readings. */
export interface ServiceLoad {
  /** Processor time of all threads, as a share of the time that has passed; 2 is two processors. */
  readonly processorShare: number;
  /** Delay of the event loop, 99th percentile. */
  readonly eventLoopDelayP99Ms: number;
}

/** Reads the metrics of a service that was started with `--admin-port 0`. */
export class ServiceMetrics {
  readonly #url: string;
  #readAtMs = performance.now();
  #processorS = 0;

  constructor(service: ServiceProcess) {
    const [, url] = /"metrics":"([^"]+)"/.exec(service.output()) ?? [];
    if (url === undefined) throw new Error(`The service has no metrics: ${service.output()}`);
    this.#url = url;
  }

  /** Returns the value of a metric without labels. */
  async value(name: string): Promise<number> {
    return (await this.#read())(name);
  }

  /** Returns the load since the previous call. */
  async load(): Promise<ServiceLoad> {
    const valueOf = await this.#read();
    const nowMs = performance.now();
    const processorS = valueOf("process_cpu_seconds_total");
    const processorShare = (1000 * (processorS - this.#processorS)) / (nowMs - this.#readAtMs);
    this.#readAtMs = nowMs;
    this.#processorS = processorS;
    return { processorShare, eventLoopDelayP99Ms: 1000 * valueOf("nodejs_eventloop_lag_p99_seconds") };
  }

  /** Reads all metrics. @returns a function that returns the value of one; NaN if there is none */
  async #read(): Promise<(name: string) => number> {
    const text = await (await fetch(this.#url)).text();
    return (name) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? NaN);
  }
}

export function formatLoad({ processorShare, eventLoopDelayP99Ms }: ServiceLoad): string {
  return `processors ${processorShare.toFixed(2)}, event loop delay p99 ${eventLoopDelayP99Ms.toFixed(1)} ms`;
}
