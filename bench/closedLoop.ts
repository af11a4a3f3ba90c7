import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** One connection that asks again as soon as it has been answered; as little work as can be, for it shares the machine. */
export class Client {
  count = 0;
  readonly #socket: Socket;
  readonly #requests: readonly Buffer[];
  #next: number;
  #text = "";
  #isFinishing = false;
  #onEnd: () => void = () => undefined;

  private constructor(socket: Socket, requests: readonly Buffer[], first: number) {
    this.#socket = socket;
    this.#requests = requests;
    this.#next = first % requests.length;
    socket.setEncoding("latin1");
    socket.on("data", (piece: string) => this.#take(piece));
  }

  static async open(port: number, requests: readonly Buffer[], first: number): Promise<Client> {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    await once(socket, "connect");
    return new Client(socket, requests, first);
  }

  begin(): void {
    const request = this.#requests[this.#next] ?? Buffer.alloc(0);
    this.#next = (this.#next + 1) % this.#requests.length;
    this.#socket.write(request);
  }

  /** Resolves when the last answer has come. */
  finish(): Promise<void> {
    this.#isFinishing = true;
    return new Promise((resolve) => (this.#onEnd = resolve));
  }

  #take(piece: string): void {
    this.#text = this.#text === "" ? piece : this.#text + piece;
    const headEnd = this.#text.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    if (!this.#text.startsWith("HTTP/1.1 200 ")) throw new Error(this.#text);
    const field = this.#text.indexOf("Content-Length: ") + 16;
    const sizeBytes = Number(this.#text.slice(field, this.#text.indexOf("\r\n", field)));
    if (this.#text.length < headEnd + 4 + sizeBytes) return;
    this.#text = "";
    this.count++;
    if (!this.#isFinishing) this.begin();
    else {
      this.#socket.destroy();
      this.#onEnd();
    }
  }
}
