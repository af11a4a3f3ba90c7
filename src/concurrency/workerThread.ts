/** A worker thread, as seen by the thread that started it. */
export interface WorkerThread<Request, Message> {
  /** @param transfer buffers in the request that are moved to the worker instead of copied */
  send(request: Request, transfer?: readonly ArrayBuffer[]): void;
  onMessage(listener: (message: Message) => void): void;
  /** Registers a listener for the end of the thread, including a failed start. */
  onEnd(listener: (error: Error) => void): void;
  /** Sets whether the thread keeps the process running. */
  setReferenced(isReferenced: boolean): void;
  end(): Promise<void>;
}

/** The thread that started a worker thread, as seen by the worker. */
export interface ParentPort<Request, Message> {
  onRequest(listener: (request: Request) => void): void;
  send(message: Message, transfer?: readonly ArrayBuffer[]): void;
}
