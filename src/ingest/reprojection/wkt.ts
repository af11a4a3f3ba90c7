/** Reads coordinate systems from well-known text: versions 1 (also Esri's) and 2. */
import { type CrsDefinition, type Ellipsoid } from "../crsDefinition.ts";
import { datumOf, type StatedDatum } from "./datums.ts";
import {
  crsDefinition,
  crsOfNamedProjection,
  kindOfParameter,
  type NamedParameter,
  normalizedName,
  parameterNamed,
} from "./methods.ts";
import { crsOfProjString, type ParsedCrs } from "./projString.ts";
import { childOf, epsgCodeOf, parseWkt, type WktNode } from "./wktTree.ts";

const PROJECTED = ["PROJCS", "PROJCRS", "PROJECTEDCRS"];
const GEOGRAPHIC = ["GEOGCS", "GEOGCRS", "GEODCRS", "GEOGRAPHICCRS", "GEODETICCRS", "BASEGEOGCRS", "BASEGEODCRS"];
const DEGREE_RAD = Math.PI / 180;

interface Options {
  readonly assumeWgs84: boolean;
}

/**
 * Reads well-known text.
 * @throws Error naming what is malformed or not supported
 */
export function crsOfWkt(text: string, options: Options): ParsedCrs {
  return crsOfNode(parseWkt(text), options);
}

function crsOfNode(node: WktNode, options: Options): ParsedCrs {
  const { keyword } = node;
  if (keyword === "COMPD_CS" || keyword === "COMPOUNDCRS") {
    const horizontal = childOf(node, ...PROJECTED, ...GEOGRAPHIC, "BOUNDCRS");
    if (horizontal === undefined) throw new Error("has a compound coordinate system without a horizontal part");
    return crsOfNode(horizontal, options);
  }
  if (keyword === "BOUNDCRS") return crsOfBound(node, options);
  if (PROJECTED.includes(keyword)) return projectedCrs(node, options, undefined);
  if (GEOGRAPHIC.includes(keyword)) return { crs: geographicCrs(node, options, undefined), unitM: 1 };
  throw new Error(
    `has the coordinate system ${JSON.stringify(node.texts[0] ?? keyword)} (${keyword}), which is neither projected nor geographic`,
  );
}

/** A coordinate system with a transformation to WGS84. */
function crsOfBound(node: WktNode, options: Options): ParsedCrs {
  const source = childOf(childOf(node, "SOURCECRS"), ...PROJECTED, ...GEOGRAPHIC);
  const target = childOf(childOf(node, "TARGETCRS"), ...GEOGRAPHIC);
  const transformation = childOf(node, "ABRIDGEDTRANSFORMATION");
  const method = normalizedName(childOf(transformation, "METHOD")?.texts[0] ?? "");
  const isWgs84 =
    target !== undefined && (epsgCodeOf(target) === 4326 || normalizedName(target.texts[0] ?? "") === "wgs84");
  if (source === undefined || !isWgs84)
    throw new Error("has a bound coordinate system that is not bound to WGS84, which is not supported");
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
  const toWgs84 = [
    ...["xaxistranslation", "yaxistranslation", "zaxistranslation"].map(get),
    ...["xaxisrotation", "yaxisrotation", "zaxisrotation"].map((name) => sign * get(name)),
    // An abridged transformation states the scale itself; removes the noise of the subtraction.
    Number(scalePpm.toFixed(9)),
  ];
  return PROJECTED.includes(source.keyword)
    ? projectedCrs(source, options, toWgs84)
    : { crs: geographicCrs(source, options, toWgs84), unitM: 1 };
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
  const directions = node.nodes
    .filter(({ keyword }) => keyword === "AXIS")
    .map(({ words }) => words.find((word) => /^(NORTH|SOUTH|EAST|WEST)$/.test(word)))
    .filter((direction) => direction !== undefined);
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
