/** `isotherm atlas stac`: describes an atlas as items of a SpatioTemporal Asset Catalog (STAC 1.1.0), one for each hazard. */
import type { Catalog } from "../atlas/catalog.ts";
import { supplementedHazard, supplementName, withoutStaleSupplements } from "../atlas/supplement.ts";
import { filesOf, liveGroups, methodOf, productOf, type StatedProduct } from "./atlasInfo.ts";

/** Longitudes and latitudes, as GeoJSON orders them. */
type Ring = readonly (readonly [number, number])[];

interface StacItem {
  readonly type: "Feature";
  readonly stac_version: "1.1.0";
  readonly stac_extensions: readonly string[];
  readonly id: string;
  readonly bbox: readonly [number, number, number, number];
  readonly geometry:
    | { readonly type: "Polygon"; readonly coordinates: readonly Ring[] }
    | { readonly type: "MultiPolygon"; readonly coordinates: readonly (readonly Ring[])[] };
  readonly properties: Readonly<Record<string, unknown>>;
  readonly links: readonly Readonly<Record<string, string>>[];
  readonly assets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A list of items, which is a GeoJSON feature collection. */
export interface StacItems {
  readonly type: "FeatureCollection";
  readonly features: readonly StacItem[];
}

const FILE_EXTENSION = "https://stac-extensions.github.io/file/v2.1.0/schema.json";
/** Prefix of a multihash of 32 bytes of SHA-256. */
const SHA256_MULTIHASH = "1220";

/** Licenses as products state them, and their SPDX identifiers. */
const SPDX: Readonly<Record<string, string>> = {
  "CC BY 4.0": "CC-BY-4.0",
  "CC-BY 4.0": "CC-BY-4.0",
  "CC-BY-4.0": "CC-BY-4.0",
  "CC BY-SA 4.0": "CC-BY-SA-4.0",
  CC0: "CC0-1.0",
  "CC0 1.0": "CC0-1.0",
  "CC0-1.0": "CC0-1.0",
  "CDLA-Permissive-1.0": "CDLA-Permissive-1.0",
  "CDLA permissive": "CDLA-Permissive-1.0",
};

/** Returns one item for each hazard of an atlas. Paths of assets are relative to the folder of the atlas. */
export function stacItems(catalog: Catalog): StacItems {
  return {
    type: "FeatureCollection",
    features: catalog.hazards
      .filter(({ hazard }) => supplementedHazard(hazard) === undefined)
      .map((entry) => stacItem(catalog, entry)),
  };
}

function stacItem(catalog: Catalog, entry: Catalog["hazards"][number]): StacItem {
  const { release, created_at, synthetic } = catalog;
  const { hazard, grid, rules, packs } = entry;
  const groups = liveGroups(entry);
  const years = groups.map(({ year }) => year);
  const products = distinctProducts(groups.map(({ provenance }) => productOf(provenance)));
  const licenses = [...new Set(products.map(({ licence }) => SPDX[licence ?? ""] ?? "other"))];
  const urls = [...new Set(products.flatMap(({ url }) => (url !== undefined && /^https?:/.test(url) ? [url] : [])))];
  const supplements = withoutStaleSupplements(catalog.hazards).filter(
    (other) => other.hazard === supplementName(hazard),
  );
  const livePacks = [...packs, ...supplements.flatMap((supplement) => supplement.packs)].filter((pack) =>
    pack.groups.some(({ superseded }) => superseded !== true),
  );
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: [FILE_EXTENSION],
    id: `${release}-${hazard}`,
    ...extentOf(grid),
    properties: {
      title: `${hazard} (${release})`,
      description: `Layers of ${hazard} in an atlas of Isotherm${synthetic ? "; all values are invented" : ""}.`,
      datetime: null,
      start_datetime: `${Math.min(...years)}-01-01T00:00:00Z`,
      end_datetime: `${Math.max(...years)}-12-31T23:59:59Z`,
      created: new Date(created_at).toISOString(),
      // Products under different licenses have no common identifier.
      license: licenses.length === 1 ? licenses[0] : "other",
      providers: products.map(({ product = "not stated", credit, url }) => ({
        name: product,
        ...(credit === undefined ? {} : { description: credit }),
        roles: ["producer", "licensor"],
        ...(url !== undefined && /^https?:/.test(url) ? { url } : {}),
      })),
      "isotherm:release": release,
      "isotherm:synthetic": synthetic,
      "isotherm:hazard": hazard,
      "isotherm:rules": rules,
      "isotherm:layers": groups.map(({ scenario, year, layers, provenance }) => ({
        scenario,
        analysis_year: year,
        metrics: layers.map(({ metric, unit }) => ({ metric, unit })),
        ...productOf(provenance),
        ...methodOf(provenance),
        source_files: filesOf(provenance),
      })),
    },
    links: urls.map((href) => ({ rel: "via", href, title: "Source" })),
    assets: {
      catalog: {
        href: "./atlas.json",
        type: "application/json",
        title: "Catalog of the atlas, with rules and provenance",
        roles: ["metadata"],
      },
      ...Object.fromEntries(
        livePacks.flatMap(({ files }) =>
          Object.values(files).map(({ name, size_bytes, sha256 }) => [
            name,
            {
              href: `./${name}`,
              type: "application/octet-stream",
              roles: ["data"],
              "file:size": size_bytes,
              "file:checksum": `${SHA256_MULTIHASH}${sha256}`,
            },
          ]),
        ),
      ),
    },
  };
}

function distinctProducts(products: readonly StatedProduct[]): readonly StatedProduct[] {
  return [
    ...new Map(products.map((each) => [JSON.stringify([each.product, each.licence, each.credit]), each])).values(),
  ];
}

/** Returns the bounding box and the geometry of a grid. A grid across the antimeridian has two polygons (RFC 7946). */
function extentOf(grid: Catalog["hazards"][number]["grid"]): Pick<StacItem, "bbox" | "geometry"> {
  const north = Math.min(90, grid.north_deg);
  const south = Math.max(-90, grid.north_deg - grid.row_count * grid.cell_size_lat_deg);
  const widthDeg = grid.column_count * grid.cell_size_lon_deg;
  if (widthDeg >= 360 - grid.cell_size_lon_deg / 2) {
    return { bbox: [-180, south, 180, north], geometry: polygon(-180, south, 180, north) };
  }
  const west = ((((grid.west_deg + 180) % 360) + 360) % 360) - 180;
  const east = west + widthDeg;
  if (east <= 180) return { bbox: [west, south, east, north], geometry: polygon(west, south, east, north) };
  const parts = [polygon(west, south, 180, north), polygon(-180, south, east - 360, north)];
  return {
    bbox: [west, south, east - 360, north],
    geometry: { type: "MultiPolygon", coordinates: parts.map(({ coordinates }) => coordinates) },
  };
}

function polygon(west: number, south: number, east: number, north: number) {
  // Counterclockwise.
  const ring: Ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return { type: "Polygon" as const, coordinates: [ring] };
}
