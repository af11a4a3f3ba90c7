/** Parses the small XML documents that accompany GeoTIFF files. */
import sax from "sax";

/** An element at its end. The arrays are reused between calls; copy them to keep them. */
export interface XmlElement {
  /**
   * Names of the enclosing elements and the element, outermost first, in lower case because GDAL ignores the case of names.
   */
  readonly path: readonly string[];
  /** Attributes of the elements in `path`, in the same order; their names are in lower case. */
  readonly attributes: readonly Readonly<Record<string, string>>[];
  /** The text of the element without that of nested elements. */
  readonly text: string;
}

/** Largest size of a document; parsing one of this size takes about a second. */
export const XML_BYTES_MAX = 1 << 20;
/** Largest nesting depth of elements; GDAL's documents use six levels. */
const DEPTH_MAX = 50;

/**
 * Parses an XML document and calls `onElement` at the end of each element. Document type definitions are rejected.
 *
 * @throws Error if the document is malformed, is nested too deeply, or has attributes that differ only in case; errors of
 *   `onElement`
 */
export function readXml(text: string, onElement: (element: XmlElement) => void): void {
  const path: string[] = [];
  const attributes: Record<string, string>[] = [];
  const texts: string[] = [];
  let rootCount = 0;
  const addText = (text: string): void => {
    const top = texts.length - 1;
    if (top >= 0) texts[top] += text;
  };
  const handlers: Partial<sax.SAXParser> = {
    onerror(error) {
      throw new Error(error.message.replaceAll("\n", ", "));
    },
    ondoctype() {
      throw new Error("it has a document type definition");
    },
    onopentag({ name, attributes: tagAttributes }) {
      if (path.length === 0) rootCount++;
      if (path.length >= DEPTH_MAX) throw new Error(`its elements are nested more than ${DEPTH_MAX} levels deep`);
      path.push(name.toLowerCase());
      attributes.push(withLowerCaseNames(tagAttributes as Record<string, string>));
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
  if (rootCount !== 1) throw new Error(`it has ${rootCount} root elements; 1 is required`);
}

function withLowerCaseNames(attributes: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(attributes).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (new Set(entries.map(([name]) => name)).size < entries.length) {
    throw new Error("it has an element with attributes whose names differ only in case");
  }
  return Object.fromEntries(entries);
}
