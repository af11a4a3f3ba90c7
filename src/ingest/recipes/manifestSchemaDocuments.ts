/** The JSON Schemas of the manifests, as they are published in docs/schemas/ and printed by `isotherm ingest schema`. */
import type { TSchema } from "typebox";
import { FireWeatherManifestSchema } from "./fireWeatherManifest.ts";
import { LayersManifestSchema } from "./layersManifest.ts";
import { WindEventsManifestSchema } from "./windEventsManifest.ts";

const SCHEMAS = {
  layers: LayersManifestSchema,
  "fire-weather": FireWeatherManifestSchema,
  "wind-events": WindEventsManifestSchema,
} as const satisfies Readonly<Record<string, TSchema>>;

/** A recipe with a manifest. */
export type ManifestRecipe = keyof typeof SCHEMAS;

export const MANIFEST_RECIPES = Object.keys(SCHEMAS) as readonly ManifestRecipe[];

/** Returns the JSON Schema (draft 2020-12) of a recipe's manifest. It does not contain the rules that depend on the hazard. */
export function manifestSchemaText(recipe: ManifestRecipe): string {
  const document = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: `Manifest of isotherm ingest ${recipe}`,
    ...SCHEMAS[recipe],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
