import { connect, type Socket } from "node:net";

/** A connection that sends raw bytes and collects everything that it receives. */
export interface RawConnection {
  readonly socket: Socket;
  /** Returns the text received so far. */
  received(): string;
  /** Resolves with everything received when the server has closed the connection. */
  readonly closed: Promise<string>;
}

/** Opens a connection. @throws Error if it is refused */
export async function openRawConnection(port: number): Promise<RawConnection> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  // A reset shows as a truncated response.
  socket.on("error", () => undefined);
  // Not `once` of node:events, which rejects after a reset.
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  return { socket, received: () => text, closed };
}

/** Writes bytes; resolves when the system has taken them, or the connection has closed. */
export function writeAll(socket: Socket, bytes: Buffer | string): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) {
      resolve();
      return;
    }
    const done = (): void => {
      socket.off("close", done);
      resolve();
    };
    socket.once("close", done).write(bytes, done);
  });
}

/** Returns the head of a request, with the empty line that ends it. */
export function headOf(line: string, fields: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ Host: "h", ...fields }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join("")}\r\n`;
}
