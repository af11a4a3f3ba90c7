/**
 * Returns what the provenance of a layer states about the source of its values, for credits of maps: product and
 * version, credit, license, as ingest writes them. The layers of the demo atlas have a description instead of a product.
 */
export function attributionTexts(provenance: Readonly<Record<string, unknown>>): readonly string[] {
  const textOf = (member: string): string => {
    const value = provenance[member];
    return typeof value === "string" ? value : "";
  };
  const [version, license] = [textOf("version"), textOf("licence")];
  const name = [textOf("product") || textOf("description"), version && `version ${version}`];
  return [name.filter((text) => text !== "").join(", "), textOf("credit"), license && `License: ${license}`].filter(
    (text) => text !== "",
  );
}
