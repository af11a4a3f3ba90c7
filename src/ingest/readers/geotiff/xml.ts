/** Parses the small XML documents that accompany GeoTIFF files. */
import sax from "sax";

export interface XmlElement {
  /** Names of the enclosing elements and the element, outermost first. Reused between calls: copy it to keep it. */
  readonly path: readonly string[];
  /** Attributes of these elements, in the same order. */
  readonly attributes: readonly Readonly<Record<string, string>>[];
  /** The text of the element without that of nested elements. */
  readonly text: string;
}

/** Largest document; parsing one takes about a second. */
export const XML_BYTES_MAX = 1 << 20;
/** Deepest nesting of elements; GDAL's documents use six levels. */
const DEPTH_MAX = 50;

/**
 * Parses an XML document and calls `onElement` at the end of each element. Document type definitions are refused.
 * @throws Error if the text is not a well-formed document
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
  if (rootCount !== 1) throw new Error(`it has ${rootCount} root elements`);
}
