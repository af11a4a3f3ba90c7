import type { Duplex } from "node:stream";

/**
 * Stops reading a connection while `mustStop` returns true. The bytes that Node.js has read by then, 64 KiB at most, are
 * still parsed.
 *
 * What `push` of a body returns to Node's parser is not enough: Node continues after each complete request, even if the
 * body of the next one has asked it to stop meanwhile.
 */
export class ConnectionInput {
  readonly #socket: Duplex;
  readonly #mustStop: () => boolean;
  #isStopped = false;

  constructor(socket: Duplex, mustStop: () => boolean) {
    this.#socket = socket;
    this.#mustStop = mustStop;
    socket.on("resume", () => this.#stopAgain());
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Stops or continues. Called when the result of `mustStop` may have changed. */
  update(): void {
    const isStopped = this.#mustStop();
    if (isStopped) this.#socket.pause();
    else if (this.#isStopped) this.#socket.resume();
    this.#isStopped = isStopped;
  }

  /** Stops a connection that Node has continued to read, which it does right before the event `resume`. */
  #stopAgain(): void {
    this.#isStopped = this.#mustStop();
    if (!this.#isStopped) return;
    // If `pause` was called between `resume` and its event, a further call would have no effect.
    if (this.#socket.isPaused()) this.#socket.resume();
    else this.#socket.pause();
  }
}
