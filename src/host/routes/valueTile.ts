import { TileParametersSchema, TilePathSchema } from "../../contract/tiles.ts";
import type { ValueTileRequest } from "../../hazard/tiles/tileRequest.ts";
import { encodeValueTile } from "../../tiles/valueTile.ts";
import type { Route } from "../route.ts";
import { computeTile, type TileForm } from "./computeTile.ts";
import { TILE_EXAMPLE, TILE_PROBLEMS, TILE_ROUTE } from "./tilePath.ts";

/** In memory are the tile and its two compressed forms, which are smaller. */
const VALUES: TileForm = { extension: "bin", encode: encodeValueTile, memoryPerByte: 3 };

/** GET /api/v1/tiles/…/:y.bin: the values of a map tile. */
export const valueTile: Route<ValueTileRequest, readonly Uint8Array[]> = {
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
    responses: { 200: { description: "The tile.", contentType: "application/octet-stream" } },
    problems: TILE_PROBLEMS,
  },
  handle: (request, context) => computeTile(request, VALUES, context),
  reply: (body) => ({ status: 200, contentType: "application/octet-stream", body }),
};
