/** The order of the axes of coordinate systems in well-known text. */
import { childOf, parseWkt, type WktNode } from "./wktTree.ts";

/** Keywords of coordinate systems that contain the one whose axes are asked for. */
const HORIZONTAL = [
  "PROJCS",
  "PROJCRS",
  "PROJECTEDCRS",
  "GEOGCS",
  "GEOGCRS",
  "GEODCRS",
  "GEOGRAPHICCRS",
  "GEODETICCRS",
  "BOUNDCRS",
];

/**
 * Returns whether the first axis is to the north. Axes that point to one direction, at a pole, are taken in the order in which
 * they are.
 * @throws Error if the text is not well-formed
 */
export function northAxisIsFirst(wkt: string): boolean {
  let node: WktNode = parseWkt(wkt);
  for (;;) {
    const source = childOf(node, "SOURCECRS");
    const inner = source === undefined ? undefined : childOf(source, ...HORIZONTAL);
    const part = node.keyword.startsWith("COMP") ? childOf(node, ...HORIZONTAL) : inner;
    if (part === undefined) break;
    node = part;
  }
  const directions = node.nodes
    .filter(({ keyword }) => keyword === "AXIS")
    .map(({ words }) => words.find((word) => /^(NORTH|SOUTH|EAST|WEST)$/.test(word)));
  return directions[0] === "NORTH" && directions[1] !== "NORTH";
}
