/** Entry of the worker that runs the engine. */
import { serveEngine } from "./engineServer.ts";

serveEngine({
  receive: (listener) => addEventListener("message", ({ data }: MessageEvent) => listener(data as never)),
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- for windows; workers have no target origin
  send: (response, transfer) => postMessage(response, { transfer }),
});
