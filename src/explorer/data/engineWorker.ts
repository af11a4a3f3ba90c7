/** Entry of the worker that runs the engine. */
import type { CallMessage } from "../../concurrency/threadCalls.ts";
import { serveEngine } from "./engineServer.ts";

await serveEngine({
  onMessage: (listener) => addEventListener("message", ({ data }: MessageEvent<CallMessage>) => listener(data)),
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- for windows; workers have no target origin
  send: (message, transfer = []) => postMessage(message, { transfer: [...transfer] }),
});
