import { TileParametersSchema, TilePathSchema } from "../../contract/hazardCatalog.ts";
import type { ValueTileRequest } from "../../hazard/valueTiles.ts";
import { encodeValueTile } from "../../tiles/valueTile.ts";
import type { EncodedTile, Route } from "../route.ts";
import { computeTile, type TileForm, tileReply } from "./computeTile.ts";
import { TILE_EXAMPLE, TILE_HEADERS, TILE_PROBLEMS, TILE_ROUTE } from "./tilePath.ts";

/** In memory are the tile and its two compressed forms, which are smaller. */
const VALUES: TileForm = { extension: "bin", encode: encodeValueTile, memoryPerByte: 3 };

const CONTENT_TYPE = "application/octet-stream";

/** GET /api/v1/tiles/…/:y.bin: the values of a map tile. */
export const valueTile: Route<ValueTileRequest, EncodedTile> = {
  ...TILE_ROUTE,
  path: "/api/v1/tiles/:hazard/:scenario/:year/:metric/:z/:x/:y.bin",
  description: {
    operationId: "getValueTile",
    tag: "Map tiles",
    summary: "Values of a map tile",
    description:
      "Returns 256 x 256 values of a layer in Web Mercator: a header of 32 bytes, then steps of 16 bits, all little-endian " +
      "(docs/tiles.md). Each pixel is the cell at its center, or further out the maximum of a block of cells.",
    path: TilePathSchema,
    query: TileParametersSchema,
    parameterExamples: TILE_EXAMPLE,
    responses: { 200: { description: "The tile.", contentType: CONTENT_TYPE, headers: TILE_HEADERS } },
    problems: TILE_PROBLEMS,
  },
  handle: (request, context) => computeTile(request, VALUES, context),
  reply: (tile) => tileReply(tile, CONTENT_TYPE),
};
