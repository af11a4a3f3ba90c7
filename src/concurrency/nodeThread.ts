import { Worker, type WorkerOptions } from "node:worker_threads";
import type { WorkerThread } from "./workerThread.ts";

/**
 * Starts a Node worker thread. It keeps the process running only while it is referenced.
 *
 * @param name name of the thread in the error that reports its end
 */
export function startNodeThread<Request, Message>(
  file: URL,
  name: string,
  options: WorkerOptions,
): WorkerThread<Request, Message> {
  // A thread inherits the options of Node; --input-type, which is for a program given as text, would reject the file.
  const isTextProgram = process.execArgv.some((argument) => argument.startsWith("--input-type"));
  const worker = new Worker(file, isTextProgram ? { ...options, execArgv: [] } : options);
  worker.unref();
  return {
    send: (request, transfer = []) => worker.postMessage(request, [...transfer]),
    onMessage: (listener) => worker.on("message", (message: Message) => listener(message)),
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
