import { TileParametersSchema, TilePathSchema } from "../../contract/hazardCatalog.ts";
import type { ValueTileRequest } from "../../hazard/valueTiles.ts";
import { colorScaleOf } from "../../tiles/colorScales.ts";
import type { ValueTile } from "../../tiles/valueTile.ts";
import type { EncodedTile, Route } from "../route.ts";
import { computeTile, tileReply } from "./computeTile.ts";
import { encodePngTile } from "../tiles/pngTile.ts";
import { findLayer, TILE_EXAMPLE, TILE_HEADERS, TILE_PROBLEMS, TILE_ROUTE } from "./tilePath.ts";

const CONTENT_TYPE = "image/png";

/** GET /api/v1/tiles/…/:y.png: a map tile as an image. */
export const tileImage: Route<ValueTileRequest, EncodedTile> = {
  ...TILE_ROUTE,
  path: "/api/v1/tiles/:hazard/:scenario/:year/:metric/:z/:x/:y.png",
  description: {
    operationId: "getTileImage",
    tag: "Map tiles",
    summary: "Image of a map tile",
    description:
      "Returns a map tile of a layer in Web Mercator as an image of 256 x 256 pixels, in the fixed colors of the metric, " +
      "which the TileJSON of the layer lists. Missing values are hatched; the value 0 and pixels outside are transparent.",
    path: TilePathSchema,
    query: TileParametersSchema,
    parameterExamples: TILE_EXAMPLE,
    responses: { 200: { description: "The image.", contentType: CONTENT_TYPE, headers: TILE_HEADERS } },
    problems: TILE_PROBLEMS,
  },
  handle(request, context) {
    const scale = colorScaleOf(findLayer(request, context.services).scaleMetric);
    const encode = (tile: ValueTile): Promise<Uint8Array> => encodePngTile(tile, scale);
    return computeTile(request, { extension: "png", encode, memoryPerByte: 1 }, context);
  },
  reply: (tile) => ({ ...tileReply(tile, CONTENT_TYPE), isCompressed: true }),
};
