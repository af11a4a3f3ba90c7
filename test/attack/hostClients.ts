import { connect, type Socket } from "node:net";
import type { TestHost } from "../host/testHost.ts";
import { headOf } from "./rawConnection.ts";

/** A response, as far as the tests of clients need it. */
interface ClientResponse {
  /** 0 if the connection closed without a response. */
  readonly status: number;
  /** The field Connection. */
  readonly connection: string | undefined;
}

/** Clients of a host in this process. Their connections come from any loopback address. */
export class HostClients {
  readonly #host: TestHost;
  readonly #sockets: Socket[] = [];

  constructor(host: TestHost) {
    this.#host = host;
  }

  /** Opens connections from an address. */
  openFrom(localAddress: string, count: number): Promise<Socket[]> {
    const { port } = this.#host.address;
    return Promise.all(
      Array.from({ length: count }, async () => {
        const socket = connect({ host: "127.0.0.1", port, localAddress });
        this.#sockets.push(socket);
        socket.on("error", () => undefined);
        await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()));
        return socket;
      }),
    );
  }

  /** Opens a connection from an address and sends a request. */
  async sendFrom(
    localAddress: string,
    line: string,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<ClientResponse> {
    const [socket] = (await this.openFrom(localAddress, 1)) as [Socket];
    return send(socket, line, fields);
  }

  /** Sends a request with a valid key. @returns the status */
  async sendKeyed(): Promise<number> {
    return (await this.#host.ask("/api/v1/limits")).status;
  }

  /** Returns the value of a metric of the host; 0 if it has none. @param series its name, with labels if it has any */
  async metric(series: string): Promise<number> {
    const text = await (await fetch(`${this.#host.adminUrl}/metrics`)).text();
    const line = text.split("\n").find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1) ?? 0);
  }

  /** Returns how many requests have been rejected for a reason. */
  shedCount(reason: string): Promise<number> {
    return this.metric(`isotherm_shed_total{reason="${reason}"}`);
  }

  /** Destroys all connections and closes the host. */
  async close(): Promise<void> {
    for (const socket of this.#sockets.splice(0)) socket.destroy();
    await this.#host.close();
  }
}

/** Sends a request. */
export function send(
  socket: Socket,
  line: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<ClientResponse> {
  return new Promise((resolve) => {
    let text = "";
    const settle = (): void => {
      const [, connection] = /^connection: (.*)\r$/im.exec(text) ?? [];
      resolve({ status: Number(text.slice(9, 12)), connection });
    };
    const onData = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      const headEnd = text.indexOf("\r\n\r\n");
      const [, length = "0"] = /^content-length: (\d+)/im.exec(text) ?? [];
      if (headEnd < 0 || text.length < headEnd + 4 + Number(length)) return;
      socket.off("data", onData).off("close", settle);
      settle();
    };
    if (socket.destroyed) settle();
    else socket.on("data", onData).once("close", settle).write(headOf(line, fields));
  });
}
