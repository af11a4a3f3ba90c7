/** Members of a provenance that name the source of the values, in the order of the text. */
const MEMBERS = ["title", "name", "provider", "model", "version", "description", "citation", "license"] as const;

/** Returns the source of a layer as a sentence, from the provenance that the atlas states. */
export function sourceText(source: Readonly<Record<string, unknown>>): string {
  const parts = MEMBERS.flatMap((name) => {
    const value = source[name];
    return typeof value === "string" && value !== "" ? [value.replace(/\.$/, "")] : [];
  });
  return parts.length === 0 ? "source not stated." : `${parts.join(". ")}.`;
}
