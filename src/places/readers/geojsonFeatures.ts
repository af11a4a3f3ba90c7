import { Fault } from "../../errors.ts";
import type { RowError } from "../scores/placeBlock.ts";
import { quote } from "../../validation/schemaErrors.ts";
import { isObject } from "./jsonMembers.ts";

/** Coordinates of a geometry in degrees, or why it has none. */
export type GeometryPoint = { readonly latitude: number; readonly longitude: number } | { readonly error: RowError };

const POINT_RULE = "it must be a GeoJSON Point";

/** Reads the geometry of a feature. Only points are accepted. */
export function readPoint(geometry: unknown): GeometryPoint {
  if (geometry === null || geometry === undefined) {
    return { error: { reason: "geometry_missing", message: `the geometry is missing; ${POINT_RULE}` } };
  }
  if (!isObject(geometry)) return invalid(`the geometry is ${quote(geometry)}; ${POINT_RULE}`);
  const { type, coordinates } = geometry;
  if (type !== "Point") return invalid(`the geometry is of the type ${quote(type)}; ${POINT_RULE}`);
  if (!Array.isArray(coordinates) || coordinates.length < 2) {
    return invalid("the coordinates of the geometry must be a list of longitude and latitude");
  }
  const [longitude, latitude] = coordinates as readonly unknown[];
  if (typeof longitude !== "number" || typeof latitude !== "number") {
    return invalid("the coordinates of the geometry must be numbers");
  }
  return { latitude, longitude };
}

function invalid(message: string): GeometryPoint {
  return { error: { reason: "geometry_invalid", message } };
}

/** Names of the coordinate reference systems with longitude and latitude on WGS84. */
const WGS84 = /(?:^|[:/])(?:OGC(?::|\/)+(?:1\.3|0)?(?::|\/)*CRS84h?|EPSG(?::|\/)+[\d.]*(?::|\/)*4326|CRS84)$/i;

/** Returns whether a coordinate reference system, by its name or identifier, is WGS84 in degrees. */
export function isWgs84(name: string): boolean {
  return WGS84.test(name.trim());
}

/**
 * Checks the document around the features.
 * @throws Fault `invalid_request` if it is not a FeatureCollection in WGS84
 */
export function checkFeatureCollection(document: unknown): void {
  if (!isObject(document)) {
    throw new Fault(
      "invalid_request",
      "The file must be a GeoJSON FeatureCollection; a list of objects can be NDJSON.",
    );
  }
  const { type, features, crs } = document;
  if (type !== "FeatureCollection") {
    throw new Fault("invalid_request", `The file must be a GeoJSON FeatureCollection (got the type ${quote(type)}).`);
  }
  if (!Array.isArray(features)) {
    throw new Fault("invalid_request", `features must be a list (got ${quote(features)}).`);
  }
  if (crs === undefined || crs === null) return;
  // GeoJSON of 2008; RFC 7946 always means WGS84.
  const properties = isObject(crs) ? crs["properties"] : undefined;
  const name = isObject(properties) ? properties["name"] : undefined;
  if (typeof name === "string" && isWgs84(name)) return;
  const got = typeof name === "string" ? quote(name) : "a system without a name";
  throw new Fault(
    "invalid_request",
    `The coordinate reference system must be OGC:CRS84 or EPSG:4326 (got ${got}); reproject the file.`,
  );
}
