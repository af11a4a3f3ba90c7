/** The recipes, by name. A new recipe is one line in each of the two lists. */
import { aqueductFloods, type AqueductFloodsChoices } from "./aqueductFloods.ts";
import { deltaresCoastal, type DeltaresCoastalChoices } from "./deltaresCoastal.ts";
import { fireWeather } from "./fireWeather.ts";
import { irisWinds, type IrisWindsChoices } from "./irisWinds.ts";
import { jrcFloods, type JrcFloodsChoices } from "./jrcFloods.ts";
import type { Recipe, RecipeSources } from "./recipe.ts";
import { stormWinds, type StormWindsChoices } from "./stormWinds.ts";
import { windEvents, WindEventsManifestSchema } from "./windEvents.ts";
import type { TSchema } from "typebox";
import { FireWeatherManifestSchema } from "./fireWeatherManifest.ts";
import { LayersManifestSchema } from "./layersManifest.ts";

/** The sources and choices of each recipe: its options without those of every ingest. */
export interface RecipeChoices {
  readonly "aqueduct-floods": AqueductFloodsChoices;
  readonly "jrc-floods": JrcFloodsChoices;
  readonly "deltares-coastal": DeltaresCoastalChoices;
  readonly "storm-winds": StormWindsChoices;
  readonly "iris-winds": IrisWindsChoices;
  readonly "fire-weather": RecipeSources;
  readonly "wind-events": RecipeSources;
}

export type RecipeName = keyof RecipeChoices;

/** In the order of the command line's help. */
export const RECIPES: { readonly [Name in RecipeName]: Recipe<RecipeChoices[Name]> } = {
  "aqueduct-floods": aqueductFloods,
  "jrc-floods": jrcFloods,
  "deltares-coastal": deltaresCoastal,
  "storm-winds": stormWinds,
  "iris-winds": irisWinds,
  "fire-weather": fireWeather,
  "wind-events": windEvents,
};

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
