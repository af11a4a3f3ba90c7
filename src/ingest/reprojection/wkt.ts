/** Reads coordinate systems from well-known text (ISO 19162, and its predecessors): versions 1 (also Esri's) and 2. */
import type { CrsDefinition, Ellipsoid, ParsedCrs } from "../crsDefinition.ts";
import { datumOf, type StatedDatum } from "./epsg.ts";
import {
  crsDefinition,
  crsOfNamedProjection,
  kindOfParameter,
  type NamedParameter,
  normalizedName,
  parameterNamed,
} from "./methods.ts";
import { crsOfProjString } from "./projString.ts";

const PROJECTED = ["PROJCS", "PROJCRS", "PROJECTEDCRS"];
const GEOGRAPHIC = ["GEOGCS", "GEOGCRS", "GEODCRS", "GEOGRAPHICCRS", "GEODETICCRS", "BASEGEOGCRS", "BASEGEODCRS"];
const DEGREE_RAD = Math.PI / 180;

/** A keyword with its members: `KEYWORD["text", 1, OTHER[...], WORD]`. */
interface WktNode {
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
const TOKEN =
  /"((?:[^"]|"")*)"|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])|([A-Za-z_]\w*)\s*[[(]|([A-Za-z_]\w*)|([\])])|[^\s,]/g;

/** A node as JSON: its keyword and its members, of which words are objects. */
type JsonNode = readonly [keyword: string, ...members: (string | number | { readonly word: string } | JsonNode)[]];

/**
 * Parses well-known text, by way of JSON.
 * @throws Error if it is not well-formed, or too long
 */
function parseWkt(wkt: string): WktNode {
  if (wkt.length > LENGTH_MAX)
    throw new Error(`has well-known text of ${wkt.length} characters; the limit is ${LENGTH_MAX}`);
  const malformed = (why: string): Error =>
    new Error(`has well-known text that is not well-formed (${why}): ${JSON.stringify(wkt.slice(0, 80))}`);
  const json = wkt.replaceAll(
    TOKEN,
    (token, text?: string, number?: string, keyword?: string, word?: string, end?: string) => {
      if (text !== undefined) return JSON.stringify(text.replaceAll('""', '"'));
      if (number !== undefined) return ` ${Number(number)}`;
      if (keyword !== undefined) return `[${JSON.stringify(keyword.toUpperCase())},`;
      if (word !== undefined) return JSON.stringify({ word: word.toUpperCase() });
      if (end !== undefined) return "]";
      throw malformed(`${JSON.stringify(token)} cannot be read`);
    },
  );
  const nodeOf = ([keyword, ...members]: JsonNode, depth: number): WktNode => {
    if (depth > DEPTH_MAX) throw new Error(`has well-known text with more than ${DEPTH_MAX} levels`);
    return {
      keyword,
      texts: members.filter((member) => typeof member === "string"),
      numbers: members.filter((member) => typeof member === "number"),
      words: members.flatMap((member) => (typeof member === "object" && "word" in member ? [member.word] : [])),
      nodes: members
        .filter((member): member is JsonNode => Array.isArray(member))
        .map((node) => nodeOf(node, depth + 1)),
    };
  };
  let root: JsonNode;
  try {
    root = JSON.parse(json) as JsonNode;
  } catch {
    throw malformed("a comma or a closing bracket is missing, or text follows the last bracket");
  }
  return nodeOf(root, 0);
}

/** Returns the first direct member with one of the keywords. */
function childOf(node: WktNode | undefined, ...keywords: readonly string[]): WktNode | undefined {
  return node?.nodes.find(({ keyword }) => keywords.includes(keyword));
}

/** Returns the EPSG code that a node states directly, or undefined. */
function epsgCodeOf(node: WktNode | undefined): number | undefined {
  const id = node?.nodes.find(
    ({ keyword, texts }) => (keyword === "AUTHORITY" || keyword === "ID") && texts[0]?.toUpperCase() === "EPSG",
  );
  const code = id?.numbers[0] ?? Number(id?.texts[1]);
  return Number.isInteger(code) ? code : undefined;
}

interface Options {
  readonly assumeWgs84: boolean;
}

/** Returns the coordinate system within a compound or bound one; undefined if there is none. */
function innerOf(node: WktNode): WktNode | undefined {
  const isBound = node.keyword === "BOUNDCRS";
  const outer = isBound ? childOf(node, "SOURCECRS") : node.keyword.startsWith("COMP") ? node : undefined;
  return childOf(outer, ...PROJECTED, ...GEOGRAPHIC, ...(isBound ? [] : ["BOUNDCRS"]));
}

/**
 * Reads well-known text.
 * @throws Error naming what is malformed or not supported
 */
export function crsOfWkt(text: string, options: Options): ParsedCrs {
  let node = parseWkt(text);
  let toWgs84: readonly number[] | undefined;
  while (node.keyword === "COMPD_CS" || node.keyword === "COMPOUNDCRS" || node.keyword === "BOUNDCRS") {
    const inner = innerOf(node);
    if (inner === undefined)
      throw new Error("has a compound or bound coordinate system without a projected or geographic one");
    if (node.keyword === "BOUNDCRS") toWgs84 = boundToWgs84(node);
    node = inner;
  }
  const { keyword } = node;
  if (PROJECTED.includes(keyword)) return projectedCrs(node, options, toWgs84);
  if (GEOGRAPHIC.includes(keyword)) return { crs: geographicCrs(node, options, toWgs84), unitM: 1 };
  throw new Error(
    `has the coordinate system ${JSON.stringify(node.texts[0] ?? keyword)} (${keyword}), which is neither projected nor geographic`,
  );
}

/**
 * Returns whether the first axis is to the north. Axes that point to one direction, at a pole, are taken in the order in which
 * they are.
 * @throws Error if the text is not well-formed
 */
export function northAxisIsFirst(wkt: string): boolean {
  let node = parseWkt(wkt);
  for (let inner = innerOf(node); inner !== undefined; inner = innerOf(node)) node = inner;
  const [first, second] = directionsOf(node);
  return first === "NORTH" && second !== "NORTH";
}

/** Returns the directions of axes in the plane, in their order; undefined for an axis without one. */
function directionsOf(node: WktNode): readonly (string | undefined)[] {
  return node.nodes
    .filter(({ keyword }) => keyword === "AXIS")
    .map(({ words }) => words.find((word) => /^(NORTH|SOUTH|EAST|WEST)$/.test(word)));
}

/** Returns the Helmert transformation to WGS84 of a bound coordinate system. */
function boundToWgs84(node: WktNode): readonly number[] {
  const target = childOf(childOf(node, "TARGETCRS"), ...GEOGRAPHIC);
  const transformation = childOf(node, "ABRIDGEDTRANSFORMATION");
  const method = normalizedName(childOf(transformation, "METHOD")?.texts[0] ?? "");
  const isWgs84 =
    target !== undefined && (epsgCodeOf(target) === 4326 || normalizedName(target.texts[0] ?? "") === "wgs84");
  if (!isWgs84) throw new Error("has a bound coordinate system that is not bound to WGS84, which is not supported");
  const isHelmert = /^(geocentrictranslations|positionvectortransformation|coordinateframerotation)geog2ddomain$/.test(
    method,
  );
  if (!isHelmert) throw new Error(`has the transformation ${JSON.stringify(method)} to WGS84, which is not supported`);
  const values = new Map(
    (transformation?.nodes ?? [])
      .filter(({ keyword }) => keyword === "PARAMETER")
      .map(({ texts, numbers }) => [normalizedName(texts[0] ?? ""), numbers[0] ?? NaN]),
  );
  const get = (name: string): number => values.get(name) ?? 0;
  const sign = method.startsWith("coordinateframe") ? -1 : 1;
  const scalePpm = values.has("scaledifference") ? (get("scaledifference") - 1) * 1e6 : 0;
  return [
    ...["xaxistranslation", "yaxistranslation", "zaxistranslation"].map(get),
    ...["xaxisrotation", "yaxisrotation", "zaxisrotation"].map((name) => sign * get(name)),
    // An abridged transformation states the scale itself; removes the noise of the subtraction.
    Number(scalePpm.toFixed(9)),
  ];
}

function nameOf(node: WktNode): string {
  const code = epsgCodeOf(node);
  const name = JSON.stringify((node.texts[0] ?? "").slice(0, 100));
  return code === undefined ? name : `EPSG:${code} (${node.texts[0]})`;
}

function geographicCrs(node: WktNode, options: Options, toWgs84: readonly number[] | undefined): CrsDefinition {
  const angleRad = angleUnitOf(node) ?? unitOfAxes(node, "ANGLEUNIT") ?? DEGREE_RAD;
  if (Math.abs(angleRad / DEGREE_RAD - 1) > 1e-9)
    throw new Error(`has geographic coordinates in another unit than degrees (${angleRad} radians)`);
  const { ellipsoid, datum } = readDatum(node, options, toWgs84);
  return crsDefinition({ name: nameOf(node), method: "longlat", given: {}, ellipsoid, datum });
}

function projectedCrs(node: WktNode, options: Options, toWgs84: readonly number[] | undefined): ParsedCrs {
  const proj4 = node.nodes.find(({ keyword, texts }) => keyword === "EXTENSION" && texts[0]?.toUpperCase() === "PROJ4");
  const name = nameOf(node);
  if (proj4 !== undefined) {
    const { crs, unitM } = crsOfProjString(proj4.texts[1] ?? "", options);
    return { crs: { ...crs, name }, unitM };
  }
  const geographic = childOf(node, ...GEOGRAPHIC);
  if (geographic === undefined) throw new Error(`has the projected coordinate system ${name} without a geographic one`);
  checkAxes(node);
  const conversion = childOf(node, "CONVERSION");
  const projection = childOf(node, "PROJECTION")?.texts[0] ?? childOf(conversion, "METHOD", "PROJECTION")?.texts[0];
  if (projection === undefined) throw new Error(`has the coordinate system ${name} without a projection`);
  const unitM = lengthUnitOf(node) ?? unitOfAxes(node, "LENGTHUNIT");
  if (unitM === undefined || !(unitM > 0))
    throw new Error(`has the coordinate system ${name} without a unit of length`);
  const angleRad = angleUnitOf(geographic) ?? DEGREE_RAD;
  const given: Partial<Record<NamedParameter, number>> = {};
  for (const { keyword, texts, numbers, nodes } of [...node.nodes, ...(conversion?.nodes ?? [])]) {
    if (keyword !== "PARAMETER") continue;
    const [text = ""] = texts;
    const value = numbers[0] ?? NaN;
    const parameter = parameterNamed(text);
    if (parameter === undefined) {
      if (value === 0) continue;
      throw new Error(
        `has the projection parameter ${JSON.stringify(text.slice(0, 60))} = ${value}, which is not known`,
      );
    }
    const kind = kindOfParameter(parameter);
    const own = nodes.find((child) => child.keyword.endsWith("UNIT"))?.numbers[0];
    const factor = kind === "angle" ? (own ?? angleRad) / DEGREE_RAD : kind === "length" ? (own ?? unitM) : 1;
    // 0.0174532925199433 is a rounded degree.
    const rounded = Math.abs(factor - 1) < 1e-9 ? 1 : factor;
    if (given[parameter] !== undefined && given[parameter] !== value * rounded)
      throw new Error(`has the projection parameter ${JSON.stringify(text.slice(0, 60))} twice with different values`);
    given[parameter] = value * rounded;
  }
  const { ellipsoid, datum } = readDatum(geographic, options, toWgs84);
  return { crs: crsOfNamedProjection({ name, projection, given, ellipsoid, datum }), unitM };
}

/** Rejects axes to the west or south, except at the poles, where both axes point in the same direction. */
function checkAxes(node: WktNode): void {
  const directions = directionsOf(node).filter((direction) => direction !== undefined);
  if (directions.length === 2 && new Set(directions).size === 1) return;
  const wrong = directions.find((direction) => direction === "SOUTH" || direction === "WEST");
  if (wrong !== undefined) throw new Error(`has an axis to the ${wrong.toLowerCase()}, which is not supported`);
}

/** Returns the unit that a node states directly, in radians. */
function angleUnitOf(node: WktNode): number | undefined {
  return childOf(node, "ANGLEUNIT", "UNIT")?.numbers[0];
}

/** Returns the unit that a node states directly, in meters. */
function lengthUnitOf(node: WktNode): number | undefined {
  return childOf(node, "LENGTHUNIT", "UNIT")?.numbers[0];
}

/** Returns the unit that all axes of a node state. */
function unitOfAxes(node: WktNode, keyword: "ANGLEUNIT" | "LENGTHUNIT"): number | undefined {
  const units = node.nodes
    .filter((child) => child.keyword === "AXIS")
    .map((axis) => childOf(axis, keyword)?.numbers[0])
    .filter((unit) => unit !== undefined);
  if (new Set(units).size > 1) throw new Error("has axes with different units, which is not supported");
  return units[0];
}

function readDatum(
  geographic: WktNode,
  { assumeWgs84 }: Options,
  boundToWgs84: readonly number[] | undefined,
): Pick<CrsDefinition, "ellipsoid" | "datum"> {
  const datumNode = childOf(geographic, "DATUM", "GEODETICDATUM", "ENSEMBLE", "TRF");
  const shape = childOf(datumNode, "SPHEROID", "ELLIPSOID");
  if (datumNode === undefined || shape === undefined)
    throw new Error("has a geographic coordinate system without an ellipsoid");
  const [semiMajor = NaN, inverseFlattening = NaN] = shape.numbers;
  const ellipsoid: Ellipsoid = {
    semiMajorM: semiMajor * (childOf(shape, "LENGTHUNIT")?.numbers[0] ?? 1),
    inverseFlattening,
  };
  const meridian = childOf(geographic, "PRIMEM", "PRIMEMERIDIAN")?.numbers[0] ?? 0;
  if (meridian !== 0) throw new Error(`has a prime meridian at ${meridian}, not at Greenwich, which is not supported`);
  const extension = datumNode.nodes.find(({ keyword, texts }) => keyword === "EXTENSION" && texts[0] === "PROJ4_GRIDS");
  const stated: StatedDatum = {
    name: datumNode.texts[0],
    geographicCode: epsgCodeOf(geographic),
    datumCode: epsgCodeOf(datumNode),
    toWgs84: boundToWgs84 ?? childOf(datumNode, "TOWGS84")?.numbers,
    gridFile: extension?.texts[1],
  };
  return { ellipsoid, datum: datumOf(stated, { ellipsoid, assumeWgs84 }) };
}
