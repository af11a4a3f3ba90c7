import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

/** A response as received. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The complete responses received on a connection, and the remaining text. */
export interface ParsedResponses {
  readonly responses: readonly RawResponse[];
  /** Text after the last complete response. */
  readonly rest: string;
}

const HAS_NO_BODY = (status: number): boolean => status < 200 || status === 204 || status === 304;

/**
 * Splits received text into responses by their Content-Length.
 * @param allowsHeadResponses whether a response may have no body despite its Content-Length, as for HEAD
 */
export function parseResponses(
  text: string,
  { allowsHeadResponses }: { readonly allowsHeadResponses: boolean },
): ParsedResponses {
  const responses: RawResponse[] = [];
  let from = 0;
  for (;;) {
    const headEnd = text.indexOf("\r\n\r\n", from);
    const statusLine = /^HTTP\/1\.1 ([1-5][0-9]{2}) [^\r\n]*\r\n/.exec(text.slice(from, from + 80));
    if (headEnd < 0 || statusLine === null) return { responses, rest: text.slice(from) };
    const lines = text.slice(text.indexOf("\r\n", from) + 2, headEnd).split("\r\n");
    const headers = new Map(lines.map((line) => [line.split(":", 1)[0]?.toLowerCase() ?? "", valueIn(line)]));
    const status = Number(statusLine[1]);
    const start = headEnd + 4;
    const length = HAS_NO_BODY(status) ? 0 : Number(headers.get("content-length") ?? NaN);
    if (Number.isNaN(length)) throw new Error(`a response has no Content-Length: ${text.slice(from, start)}`);
    const isHead = allowsHeadResponses && (start === text.length || text.startsWith("HTTP/1.1 ", start));
    const end = isHead ? start : start + length;
    if (end > text.length) return { responses, rest: text.slice(from) };
    responses.push({ status, headers, body: text.slice(start, end) });
    from = end;
  }
}

function valueIn(line: string): string {
  return line.slice(line.indexOf(":") + 1).trim();
}

/** How a client sends its bytes and when it disconnects. */
export interface ClientBehavior {
  /** Positions at which it pauses while sending. */
  readonly cuts?: readonly number[];
  readonly pauseMs?: number;
  /** How long it waits for more data. */
  readonly responseTimeoutMs?: number;
  /** Whether the text received so far is complete. */
  readonly isComplete?: (text: string) => boolean;
  /** Destroys the socket instead of half-closing it. */
  readonly resetsWhenDone?: boolean;
}

/** Once a response has started, the rest arrives within this time. */
const CONTINUATION_MS = 10;
/** Below the server's idle timeout, so that this client does not depend on it; long enough for a busy machine. */
const CLOSE_TIMEOUT_MS = 20_000;

/**
 * Sends bytes over a new connection and returns everything received.
 * @throws Error if the connection is refused, or stays open after the client has closed its side
 */
export async function exchangeBytes(port: number, bytes: Buffer, behavior: ClientBehavior = {}): Promise<string> {
  const { cuts = [], pauseMs = 0, responseTimeoutMs = 25, isComplete, resetsWhenDone = false } = behavior;
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
  const state = { text: "", isOverdue: false };
  let onIdle = (): void => undefined;
  const idle = new Promise<void>((resolve) => (onIdle = resolve));
  let idleTimer: NodeJS.Timeout | undefined;
  const restartIdleTimer = (): void => {
    clearTimeout(idleTimer);
    idleTimer = globalThis.setTimeout(
      onIdle,
      state.text !== "" && isComplete === undefined ? CONTINUATION_MS : responseTimeoutMs,
    );
  };
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    state.text += chunk;
    if (isComplete?.(state.text) === true) onIdle();
    // The timer starts only after everything has been sent.
    else if (idleTimer !== undefined) restartIdleTimer();
  });
  // The server closed its side: discard unsent bytes.
  socket.on("end", () => socket.end());
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    if (socket.destroyed) break;
    await writeBytes(socket, bytes.subarray(from, cut));
    from = cut;
    if (cut < bytes.length) await setTimeout(pauseMs);
  }
  restartIdleTimer();
  await Promise.race([closed, idle]);
  clearTimeout(idleTimer);
  if (resetsWhenDone) socket.destroy();
  else socket.end();
  const overdue = globalThis.setTimeout(() => {
    state.isOverdue = true;
    socket.destroy();
  }, CLOSE_TIMEOUT_MS);
  await closed;
  clearTimeout(overdue);
  if (state.isOverdue) throw new Error("the server keeps a connection open that its client has closed");
  return state.text;
}

/** Also resolves when the connection has been closed. */
function writeBytes(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, () => resolve()));
}

/** Calls `act` `count` times with limited concurrency. */
export async function runConcurrently(
  count: number,
  { concurrency }: { readonly concurrency: number },
  act: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const run = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await act(index);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, run));
}

/** A keep-alive connection with one request in flight. */
export class KeepAliveConnection {
  readonly #socket: Socket;
  /** Received text that is not a complete response yet; in chunks, because responses may be long. */
  #chunks: string[] = [];
  #missingCount = 0;
  #onAnswer: ((response: RawResponse | undefined) => void) | undefined;
  #isClosed = false;

  /** @throws Error if the connection is refused */
  static async open(port: number): Promise<KeepAliveConnection> {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new KeepAliveConnection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1").on("data", (chunk: string) => this.#receive(chunk));
    // A broken connection is reported as a missing response.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      this.#isClosed = true;
      this.#settle(undefined);
    });
  }

  /** The server has closed the connection or announced that it will. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends a request. @returns undefined if the connection ended before the response was complete */
  send(bytes: string | Buffer): Promise<RawResponse | undefined> {
    return new Promise((resolve) => {
      if (this.#isClosed) return resolve(undefined);
      this.#onAnswer = resolve;
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.destroy();
  }

  #receive(chunk: string): void {
    this.#chunks.push(chunk);
    this.#missingCount -= chunk.length;
    if (this.#missingCount > 0) return;
    const text = this.#chunks.join("");
    const { responses, rest } = parseResponses(text, { allowsHeadResponses: false });
    const [response] = responses;
    if (response === undefined) {
      this.#chunks = [text];
      const [, length] = /^content-length: ([0-9]+)\r$/im.exec(text.slice(0, 4096)) ?? [];
      const headEnd = text.indexOf("\r\n\r\n");
      this.#missingCount = headEnd < 0 || length === undefined ? 0 : headEnd + 4 + Number(length) - text.length;
      return;
    }
    this.#chunks = [];
    this.#missingCount = 0;
    if (responses.length > 1 || rest !== "") throw new Error(`received more than one response: ${text.slice(0, 1000)}`);
    if (response.headers.get("connection") === "close") this.#isClosed = true;
    this.#settle(response);
  }

  #settle(response: RawResponse | undefined): void {
    const onAnswer = this.#onAnswer;
    this.#onAnswer = undefined;
    onAnswer?.(response);
  }
}

/** Encodes a request. */
export function requestBytes(
  line: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body?: Buffer | string },
): Buffer {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const fields = Object.entries({
    Host: "h",
    ...headers,
    ...(bytes === undefined ? {} : { "Content-Type": "application/json", "Content-Length": String(bytes.length) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${line} HTTP/1.1\r\n${fields.join("")}\r\n`);
  return bytes === undefined ? head : Buffer.concat([head, bytes]);
}
