import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

/** One answer as it came. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** What came over a connection. */
export interface Heard {
  readonly answers: readonly WireAnswer[];
  /** What is left when the answers that are whole are taken away. */
  readonly rest: string;
}

const HAS_NO_BODY = (status: number): boolean => status < 200 || status === 204 || status === 304;

/**
 * The answers in what came, each as long as its Content-Length says.
 * @param mayBeHeads whether answers may be all head though they tell a length: to HEAD
 */
export function heardIn(text: string, { mayBeHeads }: { readonly mayBeHeads: boolean }): Heard {
  const answers: WireAnswer[] = [];
  let from = 0;
  for (;;) {
    const headEnd = text.indexOf("\r\n\r\n", from);
    const statusLine = /^HTTP\/1\.1 ([1-5][0-9]{2}) [^\r\n]*\r\n/.exec(text.slice(from, from + 80));
    if (headEnd < 0 || statusLine === null) return { answers, rest: text.slice(from) };
    const lines = text.slice(text.indexOf("\r\n", from) + 2, headEnd).split("\r\n");
    const headers = new Map(lines.map((line) => [line.split(":", 1)[0]?.toLowerCase() ?? "", valueIn(line)]));
    const status = Number(statusLine[1]);
    const start = headEnd + 4;
    const length = HAS_NO_BODY(status) ? 0 : Number(headers.get("content-length") ?? NaN);
    if (Number.isNaN(length)) throw new Error(`An answer without a length: ${text.slice(from, start)}`);
    const isHead = mayBeHeads && (start === text.length || text.startsWith("HTTP/1.1 ", start));
    const end = isHead ? start : start + length;
    if (end > text.length) return { answers, rest: text.slice(from) };
    answers.push({ status, headers, body: text.slice(start, end) });
    from = end;
  }
}

function valueIn(line: string): string {
  return line.slice(line.indexOf(":") + 1).trim();
}

/** How a client behaves beyond what it sends. */
export interface Manners {
  /** Where it stops for a moment, as positions among its bytes. */
  readonly cuts?: readonly number[];
  readonly pauseMs?: number;
  /** So long it waits for more than it has heard. */
  readonly patienceMs?: number;
  /** Whether what it has heard is all that it waits for. */
  readonly isEnough?: (text: string) => boolean;
  /** It leaves without a word, rather than saying that it has no more to send. */
  readonly isRude?: boolean;
}

/** Who has heard something will hear the rest of it soon. */
const REST_MS = 10;
/** Less than what the server waits for a sign of life, so that this is not what ends it; more than a busy machine takes. */
const CLOSE_TIMEOUT_MS = 20_000;

/**
 * Sends bytes over a connection of its own, and gives back what came.
 * @throws Error where nobody takes the connection, or where it is kept though its client has ended it
 */
export async function talk(port: number, bytes: Buffer, manners: Manners = {}): Promise<string> {
  const { cuts = [], pauseMs = 0, patienceMs = 25, isEnough, isRude = false } = manners;
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
  const state = { text: "", isOverdue: false };
  let onQuiet = (): void => undefined;
  const quiet = new Promise<void>((resolve) => (onQuiet = resolve));
  let silence: NodeJS.Timeout | undefined;
  const waitOn = (): void => {
    clearTimeout(silence);
    silence = globalThis.setTimeout(onQuiet, state.text !== "" && isEnough === undefined ? REST_MS : patienceMs);
  };
  socket.setEncoding("latin1").on("data", (piece: string) => {
    state.text += piece;
    if (isEnough?.(state.text) === true) onQuiet();
    // Before all is sent nobody waits.
    else if (silence !== undefined) waitOn();
  });
  // Ended from the other side too: what we have not sent by then nobody wants.
  socket.on("end", () => socket.end());
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    if (socket.destroyed) break;
    await written(socket, bytes.subarray(from, cut));
    from = cut;
    if (cut < bytes.length) await setTimeout(pauseMs);
  }
  waitOn();
  await Promise.race([closed, quiet]);
  clearTimeout(silence);
  if (isRude) socket.destroy();
  else socket.end();
  const overdue = globalThis.setTimeout(() => {
    state.isOverdue = true;
    socket.destroy();
  }, CLOSE_TIMEOUT_MS);
  await closed;
  clearTimeout(overdue);
  if (state.isOverdue) throw new Error("The server keeps a connection that its client has ended.");
  return state.text;
}

/** Resolves too where nobody is there any more to take it. */
function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, () => resolve()));
}

/** Does something so many times, several at a time. */
export async function times(
  count: number,
  { atOnce }: { readonly atOnce: number },
  act: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const run = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await act(index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, run));
}

/** A connection that is kept for one request after the other. */
export class KeptConnection {
  readonly #socket: Socket;
  /** Text of what has come and is no whole answer yet, in pieces, since answers may be long. */
  #pieces: string[] = [];
  #missing = 0;
  #onAnswer: ((answer: WireAnswer | undefined) => void) | undefined;
  #isOver = false;

  /** @throws Error where nobody takes it */
  static async open(port: number): Promise<KeptConnection> {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new KeptConnection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1").on("data", (piece: string) => this.#take(piece));
    // A connection that is cut shows by the answer that does not come.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      this.#isOver = true;
      this.#settle(undefined);
    });
  }

  /** Nobody is at the other end any more, or has said that it will go. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** @returns undefined where the connection ended before the answer did */
  ask(bytes: string | Buffer): Promise<WireAnswer | undefined> {
    return new Promise((resolve) => {
      if (this.#isOver) return resolve(undefined);
      this.#onAnswer = resolve;
      this.#socket.write(bytes);
    });
  }

  end(): void {
    this.#isOver = true;
    this.#socket.destroy();
  }

  #take(piece: string): void {
    this.#pieces.push(piece);
    this.#missing -= piece.length;
    if (this.#missing > 0) return;
    const text = this.#pieces.join("");
    const { answers, rest } = heardIn(text, { mayBeHeads: false });
    const [answer] = answers;
    if (answer === undefined) {
      this.#pieces = [text];
      const [, length] = /^content-length: ([0-9]+)\r$/im.exec(text.slice(0, 4096)) ?? [];
      const headEnd = text.indexOf("\r\n\r\n");
      this.#missing = headEnd < 0 || length === undefined ? 0 : headEnd + 4 + Number(length) - text.length;
      return;
    }
    this.#pieces = [];
    this.#missing = 0;
    if (answers.length > 1 || rest !== "") throw new Error(`More came than was asked for: ${text.slice(0, 1000)}`);
    if (answer.headers.get("connection") === "close") this.#isOver = true;
    this.#settle(answer);
  }

  #settle(answer: WireAnswer | undefined): void {
    const onAnswer = this.#onAnswer;
    this.#onAnswer = undefined;
    onAnswer?.(answer);
  }
}

/** A request as it goes over the wire. */
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
