/**
 * Returns whether bytes are JSON as the HTTP host accepts it: RFC 8259 in UTF-8, with or without a byte order mark, at
 * most 16 nested arrays and objects, no duplicate keys in an object, no number outside the range of a double.
 */
export function isStrictJson(bytes: Uint8Array): boolean {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    JSON.parse(text);
    const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g) ?? [];
    const { next, isStrict } = valueAt(tokens, 0, 0);
    return isStrict && next === tokens.length;
  } catch {
    return false;
  }
}

/** Checks the value that starts at token `at` of grammatically valid JSON; its tokens end before `next`. */
function valueAt(tokens: readonly string[], at: number, depth: number): { next: number; isStrict: boolean } {
  const token = tokens[at] ?? "";
  if (token !== "[" && token !== "{") {
    return { next: at + 1, isStrict: !/^[-0-9]/.test(token) || Number.isFinite(Number(token)) };
  }
  const isObject = token === "{";
  const keys = new Set<string>();
  let isStrict = depth < 16;
  let next = at + 1;
  while (tokens[next] !== "]" && tokens[next] !== "}") {
    if (tokens[next] === ",") next++;
    if (isObject) {
      const key = JSON.parse(tokens[next] ?? "") as string;
      isStrict &&= !keys.has(key);
      keys.add(key);
      next += 2;
    }
    const value = valueAt(tokens, next, depth + 1);
    isStrict &&= value.isStrict;
    next = value.next;
  }
  return { next: next + 1, isStrict };
}
