import { isAscii, isUtf8 } from "node:buffer";
import { Fault } from "./errors.ts";

/**
 * Decodes UTF-8 that is divided anywhere, without the byte order mark. A character that spans two chunks belongs to the
 * second.
 * @throws Fault `invalid_request` naming the line of the first invalid byte
 */
export async function* decodeUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let line = 1;
  let rest: Buffer = Buffer.alloc(0);
  let isStart = true;
  const decode = (bytes: Buffer): string => {
    const text = textOf(bytes, line);
    line += newlineCount(text);
    const isMarked = isStart && text.startsWith("\ufeff");
    if (text !== "") isStart = false;
    return isMarked ? text.slice(1) : text;
  };
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const size = bytes.length - unfinishedSize(bytes);
    rest = Buffer.from(bytes.subarray(size));
    yield decode(bytes.subarray(0, size));
  }
  if (rest.length > 0) textOf(rest, line);
}

function textOf(bytes: Buffer, line: number): string {
  if (isAscii(bytes)) return bytes.toString("latin1");
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const validText = bytes.toString("utf8").split("\ufffd", 1)[0] ?? "";
  const message = `Line ${line + newlineCount(validText)}: the text is not valid UTF-8. Save the file as UTF-8.`;
  throw new Fault("invalid_request", message);
}

/** Returns the size of a character at the end whose last bytes are missing; 0 if there is none. */
function unfinishedSize(bytes: Buffer): number {
  for (let size = 1; size <= Math.min(3, bytes.length); size++) {
    const byte = bytes[bytes.length - size] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const characterSize = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return characterSize > size ? size : 0;
  }
  return 0;
}

function newlineCount(text: string): number {
  let count = 0;
  for (let index = text.indexOf("\n"); index >= 0; index = text.indexOf("\n", index + 1)) count++;
  return count;
}
