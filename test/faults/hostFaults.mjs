// Faults of the request handling and of the process.
import { subscribe } from "node:diagnostics_channel";
import { built, replacing } from "./replacing.mjs";

const { openAtlas } = await built("openAtlas.js");
const { serve } = await built("host/main.js");

/** Returns parts of the service with an atlas whose `hazardRisk` queries are handled by `answer`. */
const atlasWith = (answer) => ({
  async openAtlas(...address) {
    const atlas = await openAtlas(...address);
    return replacing(atlas, {
      // Answers in memory do not avoid the fault.
      readHazardRisk: () => undefined,
      hazardRisk: (query, ...rest) => answer(query, () => atlas.hazardRisk(query, ...rest)),
    });
  },
});

/** The longest delay of a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const RETAINED_BYTES = 32_768;
const retained = [];
let previous;

/** Time after which a server that closes without draining destroys the connections in use. */
const PLAIN_CLOSE_MS = 2000;

export const hostFaults = {
  /** The log contains the queries. */
  "logs-requests": atlasWith((query, answer) => {
    process.stdout.write(`${JSON.stringify({ query })}\n`);
    return answer();
  }),

  /** Hazard queries are never answered, and have no deadline. */
  "never-answers": {
    ...atlasWith(() => new Promise(() => undefined)),
    serve: (options) =>
      serve({
        ...options,
        warmUp: false,
        timeouts: { ...options.timeouts, workTimeoutMs: TIMER_MS_MAX, inactivityTimeoutMs: TIMER_MS_MAX },
      }),
  },

  /** Every query gets the result of the one before it. */
  "returns-previous-results": atlasWith(async (_query, answer) => {
    const result = await answer();
    const returned = previous ?? result;
    previous = result;
    return returned;
  }),

  /** Every query leaks memory. */
  "retains-requests": atlasWith((query, answer) => {
    retained.push(Buffer.from(JSON.stringify(query).padEnd(RETAINED_BYTES)));
    return answer();
  }),

  /**
   * On SIGTERM, the HTTP server is closed immediately, without the drain delay and without `Connection: close` in
   * responses.
   */
  "closes-without-draining": {
    async serve(options) {
      let server;
      subscribe("http.server.request.start", (message) => ({ server } = message));
      const running = await serve(options);
      const close = async () => {
        if (server?.listening !== true) return running.close({ drainDelayMs: 0 });
        const closed = new Promise((resolve) => server.close(resolve));
        setTimeout(() => server.closeAllConnections(), PLAIN_CLOSE_MS);
        await closed;
        return undefined;
      };
      return { ...running, close };
    },
  },

  /** V8's default heap growth, for comparison. */
  "default-heap-growth": { heapGrowingPercent: 0 },

  "short-timeouts": {
    serve: (options) =>
      serve({
        ...options,
        timeouts: {
          headersTimeoutMs: 1_500,
          requestTimeoutMs: 2_000,
          inactivityTimeoutMs: 10_000,
          drainTimeoutMs: 1_000,
        },
      }),
  },
};
