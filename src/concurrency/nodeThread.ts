import { parentPort, Worker, type WorkerOptions } from "node:worker_threads";
import type { CallMessage, ParentPort, ReplyMessage, WorkerThread } from "./threadCalls.ts";

/**
 * Starts a Node worker thread. It keeps the process running only while it is referenced.
 *
 * @param name name of the thread in the error that reports its end
 */
export function startNodeThread(file: URL, name: string, options: WorkerOptions): WorkerThread {
  // A thread inherits the options of Node; --input-type, which is for a program given as text, would reject the file.
  const isTextProgram = process.execArgv.some((argument) => argument.startsWith("--input-type"));
  const worker = new Worker(file, isTextProgram ? { ...options, execArgv: [] } : options);
  worker.unref();
  return {
    send: (message, transfer = []) => worker.postMessage(message, [...transfer]),
    onMessage: (listener) => worker.on("message", (message: ReplyMessage) => listener(message)),
    onEnd: (listener) => {
      worker.on("error", listener);
      worker.on("exit", (code) => listener(new Error(`${name} ended with code ${code}.`)));
    },
    setReferenced: (isReferenced) => (isReferenced ? worker.ref() : worker.unref()),
    end: async () => {
      await worker.terminate();
    },
  };
}

/** Returns the thread that has started this worker thread. */
export function parentThread(): ParentPort {
  const port = parentPort;
  if (port === null) throw new Error("This file must run in a worker thread.");
  return {
    onMessage: (listener) => port.on("message", (message: CallMessage) => listener(message)),
    send: (message, transfer = []) => port.postMessage(message, [...transfer]),
  };
}
