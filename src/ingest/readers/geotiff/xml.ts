import sax from "sax";

export interface XmlElement {
  /** The names of the element and of those around it, outermost first; to be copied where it is kept. */
  readonly path: readonly string[];
  /** Their attributes, in the same order. */
  readonly attributes: readonly Readonly<Record<string, string>>[];
  /** The text in it, apart from that in other elements. */
  readonly text: string;
}

/** The size of a document: a parser written in JavaScript takes a second for so much. */
export const XML_BYTES_MAX = 1 << 20;
/** How deep elements may be nested: GDAL's own documents need six. */
const DEPTH_MAX = 50;

/**
 * Calls `onElement` for each element of an XML document as it ends. Entities that the document defines are refused.
 * @throws Error when the text is not a well-formed document
 */
export function readXml(text: string, onElement: (element: XmlElement) => void): void {
  const path: string[] = [];
  const attributes: Record<string, string>[] = [];
  const texts: string[] = [];
  let rootCount = 0;
  const addText = (more: string): void => {
    const top = texts.length - 1;
    if (top >= 0) texts[top] += more;
  };
  const handlers: Partial<sax.SAXParser> = {
    onerror(error) {
      throw new Error(error.message.replaceAll("\n", ", "));
    },
    ondoctype() {
      throw new Error("it has a document type definition");
    },
    onopentag({ name, attributes: own }) {
      if (path.length === 0) rootCount++;
      if (path.length >= DEPTH_MAX) throw new Error(`its elements are nested more than ${DEPTH_MAX} deep`);
      path.push(name);
      attributes.push(own as Record<string, string>);
      texts.push("");
    },
    ontext: addText,
    oncdata: addText,
    onclosetag() {
      onElement({ path, attributes, text: texts.pop() ?? "" });
      path.pop();
      attributes.pop();
    },
  };
  const parser = Object.assign(sax.parser(true), handlers);
  parser.write(text).close();
  if (rootCount !== 1) throw new Error(`it has ${rootCount} outermost elements`);
}
