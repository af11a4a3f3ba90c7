import { attributionParts } from "../../tiles/layerAttribution.ts";

/** Returns the source of a layer as sentences, from the provenance that the atlas states. */
export function sourceText(source: Readonly<Record<string, unknown>>): string {
  const parts = attributionParts(source).map((part) => part.replace(/\.$/, ""));
  return parts.length === 0 ? "source not stated." : `${parts.join(". ")}.`;
}
