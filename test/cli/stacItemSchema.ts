/**
 * JSON Schema of a STAC item, version 1.1.0, written from the item specification: the GeoJSON feature, the core members, and
 * the common metadata that Isotherm uses. Formats are checked as patterns.
 */
const DATE_TIME = {
  type: "string",
  pattern: String.raw`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z$`,
};
const TEXT = { type: "string", minLength: 1 };
const POSITION = { type: "array", minItems: 2, maxItems: 3, items: { type: "number" } };
const RING = { type: "array", minItems: 4, items: POSITION };
const POLYGON = { type: "array", items: RING };

const geometry = (type: string, coordinates: unknown) => ({
  type: "object",
  required: ["type", "coordinates"],
  properties: { type: { const: type }, coordinates },
});

const PROVIDER = {
  type: "object",
  required: ["name"],
  properties: {
    name: TEXT,
    description: { type: "string" },
    roles: { type: "array", items: { enum: ["producer", "licensor", "processor", "host"] } },
    url: { type: "string", pattern: "^https?://" },
  },
};

export const STAC_ITEM_SCHEMA = {
  type: "object",
  required: ["type", "stac_version", "id", "geometry", "bbox", "properties", "links", "assets"],
  properties: {
    type: { const: "Feature" },
    stac_version: { const: "1.1.0" },
    stac_extensions: { type: "array", uniqueItems: true, items: { type: "string", pattern: "^https://" } },
    id: TEXT,
    geometry: { anyOf: [geometry("Polygon", POLYGON), geometry("MultiPolygon", { type: "array", items: POLYGON })] },
    bbox: { type: "array", minItems: 4, maxItems: 4, items: { type: "number", minimum: -180, maximum: 180 } },
    properties: {
      type: "object",
      required: ["datetime"],
      properties: {
        datetime: { anyOf: [DATE_TIME, { type: "null" }] },
        start_datetime: DATE_TIME,
        end_datetime: DATE_TIME,
        created: DATE_TIME,
        updated: DATE_TIME,
        title: { type: "string" },
        description: TEXT,
        license: { type: "string", pattern: String.raw`^[\w\-.+]+$` },
        providers: { type: "array", items: PROVIDER },
      },
      // An item without a single time has the bounds of its times.
      anyOf: [{ properties: { datetime: DATE_TIME } }, { required: ["start_datetime", "end_datetime"] }],
    },
    links: {
      type: "array",
      items: {
        type: "object",
        required: ["rel", "href"],
        properties: { rel: TEXT, href: TEXT, type: { type: "string" }, title: { type: "string" } },
      },
    },
    assets: {
      type: "object",
      additionalProperties: {
        type: "object",
        required: ["href"],
        properties: {
          href: TEXT,
          title: { type: "string" },
          description: { type: "string" },
          type: { type: "string" },
          roles: { type: "array", items: { type: "string" } },
          "file:size": { type: "integer", minimum: 0 },
          "file:checksum": { type: "string", pattern: "^[a-f0-9]+$" },
        },
      },
    },
  },
} as const;
