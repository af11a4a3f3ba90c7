/** A worker thread ended unexpectedly while it ran a task. The task did not complete and may be run again. */
export class WorkerDeathError extends Error {
  override readonly name = "WorkerDeathError";
}
