/** The recipes, by name. A new recipe is one line in each of the two lists. */
import { type AqueductFloodsChoices, aqueductFloods } from "./aqueductFloods.ts";
import { type DeltaresCoastalChoices, deltaresCoastal } from "./deltaresCoastal.ts";
import { fireWeather } from "./fireWeather.ts";
import { type IrisWindsChoices, irisWinds } from "./irisWinds.ts";
import { type JrcFloodsChoices, jrcFloods } from "./jrcFloods.ts";
import type { Recipe, RecipeSources } from "./recipe.ts";
import { type StormWindsChoices, stormWinds } from "./stormWinds.ts";
import { windEvents } from "./windEvents.ts";

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
