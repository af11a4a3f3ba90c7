import { once } from "node:events";
import { connect, type Socket } from "node:net";

/**
 * One connection that sends the next request as soon as a response arrives. Does little else, because it shares the
 * machine with the server.
 */
export class ClosedLoopClient {
  count = 0;
  readonly #socket: Socket;
  readonly #requests: readonly Buffer[];
  #next: number;
  #received = "";
  #isFinishing = false;
  #onFinished: () => void = () => undefined;

  private constructor(socket: Socket, requests: readonly Buffer[], first: number) {
    this.#socket = socket;
    this.#requests = requests;
    this.#next = first % requests.length;
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => this.#receive(chunk));
  }

  static async open(port: number, requests: readonly Buffer[], first: number): Promise<ClosedLoopClient> {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    await once(socket, "connect");
    return new ClosedLoopClient(socket, requests, first);
  }

  sendNext(): void {
    const request = this.#requests[this.#next] ?? Buffer.alloc(0);
    this.#next = (this.#next + 1) % this.#requests.length;
    this.#socket.write(request);
  }

  /** Resolves when the last response has arrived. */
  finish(): Promise<void> {
    this.#isFinishing = true;
    return new Promise((resolve) => (this.#onFinished = resolve));
  }

  #receive(chunk: string): void {
    this.#received = this.#received === "" ? chunk : this.#received + chunk;
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    if (!this.#received.startsWith("HTTP/1.1 200 ")) throw new Error(this.#received);
    const field = this.#received.indexOf("Content-Length: ") + 16;
    const sizeBytes = Number(this.#received.slice(field, this.#received.indexOf("\r\n", field)));
    if (this.#received.length < headEnd + 4 + sizeBytes) return;
    this.#received = "";
    this.count++;
    if (!this.#isFinishing) this.sendNext();
    else {
      this.#socket.destroy();
      this.#onFinished();
    }
  }
}
