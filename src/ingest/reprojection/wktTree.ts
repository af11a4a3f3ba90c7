/** Parses well-known text of coordinate systems (ISO 19162, and its predecessors) into a tree. */

/** A keyword with its members: `KEYWORD["text", 1, OTHER[...], WORD]`. */
export interface WktNode {
  /** In upper case. */
  readonly keyword: string;
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  /** Keywords without members, such as axis directions, in upper case. */
  readonly words: readonly string[];
  readonly nodes: readonly WktNode[];
}

const LENGTH_MAX = 100_000;
const DEPTH_MAX = 30;
const TOKEN = /\s*(?:"((?:[^"]|"")*)"|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])|([A-Za-z_]\w*)|([[\](),]))/y;

type Token =
  | { readonly kind: "text" | "word" | "mark"; readonly text: string }
  | { readonly kind: "number"; readonly value: number };

/**
 * Parses well-known text.
 * @throws Error if it is not well-formed, or too long
 */
export function parseWkt(wkt: string): WktNode {
  if (wkt.length > LENGTH_MAX)
    throw new Error(`has well-known text of ${wkt.length} characters; the limit is ${LENGTH_MAX}`);
  const tokens = tokensOf(wkt);
  let position = 0;
  const nodeAt = (depth: number): WktNode => {
    if (depth > DEPTH_MAX) throw new Error(`has well-known text with more than ${DEPTH_MAX} levels`);
    const keyword = tokens[position++];
    const opening = tokens[position++];
    if (keyword?.kind !== "word" || opening?.kind !== "mark" || !/[[(]/.test(opening.text))
      throw malformed(wkt, "a keyword with members in brackets is expected");
    const closing = opening.text === "[" ? "]" : ")";
    const node = { texts: [] as string[], numbers: [] as number[], words: [] as string[], nodes: [] as WktNode[] };
    for (;;) {
      const token = tokens[position];
      const next = tokens[position + 1];
      if (token === undefined) throw malformed(wkt, "a closing bracket is missing");
      if (token.kind === "number") node.numbers.push(token.value);
      else if (token.kind === "text") node.texts.push(token.text);
      else if (token.kind === "mark") throw malformed(wkt, `${token.text} is not expected`);
      else if (next?.kind === "mark" && /[[(]/.test(next.text)) {
        node.nodes.push(nodeAt(depth + 1));
        position--;
      } else node.words.push(token.text.toUpperCase());
      position++;
      const end = tokens[position++];
      if (end?.kind === "mark" && end.text === closing) break;
      if (end?.kind !== "mark" || end.text !== ",") throw malformed(wkt, "a comma or a closing bracket is expected");
    }
    return { keyword: keyword.text.toUpperCase(), ...node };
  };
  const root = nodeAt(0);
  if (position !== tokens.length) throw malformed(wkt, "text follows the closing bracket");
  return root;
}

function tokensOf(wkt: string): readonly Token[] {
  const tokens: Token[] = [];
  const end = wkt.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(wkt);
    if (match === null) throw malformed(wkt, `${JSON.stringify(wkt.slice(at, at + 20))} cannot be read`);
    const [, text, number, word, mark] = match;
    if (text !== undefined) tokens.push({ kind: "text", text: text.replaceAll('""', '"') });
    else if (number !== undefined) tokens.push({ kind: "number", value: Number(number) });
    else if (word !== undefined) tokens.push({ kind: "word", text: word });
    else tokens.push({ kind: "mark", text: mark ?? "" });
  }
  return tokens;
}

function malformed(wkt: string, why: string): Error {
  return new Error(`has well-known text that is not well-formed (${why}): ${JSON.stringify(wkt.slice(0, 80))}`);
}

/** Returns the first direct member with one of the keywords. */
export function childOf(node: WktNode | undefined, ...keywords: readonly string[]): WktNode | undefined {
  return node?.nodes.find(({ keyword }) => keywords.includes(keyword));
}

/** Returns the EPSG code that a node states directly, or undefined. */
export function epsgCodeOf(node: WktNode | undefined): number | undefined {
  const id = node?.nodes.find(
    ({ keyword, texts }) => (keyword === "AUTHORITY" || keyword === "ID") && texts[0]?.toUpperCase() === "EPSG",
  );
  const code = id?.numbers[0] ?? Number(id?.texts[1]);
  return Number.isInteger(code) ? code : undefined;
}
